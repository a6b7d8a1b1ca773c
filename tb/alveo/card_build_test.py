#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The card build with stand-ins for Vitis: what it runs, what it refuses, and that it says so.

usage: card_build_test.py PROJECT GENERATED
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

from project import ALVEO, GENERATED, ROOT, U55C

TOOLS = ("platforminfo", "vivado", "v++", "xclbinutil")
# Each notes its call; the last argument of vivado, and what follows --output, is what it makes.
NOTE = '#!/bin/sh\nprintf "%s" "${0##*/}" >> "$CALLS"; for a in "$@"; do printf " %s" "$a" >> "$CALLS"; done\n' \
       'echo >> "$CALLS"\n'
GOOD = {
    "platforminfo": NOTE + 'echo "Valid SLRs: SLR0, SLR1, SLR2"; echo "Bus SP Tag: HOST"\n',
    "vivado": NOTE + 'for a in "$@"; do last=$a; done; echo xo > "$last"\n',
    "v++": NOTE + 'while [ $# -gt 0 ]; do [ "$1" = --output ] && echo made > "$2"; shift; done\n',
    "xclbinutil": NOTE + 'printf "   Name:      DATA_CLK\\n   Index:     0\\n   Type:      DATA\\n'
                         '   Frequency: 250 MHz\\n\\n   Name:      KERNEL_CLK\\n   Frequency: 500 MHz\\n"\n',
}


