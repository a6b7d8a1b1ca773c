#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The RTL replay, held against stand-ins for RTL that have the ports a tool would make and the C++ kernel inside:
it accepts the right one and finds a wrong answer and a cycle too many.

usage: replay_test.py PROJECT GENERATED
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT, GENERATED = (pathlib.Path(a).resolve() for a in (sys.argv.pop(1), sys.argv.pop(1)))

KERNEL_INSIDE = """\
`systemc_imp_header
#include <stdint.h>
uint64_t answer(uint64_t event);
unsigned cycles();
`systemc_implementation
#define __BAMBU__
#include "hls/kernels/arbiter_kernel.cpp"
#include <cstdlib>
static unsigned chosen(const char* name, unsigned usual) {
  const char* text = std::getenv(name);
  return text ? (unsigned)std::atoi(text) : usual;
}
unsigned cycles() {
  static const unsigned count = chosen("CYCLES", 3);
  return count;
}
uint64_t answer(uint64_t event) {
  static const unsigned wrong = chosen("WRONG_EVENT", 0);
  static unsigned events = 0;
  uint64_t a = 0;
  arbiter_step(event, &a);
  return ++events == wrong ? a ^ 1u : a;
}
`verilog
"""

BAMBU_RTL = """
module arbiter_step (input logic clock, reset, start_port, output logic done_port, input logic [63:0] e0,
                     output logic [63:0] a0, output logic a0_vld);
""" + KERNEL_INSIDE + """
  logic [31:0] count;
  assign done_port = count == $c32("cycles()") - 1;
  assign a0_vld = done_port;
  always_ff @(posedge clock) begin
    count <= !reset ? 0 : done_port ? 0 : start_port ? count + 1 : count;
    if (reset & start_port & count == 0) a0 <= $c64("answer(", e0, ")");
  end
endmodule
"""

VITIS_RTL = """
module arbiter_kernel (input logic ap_clk, ap_rst_n, input logic [63:0] events_TDATA, input logic events_TVALID,
                       output logic events_TREADY, output logic [63:0] actions_TDATA, output logic actions_TVALID,
                       input logic actions_TREADY);
""" + KERNEL_INSIDE + """
  logic [31:0] count;
  assign events_TREADY = count == 0;
  assign actions_TVALID = count == $c32("cycles()") - 1;
  always_ff @(posedge ap_clk) begin
    if (!ap_rst_n) count <= 0;
    else if (events_TREADY) count <= events_TVALID ? 1 : 0;
    else if (!actions_TVALID) count <= count + 1;
    else if (actions_TREADY) count <= 0;
    if (ap_rst_n & events_TREADY & events_TVALID) actions_TDATA <= $c64("answer(", events_TDATA, ")");
  end
endmodule
"""

TOOLS = {"bambu": (BAMBU_RTL, "arbiter_step.v"), "vitis_hls": (VITIS_RTL, "project/card/syn/verilog/arbiter_kernel.v")}


class Replay(unittest.TestCase):
    def replays(self, name):
        """One verilated stand-in for all the cases of a tool: they differ in the environment only."""
        rtl, file = TOOLS[name]
        with tempfile.TemporaryDirectory() as held:
            folder = pathlib.Path(held)
            tool = folder / "bin" / name
            tool.parent.mkdir()
            (folder / "rtl.v").write_text(rtl)
            tool.write_text(f'#!/bin/sh\nmkdir -p "$(dirname {file})"\ncp {folder}/rtl.v {file}\n')
            tool.chmod(0o755)

            def run(**environment):
                path = os.pathsep.join([str(tool.parent), "/usr/bin", "/bin"])
                return subprocess.run(
                    [sys.executable, "-B", PROJECT / "hls/flow/replay.py", "--source", PROJECT, "--generated", GENERATED,
                     "--out", folder / "out", "--kernel", "arbiter", "--events", "20000"],
                    # Compiled in a hurry: what is tested here is not speed.
                    env=dict(os.environ, PATH=path, MAKEFLAGS="OPT_FAST=-O0 OPT_GLOBAL=-O0", **environment), capture_output=True, text=True, check=False)

            right = run()
            self.assertEqual(right.returncode, 0, right.stdout + right.stderr)
            self.assertIn("20000 events, RTL and C++ answer the same", right.stdout)
            wrong = run(WRONG_EVENT="12346")
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("event 12345,", wrong.stdout)
            slow = run(CYCLES="4")
            self.assertEqual(slow.returncode, 1)
            self.assertIn("EXCEEDED", slow.stdout)
            hung = run(CYCLES="100000")
            self.assertEqual(hung.returncode, 1)
            self.assertIn("hangs", hung.stdout)

    def test_of_bambu(self):
        self.replays("bambu")

    def test_of_vitis_hls(self):
        self.replays("vitis_hls")


if __name__ == "__main__":
    unittest.main()
