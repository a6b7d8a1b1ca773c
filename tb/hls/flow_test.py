#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HLS flow with stand-in tools: what it refuses, and that it says so.

usage: flow_test.py PROJECT
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else __file__).resolve()

# A tool that writes what a real one would, as far as the flow looks.
GOOD_BAMBU = """#!/bin/sh
echo run >> ../../runs
for a in "$@"; do case $a in --top-fname=*) top=${a#*=};; esac; done
echo "module $top (clock);" > $top.v
"""
SILENT_BAMBU = GOOD_BAMBU + 'echo "Returned error code!"\nexit 0\n'
EMPTY_BAMBU = "#!/bin/sh\nexit 0\n"
GOOD_VITIS = """#!/bin/sh
top=$(sed -n 's/^set_top //p' make.tcl)
mkdir -p project/card/syn/verilog
echo "module $top (" > project/card/syn/verilog/$top.v
"""
LOUD_VITIS = GOOD_VITIS + 'echo "ERROR: [HLS 200-70] no"\nexit 0\n'


class Flow(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "bin").mkdir()
        (self.folder / "include/tidemill").mkdir(parents=True)
        (self.folder / "include/tidemill/abi.hpp").write_text("")

    def tool(self, name, text):
        path = self.folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def run_flow(self, script, *more):
        """Only our stand-ins are on PATH, beside the system's own folders."""
        path = os.pathsep.join([str(self.folder / "bin"), "/usr/bin", "/bin"])
        return subprocess.run([sys.executable, "-B", PROJECT / "hls/flow" / script, "--source", PROJECT, "--generated",
                               self.folder / "include", "--out", self.folder / "out", *more],
                              env=dict(os.environ, PATH=path), capture_output=True, text=True, check=False)

    def test_without_a_tool_names_both(self):
        made = self.run_flow("make_rtl.py")
        self.assertEqual(made.returncode, 1)
        self.assertIn("vitis_hls", made.stderr)
        self.assertIn("bambu", made.stderr)

    def test_without_a_tool_the_replay_is_skipped_aloud(self):
        replayed = self.run_flow("replay.py", "--kernel", "bank")
        self.assertEqual(replayed.returncode, 77)
        self.assertIn("SKIPPED", replayed.stdout)
        self.assertIn("NOT checked", replayed.stdout)

    def test_uses_each_tool_that_is_there(self):
        self.tool("bambu", GOOD_BAMBU)
        self.tool("vitis_hls", GOOD_VITIS)
        made = self.run_flow("make_rtl.py")
        self.assertEqual(made.returncode, 0, made.stderr)
        for file in ("bambu/bank/bank_step.v", "bambu/arbiter/arbiter_step.v",
                     "vitis_hls/bank/project/card/syn/verilog/bank_kernel.v"):
            self.assertTrue((self.folder / "out" / file).exists(), file)

    def test_makes_again_only_what_changed(self):
        self.tool("bambu", GOOD_BAMBU)
        for _ in range(2):
            self.assertEqual(self.run_flow("make_rtl.py").returncode, 0)
        self.assertEqual((self.folder / "out/runs").read_text().count("run"), 2, "one run for each kernel")
        (self.folder / "include/tidemill/abi.hpp").write_text("// changed\n")
        self.assertEqual(self.run_flow("make_rtl.py").returncode, 0)
        self.assertEqual((self.folder / "out/runs").read_text().count("run"), 4)

    def refuses(self, said):
        for _ in range(2):  # a failure is not remembered as done
            made = self.run_flow("make_rtl.py", "--kernel", "bank")
            self.assertEqual(made.returncode, 1)
            self.assertIn(said, made.stderr)

    def test_sees_a_failed_run_of_bambu_that_returns_0(self):
        self.tool("bambu", SILENT_BAMBU)
        self.refuses("Returned error code")

    def test_sees_that_bambu_made_nothing(self):
        self.tool("bambu", EMPTY_BAMBU)
        self.refuses("no module bank_step")

    def test_sees_an_error_of_vitis_that_returns_0(self):
        self.tool("vitis_hls", LOUD_VITIS)
        self.refuses("ERROR: [HLS 200-70] no")

    def test_sees_a_failed_tool(self):
        self.tool("vitis_hls", "#!/bin/sh\necho why\nexit 3\n")
        self.refuses("returned 3")


if __name__ == "__main__":
    unittest.main()
