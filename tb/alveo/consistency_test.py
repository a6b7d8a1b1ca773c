#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Vitis is told is what the sources say, on every platform; and each kind of disagreement is found.

usage: consistency_test.py PROJECT GENERATED
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

from project import GENERATED, HEADER, ROOT, U55C

import check
import describe
import design as designs
import interfaces
import platforms

DESIGN = designs.load(ROOT)
KNOWN = platforms.load()
WRAPPER = ROOT / "rtl/alveo/tidemill_shell_kernel.v"


class Agreement(unittest.TestCase):
    def test_kernel_xml_is_the_rtl_and_the_header(self):
        self.assertEqual(check.kernel_xml(describe.kernel_xml(DESIGN), DESIGN.shell, HEADER), [])

    def test_link_configurations_fit_kernels_and_platforms(self):
        self.assertEqual({p.card for p in KNOWN.values() if "HOST" in p.memories}, {"u50", "u55c", "u200", "u250", "u280"})
        for name, platform in KNOWN.items():
            with self.subTest(name):
                self.assertEqual(check.link_config(describe.link_config(DESIGN, platform), DESIGN, platform), [])

    def test_banks_are_those_of_the_shell(self):
        streams = [i.name for i in DESIGN.shell.of_kind(interfaces.STREAM)]
        self.assertEqual(sorted(streams), sorted(f"{k}_{s}" for s in ("events", "actions") for k in
                                                 ["arbiter", *(f"bank{i}" for i in range(DESIGN.banks))]))

    def test_streams_are_as_wide_as_their_layouts(self):
        words = {l["name"]: l["words"] for l in tomllib.loads((ROOT / "rtl/abi/abi.toml").read_text())["layout"]}
        for kernel, event, action in ((DESIGN.bank, "event", "action"),
                                      (DESIGN.arbiter, "arbiter_event", "arbiter_action")):
            self.assertEqual({i.name: (i.mode, i.bits) for i in kernel.interfaces},
                             {"events": ("slave", 64 * words[event]), "actions": ("master", 64 * words[action])})

    def test_the_clock_is_the_one_the_hls_flow_uses(self):
        sys.path.insert(0, str(ROOT / "hls/flow"))
        import flow
        self.assertEqual(1e6 / flow.CLOCK_NS, DESIGN.clock_khz)

    def test_the_runtime_looks_for_this_kernel_and_names_this_memory_port(self):
        card = "".join(f.read_text() for f in (ROOT / "host/xrt").glob("loaded_card.*"))
        self.assertIn(f'"{DESIGN.shell.name}"', card)
        memory, = DESIGN.shell.of_kind(interfaces.AXI)
        self.assertIn(f"sp={DESIGN.shell.name}_1.{memory.name}:HOST[0]", card)

    @unittest.skipUnless(shutil.which("yosys"), "yosys is missing: the wrapper's ports are read by one reader only")
    def test_yosys_reads_the_same_ports_and_takes_the_wrapper_for_plain_verilog(self):
        with tempfile.TemporaryDirectory() as folder:
            netlist = pathlib.Path(folder) / "ports.json"
            subprocess.run(["yosys", "-q", "-p", f"read_verilog {WRAPPER}; proc; write_json {netlist}"], check=True,
                           capture_output=True)
            ports = json.loads(netlist.read_text())["modules"][WRAPPER.stem]["ports"]
        ours = interfaces.ports_of(WRAPPER.read_text(), WRAPPER.stem)
        self.assertEqual({p.name: (p.direction, p.bits) for p in ours},
                         {name: (p["direction"], len(p["bits"])) for name, p in ports.items()})

    @unittest.skipUnless(shutil.which("yosys"), "yosys is missing: the wrapper is not elaborated with the shell")
    def test_yosys_elaborates_the_wrapper_with_the_shell(self):
        files = [GENERATED / "rtl/tidemill_abi.sv", *(f for d in ("cells", "shell", "alveo")
                                                      for f in sorted((ROOT / "rtl" / d).glob("*.sv"))), WRAPPER]
        done = subprocess.run(["yosys", "-q", "-p", f"read_verilog -sv -noassert {' '.join(map(str, files))}; "
                               f"hierarchy -check -top {WRAPPER.stem}"], check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


class PlantedInKernelXml(unittest.TestCase):
    def finds(self, pattern, replacement, said):
        text, count = re.subn(pattern, replacement, describe.kernel_xml(DESIGN), count=1)
        self.assertEqual(count, 1, pattern)
        found = check.kernel_xml(text, DESIGN.shell, HEADER)
        self.assertTrue(any(said in line for line in found), found)

    def test_a_port_missing(self):
        self.finds(r'<port name="bank3_events".*?/>', "", "port bank3_events is missing")

    def test_a_port_twice(self):
        self.finds(r'(<port name="bank3_events".*?/>)', r"\1\1", "port bank3_events stands 2 times")

    def test_a_port_that_the_rtl_has_not(self):
        self.finds('<port name="bank3_events"', '<port name="bank9_events"', "port bank9_events is not in the RTL")

    def test_another_width(self):
        self.finds(r'(<port name="bank3_events".*?dataWidth=)"512"', r'\1"256"', "port bank3_events has dataWidth 256")

    def test_another_direction(self):
        self.finds(r'(<port name="bank3_events" mode=)"write_only"', r'\1"read_only"', "port bank3_events has mode")

    def test_another_range(self):
        self.finds('range="0x10000"', 'range="0x1000"', "range 0x1000")

    def test_a_wrong_offset(self):
        self.finds(r'(<arg name="clock_khz".*?offset=)"0x14"', r'\1"0x18"', "argument clock_khz is at 0x18")

    def test_a_wrong_offset_of_the_pointer(self):
        self.finds(r'(<arg name="index_base".*?offset=)"0x60"', r'\1"0x64"', "argument index_base is at 0x64")

    def test_a_register_that_the_header_has_not(self):
        self.finds('<arg name="clock_khz"', '<arg name="clock_mhz"', "in the header nowhere")

    def test_an_argument_of_a_port_that_is_not_there(self):
        self.finds('port="m_axi"', 'port="m_axi_gmem"', "of port m_axi_gmem")

    def test_another_protocol(self):
        self.finds("user_managed", "ap_ctrl_hs", "protocol ap_ctrl_hs")

    def test_a_header_without_registers(self):
        found = check.kernel_xml(describe.kernel_xml(DESIGN), DESIGN.shell, "")
        self.assertIn("the generated header has no registers", found)


class PlantedInTheLink(unittest.TestCase):
    platform = KNOWN[U55C]

    def finds(self, old, new, said):
        text = describe.link_config(DESIGN, self.platform)
        self.assertIn(old, text)
        found = check.link_config(text.replace(old, new, 1), DESIGN, self.platform)
        self.assertTrue(any(said in line for line in found), found)

    line = "stream_connect=tidemill_shell_1.bank3_events:bank_kernel_4.events\n"

    def test_a_stream_connected_twice(self):
        self.finds(self.line, self.line * 2, "stream tidemill_shell_1.bank3_events is connected 2 times")

    def test_a_stream_not_connected(self):
        self.finds(self.line, "", "stream bank_kernel_4.events is connected 0 times")

    def test_two_streams_to_one_kernel(self):
        self.finds("bank3_events:bank_kernel_4", "bank3_events:bank_kernel_5",
                   "stream bank_kernel_5.events is connected 2 times")

    def test_a_stream_that_does_not_exist(self):
        self.finds("bank3_events", "bank3_event", "stream tidemill_shell_1.bank3_event does not exist")

    def test_a_stream_the_wrong_way_round(self):
        self.finds("tidemill_shell_1.bank3_events:bank_kernel_4.events",
                   "bank_kernel_4.events:tidemill_shell_1.bank3_events", "from a slave to a master")

    def test_streams_of_different_widths(self):
        self.finds("bank3_events:bank_kernel_4.events", "bank3_events:arbiter_kernel_1.events", "joins 512 and 64 bits")

    def test_a_bank_of_memory_that_the_platform_has_not(self):
        self.finds(":HOST[0]", ":DDR[0]", "memory bank DDR[0] does not exist")
        self.finds(":HOST[0]", ":HOST[1]", "memory bank HOST[1] does not exist")
        self.finds(":HOST[0]", ":HBM[0:32]", "memory bank HBM[0:32] does not exist")

    def test_memory_farther_away_than_need_be(self):
        self.finds(":HOST[0]", ":HBM[0:31]", "the rings are to be in HOST[0]")

    def test_memory_not_mapped(self):
        self.finds("sp=tidemill_shell_1.m_axi:HOST[0]\n", "", "m_axi is mapped to memory 0 times")

    def test_an_slr_that_the_platform_has_not(self):
        self.finds("slr=bank_kernel_8:SLR2", "slr=bank_kernel_8:SLR3", "names an SLR")

    def test_a_unit_without_a_place(self):
        self.finds("slr=bank_kernel_8:SLR2\n", "", "bank_kernel_8 is placed 0 times")

    def test_another_number_of_banks(self):
        self.finds("nk=bank_kernel:8", "nk=bank_kernel:7", "nk is")

    def test_another_clock(self):
        self.finds("kernel_frequency=0:250", "kernel_frequency=0:300", "not the shell's 250000 kHz")

    def test_an_entry_nobody_checks(self):
        self.finds("[connectivity]", "[connectivity]\nsc=a.b:c.d", "unknown entry sc")


class Refused(unittest.TestCase):
    def refused(self, said, call, *arguments):
        with self.assertRaises(platforms.CardBuildError) as caught:
            call(*arguments)
        self.assertIn(said, str(caught.exception))

    def test_a_port_outside_interfaces(self):
        ports = interfaces.ports_of(WRAPPER.read_text(), WRAPPER.stem)
        self.refused("port kernel_rst belongs to no interface", interfaces.group,
                     [*ports, interfaces.Port("kernel_rst", "output", 1)])

    def test_an_interface_with_a_signal_missing(self):
        ports = interfaces.ports_of(WRAPPER.read_text(), WRAPPER.stem)
        self.refused("interface bank0_events lacks tready", interfaces.group,
                     [p for p in ports if p.name != "bank0_events_tready"])

    def test_an_hls_top_that_would_not_run_by_itself(self):
        text = (ROOT / "hls/kernels/bank_kernel.cpp").read_text()
        for old, said in (("mode=ap_ctrl_none", "ap_ctrl_none"), ("mode=axis port=actions", "stream actions")):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "bank_kernel.cpp"
                file.write_text(text.replace(old, old.replace("ap_ctrl_none", "ap_ctrl_hs").replace("axis", "m_axi")))
                self.refused(said, interfaces.hls_kernel, file)

    def test_a_placement_for_another_number_of_banks(self):
        few = platforms.dataclasses.replace(KNOWN[U55C], banks={"SLR0": 4})
        self.refused("places for 4 banks", describe.placement, DESIGN, few)

    def test_platforms_without_host_memory_have_their_rings_on_the_card(self):
        without = [p for p in KNOWN.values() if "HOST" not in p.memories]
        self.assertTrue(without)
        for platform in without:
            config = describe.link_config(DESIGN, platforms.find(platform.name, KNOWN))
            self.assertIn("sp=tidemill_shell_1.m_axi:HBM[0]\n", config)

    def test_an_unknown_platform(self):
        self.refused(U55C, platforms.find, "xilinx_vck5000_gen4x8_qdma_2_202220_1", KNOWN)

    def test_an_installed_platform_that_is_not_as_expected(self):
        good = "Valid SLRs: SLR0, SLR1, SLR2\n  Bus SP Tag: HBM\n  Bus SP Tag: HOST\n    Segment Index: 0\n"
        platforms.refuse_other(KNOWN[U55C], good)
        self.refused("lists no HOST memory", platforms.refuse_other, KNOWN[U55C], good.replace("HOST", "DDR"))
        self.refused("3 SLRs", platforms.refuse_other, KNOWN[U55C], good.replace(", SLR2", ""))


if __name__ == "__main__":
    unittest.main()
