#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dialect lint refuses each thing it knows of, and nothing else."""
import unittest

import dialect_lint

REFUSED = {
    "heap": "int* p = new int[4];",
    "exception": "if (bad) throw 1;",
    "virtual call": "struct A { virtual void f(); };",
    "floating point": "constexpr auto k = 1.5;",
    "write through range()": "word.range(63, 0) = low;",
    "empty() or size() of a stream": "if (!events.empty()) return;",
    "non-blocking stream access": "events.read_nb(word);",
    ">> or << on a stream": "events >> word;",
    "stream of structs": "void top(hls::stream<Action>& actions);",
    "array of streams": "hls::stream<ap_uint<64>> lanes[4];",
    "DATAFLOW": "#pragma HLS DATAFLOW",
    "pragma INTERFACE axis without mode=": "#pragma HLS INTERFACE axis port=events",
    "loop without constant bounds": "while (more) step();",
    "run-time type": "auto& x = dynamic_cast<B&>(a);",
    "standard container": "std::array<int, 4> rows;",
    "recursion": "static int down(int n) { return n == 0 ? 0 : down(n - 1); }",
}
ACCEPTED = [
    "// new words, 1.5 of them, while a stream is empty()\n",
    'constexpr const char* text = "throw new float";',
    "uint32_t mask = uint32_t{1} << 4u;",
    "const uint64_t low = word.range(63, 0).to_uint64();",
    "if (word.range(7, 0) == 3) return;",
    "void top(hls::stream<ap_uint<512>>& events) { const ap_uint<512> e = events.read(); }",
    "uint64_t tid(uint32_t s) { return tid_[s]; }\nvoid tid(uint32_t s, uint64_t v) { store(s, tid(s)); }",
    "static bool empty(const Memory& m, uint32_t list) { return m.next(list) == 0; }",
    "Action on_sent(const Event& e) { return apply(Tracker::on_sent(r, e), e); }",
]


class DialectLint(unittest.TestCase):
    def test_every_rule_has_an_example(self):
        known = {what for what, _ in dialect_lint.RULES} | {dialect_lint.CONTAINERS[0], "recursion"}
        self.assertEqual(known, set(REFUSED))

    def test_refuses_each_example_for_its_reason(self):
        for what, text in REFUSED.items():
            with self.subTest(what):
                self.assertIn((1, what), dialect_lint.findings("block.hpp", text))

    def test_accepts_the_dialect(self):
        for text in ACCEPTED:
            with self.subTest(text):
                self.assertEqual(dialect_lint.findings("block.hpp", text), [])

    def test_takes_containers_in_host_memories_only(self):
        text = "std::array<int, 4> rows;"
        self.assertEqual(dialect_lint.findings("hls/bank_memory.hpp", text), [])
        self.assertNotEqual(dialect_lint.findings("hls/kernel_memory.hpp", text), [])


if __name__ == "__main__":
    unittest.main()
