#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs package_shell.tcl in a plain Tcl shell whose Vivado commands only note their calls: the script is Tcl, uses
every fact, and refuses an interface that the packager missed. What Vivado does with it this cannot show.

usage: package_test.py PROJECT GENERATED
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from project import ALVEO, ROOT

import describe
import design as designs

DESIGN = designs.load(ROOT)

# Notes every call; a query answers with an object of the name asked for, or with nothing for the one that is `missed`.
VIVADO = """
proc note {args} { puts $args }
foreach command {create_project add_files set_property update_compile_order close_project package_xo
    ipx::package_project ipx::associate_bus_interfaces ipx::remove_bus_parameter ipx::remove_memory_map
    ipx::create_xgui_files ipx::update_checksums ipx::check_integrity ipx::save_core} {
  namespace eval ipx {}
  proc $command {args} "note $command {*}\\$args"
}
proc current_fileset {} { return fileset }
proc ipx::current_core {} { return core }
proc ipx::get_bus_interfaces {name args} { expr {$name eq "MISSED" ? "" : "bus:$name"} }
foreach command {add_memory_map add_address_block add_register add_register_parameter add_bus_parameter} {
  proc ipx::$command {args} "note ipx::$command {*}\\$args; return \\[lindex \\$args end-1\\]"
}
"""


@unittest.skipUnless(shutil.which("tclsh"), "tclsh is missing: package_shell.tcl is NOT run")
class Package(unittest.TestCase):
    def run_script(self, missed="nothing"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            facts = describe.package_facts(DESIGN, [folder / "with space/a.sv", folder / "b.v"], "the_top", "a_part")
            (folder / "facts.tcl").write_text(facts)
            script = VIVADO.replace("MISSED", missed) + f"source {{{ALVEO}/package_shell.tcl}}\n"
            (folder / "main.tcl").write_text(script)
            done = subprocess.run(["tclsh", "main.tcl", folder / "facts.tcl", "kernel.xml", folder / "shell.xo"],
                                  cwd=folder, capture_output=True, text=True, check=False)
            return done, done.stdout.replace(name, "FOLDER").splitlines()

    def test_every_fact_reaches_vivado(self):
        done, calls = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("add_files -norecurse {\n  {FOLDER/with space/a.sv}\n  {FOLDER/b.v}\n}", "\n".join(calls))
        self.assertIn("set_property top the_top fileset", calls)
        self.assertIn("set_property name tidemill_shell core", calls)
        for interface in DESIGN.shell.interfaces:
            self.assertIn(f"ipx::associate_bus_interfaces -busif {interface.name} -clock ap_clk core", calls)
        for register in DESIGN.registers:
            self.assertIn(f"ipx::add_register {register.name} reg0", calls)
            self.assertIn(f"set_property address_offset {register.offset:#x} {register.name}", calls)
            self.assertIn(f"set_property size {register.bits} {register.name}", calls)
        self.assertIn("set_property value m_axi ASSOCIATED_BUSIF", calls)
        self.assertEqual(calls[-2], "package_xo -force -xo_path FOLDER/shell.xo -kernel_name tidemill_shell "
                                    "-ip_directory FOLDER/package/ip -kernel_xml kernel.xml")

    def test_an_interface_that_the_packager_missed(self):
        done, calls = self.run_script("bank3_events")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ERROR: Vivado found no interface bank3_events in the_top", done.stderr)
        self.assertFalse(any(call.startswith("package_xo") for call in calls))


if __name__ == "__main__":
    unittest.main()
