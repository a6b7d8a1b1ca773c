# SPDX-License-Identifier: Apache-2.0
"""The C++ header, the SystemVerilog package and the doc page say the same, and the committed page is today's."""
import unittest

import layouts
from generator import DESCRIPTION, ROOT, generate

TODAY = DESCRIPTION.read_text()
READERS = {"C++": layouts.read_cpp, "SystemVerilog": layouts.read_sv, "page": layouts.read_doc}


def read_all(description: str) -> dict[str, layouts.Abi]:
    return {name: read(text) for (name, read), text in zip(READERS.items(), generate(description))}


class Page(unittest.TestCase):
    def test_the_committed_page_is_what_the_description_says(self):
        self.assertEqual((ROOT / "docs/abi.md").read_text(), generate(TODAY).doc,
                         "docs/abi.md is stale: cmake --build --preset release --target abi-doc")


class Agreement(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.abi = read_all(TODAY)

    def agree(self, part):
        for name in ("C++", "SystemVerilog"):
            with self.subTest(name):
                self.assertEqual(getattr(self.abi[name], part), getattr(self.abi["page"], part))

    def test_of_the_version(self):
        self.agree("version")

    def test_of_every_field(self):
        self.assertGreaterEqual(len(self.abi["page"].layouts), 15, "the readers still find the layouts")
        self.assertGreaterEqual(sum(len(fields) for _, fields in self.abi["page"].layouts.values()), 150)
        self.agree("layouts")

    def test_of_every_value(self):
        self.assertGreaterEqual(len(self.abi["page"].enums), 8)
        self.agree("enums")

    def test_of_every_register(self):
        self.assertGreaterEqual(len(self.abi["page"].registers), 10)
        self.agree("registers")
        self.agree("resets")

    def test_that_fields_do_not_overlap(self):
        for layout, (words, fields) in self.abi["page"].layouts.items():
            taken = 0
            for field in fields:
                mask = ((1 << field.width) - 1) << (64 * field.word + field.lsb)
                self.assertEqual(taken & mask, 0, f"{layout}.{field.name}")
                self.assertLess(mask, 1 << (64 * words), f"{layout}.{field.name}")
                taken |= mask


class OneChange(unittest.TestCase):
    """A change in one place of the description moves all three outputs, in the same way."""

    def moved(self, old: str, new: str) -> tuple[layouts.Abi, layouts.Abi]:
        self.assertEqual(TODAY.count(old), 1, f"the description still has {old}")
        before, after = read_all(TODAY), read_all(TODAY.replace(old, new))
        for name in READERS:
            with self.subTest(name):
                self.assertNotEqual(before[name], after[name], "it did not move")
                self.assertEqual(after[name], after["page"], "it moved differently")
        return before["page"], after["page"]

    def test_of_a_width_moves_the_fields_above(self):
        before, after = self.moved('["length", 16, "Bytes of MAD in slot memory"]',
                                   '["pad", 3, "Nothing"], ["length", 13, "Bytes of MAD in slot memory"]')
        field = after.layouts["Descriptor"][1][-1]
        self.assertEqual((field.name, field.lsb, field.width), ("length", 3, 13))
        self.assertEqual(before.layouts["Action"], after.layouts["Action"])

    def test_of_a_shared_prefix_moves_every_layout_that_has_it(self):
        old = '["grh", 1, "The address has a global route header"],'
        before, after = self.moved(old, f'["spare", 1, "Nothing"],\n   {old}')
        for layout in ("Descriptor", "Event"):
            lsb = {f.name: f.lsb for f in after.layouts[layout][1]}
            was = {f.name: f.lsb for f in before.layouts[layout][1]}
            self.assertEqual(lsb["grh"], was["grh"] + 1)

    def test_of_a_value(self):
        old = '  ["never_sent", "No try of its send has left yet."],\n'
        before, after = self.moved(old, "")
        self.assertEqual(len(after.enums["Cause"]), len(before.enums["Cause"]) - 1)

    def test_of_a_register(self):
        _, after = self.moved("offset = 0x024", "offset = 0x01c")
        self.assertEqual(after.registers["TickIncrement"], 0x1c)

    def test_of_the_version(self):
        _, after = self.moved("minor = 0", "minor = 7")
        self.assertEqual(after.version[1], 7)


if __name__ == "__main__":
    unittest.main()