class CardBuild(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name).resolve()
        (self.folder / "bin").mkdir()
        self.calls = self.folder / "calls"
        self.out = self.folder / "out" / U55C
        self.xclbin = self.out / f"tidemill_{U55C}.xclbin"

    def tools(self, **changed):
        for name in TOOLS:
            text = changed.get(name.replace("++", "pp"), GOOD[name])
            if text is not None:
                (self.folder / "bin" / name).write_text(text)
                (self.folder / "bin" / name).chmod(0o755)

    def build(self, *more, platform=U55C):
        """Only our stand-ins are on PATH, beside the plain shell."""
        return subprocess.run([sys.executable, "-B", ALVEO / "build_xclbin.py", "--source", ROOT, "--generated",
                               GENERATED, "--out", self.folder / "out", f"--platform={platform}", *more],
                              env=dict(os.environ, PATH=f"{self.folder / 'bin'}:/bin", CALLS=str(self.calls)),
                              capture_output=True, text=True, check=False)

    def refuses(self, *said, **changed):
        self.tools(**changed)
        built = self.build()
        self.assertEqual(built.returncode, 1, built.stdout)
        for text in said:
            self.assertIn(text, built.stderr)
        self.assertNotIn("Traceback", built.stderr)
        self.assertFalse(self.xclbin.exists())

    def test_a_dry_run_prints_what_a_run_runs(self):
        dry = self.build("--dry-run")
        self.assertEqual(dry.returncode, 0, dry.stderr)
        self.assertFalse(self.calls.exists())
        printed = [shlex.split(line) for line in dry.stdout.splitlines()[1:] if not line.startswith("#")]
        self.tools()
        built = self.build()
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual([line.split() for line in self.calls.read_text().splitlines()], printed)
        self.assertTrue(self.xclbin.exists())

    def test_the_commands(self):
        self.tools()
        self.assertEqual(self.build().returncode, 0)
        asked, packaged, arbiter, bank, linked, info = self.calls.read_text().splitlines()
        self.assertEqual(asked, f"platforminfo --platform {U55C}")
        self.assertIn(f"-source {ALVEO}/package_shell.tcl -tclargs {self.out}/facts.tcl {self.out}/kernel.xml",
                      packaged)
        for call, kernel in ((arbiter, "arbiter_kernel"), (bank, "bank_kernel")):
            self.assertTrue(call.startswith(f"v++ --compile --target hw --platform {U55C} --kernel {kernel} "), call)
            self.assertTrue(call.endswith(f"--output {self.out}/{kernel}.xo {ROOT}/hls/kernels/{kernel}.cpp"), call)
            self.assertIn(f"--config {self.out}/{kernel}.cfg", call)
        self.assertTrue(linked.startswith(f"v++ --link --target hw --platform {U55C} --config {self.out}/link.cfg "),
                        linked)
        self.assertTrue(linked.endswith(f"--output {self.xclbin} {self.out}/tidemill_shell.xo "
                                        f"{self.out}/arbiter_kernel.xo {self.out}/bank_kernel.xo"), linked)
        self.assertEqual(info, f"xclbinutil --info --input {self.xclbin}")

    def test_every_file_that_a_command_names_is_there(self):
        dry = self.build("--dry-run")
        made = {f"{self.out}/{k}.xo" for k in ("tidemill_shell", "arbiter_kernel", "bank_kernel")}
        made |= {str(self.xclbin), f"{self.out}/temp"}
        for line in dry.stdout.splitlines()[1:]:
            for word in shlex.split(line, comments=True):
                if word.startswith("/") and word not in made:
                    self.assertTrue(pathlib.Path(word).exists(), word)
        sources = (self.out / "facts.tcl").read_text().partition("set sources {")[2].partition("\n}")[0].split()
        self.assertGreater(len(sources), 20)
        for source in sources:
            self.assertTrue(pathlib.Path(source.strip("{}")).exists(), source)

    def test_the_kernels_are_compiled_as_the_hls_flow_compiles_them(self):
        self.build("--dry-run")
        self.assertEqual((self.out / "bank_kernel.cfg").read_text(),
                         f"[hls]\nclock=250000000:bank_kernel\npre_tcl={self.out}/hls.tcl\n\n"
                         "[advanced]\nprop=kernel.bank_kernel.kernel_flags=-std=c++17\n")
        flow = (ROOT / "hls/flow/vitis.py").read_text()
        self.assertIn((self.out / "hls.tcl").read_text(), flow)
        self.assertIn('-cflags "-std=c++17', flow)

    def test_a_platform_by_its_file(self):
        dry = self.build("--dry-run", platform=f"/opt/xilinx/platforms/{U55C}/{U55C}.xpfm")
        self.assertEqual(dry.returncode, 0, dry.stderr)
        self.assertIn(f"--platform /opt/xilinx/platforms/{U55C}/{U55C}.xpfm", dry.stdout)

    def test_without_vitis_names_what_is_missing_and_the_fix(self):
        built = self.build()
        self.assertEqual(built.returncode, 1)
        for text in ("no card build without Vitis", "v++", "vivado", "platforminfo", "settings64.sh", "xclbin-dry-run"):
            self.assertIn(text, built.stderr)
        self.tools(vivado=None)
        built = self.build()
        self.assertIn("not on PATH: vivado (Vivado).", built.stderr)
        self.assertFalse(self.calls.exists(), "nothing is begun that cannot be ended")

    def test_without_a_platform_names_those_there_are(self):
        built = self.build(platform="")
        self.assertEqual(built.returncode, 1)
        self.assertIn("-DTIDEMILL_PLATFORM", built.stderr)
        self.assertIn(U55C, built.stderr)

    def test_a_failing_tool_fails_the_build_with_its_first_error(self):
        self.refuses("Compiling arbiter_kernel: v++ returned 1", "ERROR: [v++ 60-1] first", "arbiter_kernel.log",
                     vpp=NOTE + 'echo "INFO: x"; echo "ERROR: [v++ 60-1] first"; echo "ERROR: second"; exit 1\n')
        self.assertNotIn("second", self.build().stderr)

    def test_an_error_of_a_tool_that_returns_0(self):
        self.refuses("Packaging the shell: vivado returned 0", "ERROR: [IP_Flow 19-1] no",
                     vivado=GOOD["vivado"] + 'echo "ERROR: [IP_Flow 19-1] no"\n')

    def test_a_tool_that_fails_without_a_word(self):
        self.refuses("platforminfo returned 3", "nothing", platforminfo="#!/bin/sh\nexit 3\n")

    def test_a_tool_that_makes_nothing(self):
        self.refuses("made no", "tidemill_shell.xo", vivado=NOTE)

    def test_what_was_made_before_does_not_count(self):
        self.tools()
        self.assertEqual(self.build().returncode, 0)
        self.xclbin.unlink()
        self.refuses("made no", "tidemill_shell.xo", vivado=NOTE)

    def test_an_installed_platform_without_host_memory(self):
        self.refuses("lists no HOST memory", platforminfo=NOTE + 'echo "Valid SLRs: SLR0, SLR1, SLR2"\n')

    def test_a_clock_that_was_lowered(self):
        self.refuses("the kernels' clock is 211 MHz", "250", xclbinutil=GOOD["xclbinutil"].replace("250", "211"))
        self.assertTrue(self.xclbin.with_suffix(".slow").exists())

    def test_a_tool_that_names_no_clock(self):
        self.tools(xclbinutil=NOTE)
        built = self.build()
        self.assertEqual(built.returncode, 1)
        self.assertIn("names no DATA_CLK", built.stderr)


if __name__ == "__main__":
    unittest.main()
