#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""systemd takes the units, and their commands and settings are ones that exist.

usage: units_test.py PROJECT UNITS
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT, UNITS = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is missing: the units are NOT checked")
class Units(unittest.TestCase):
    def verify(self, **changed):
        """As plain units, since systemd looks for instances in a running system only; with programs that are there."""
        with tempfile.TemporaryDirectory() as name:
            said = ""
            for unit in ("card", "opensm"):
                text = (UNITS / f"tidemill-{unit}@.service").read_text().replace("@%i.service", ".service")
                text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.M)
                for old, new in changed.items():
                    text = text.replace(old, new)
                (pathlib.Path(name) / f"tidemill-{unit}.service").write_text(text)
            for unit in ("card", "opensm"):
                done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                                       f"{name}/tidemill-{unit}.service"], capture_output=True, text=True, check=False,
                                      env={"SYSTEMD_UNIT_PATH": f"{name}:/lib/systemd/system", "PATH": "/usr/bin:/bin"})
                said += done.stdout + done.stderr
            return said

    def test_systemd_takes_them(self):
        self.assertEqual(self.verify(), "")

    def test_it_would_say_so(self):
        self.assertIn("Unknown key 'Restrat'", self.verify(Restart="Restrat"))


class Words(unittest.TestCase):
    def test_every_setting_is_in_the_example(self):
        example = set(re.findall(r"^(\w+)=", (PROJECT / "host/service/card.conf").read_text(), re.M))
        used = set()
        for unit in UNITS.glob("*.service"):
            used |= set(re.findall(r"\$\{(\w+)\}", unit.read_text()))
        self.assertLessEqual({"TIDEMILL_NET", "TIDEMILL_HOST_MEMORY"}, used)
        self.assertLessEqual(used, example)

    def test_the_example_names_no_xrt_that_may_not_be_there(self):
        example = (PROJECT / "host/service/card.conf").read_text()
        for name in ("XILINX_XRT", "LD_LIBRARY_PATH"):
            self.assertNotRegex(example, rf"(?m)^\s*{name}=")
            self.assertRegex(example, rf"(?m)^#{name}=/")

    def test_each_card_has_a_cache_of_its_own(self):
        """opensm keeps LIDs and routes there: those of one fabric are wrong on another."""
        unit = (UNITS / "tidemill-opensm@.service").read_text()
        self.assertIn("CacheDirectory=tidemill/%i\n", unit)
        self.assertRegex(unit, r"OSM_CACHE_DIR=%C/tidemill/%i\s")

    def test_nothing_is_left_to_be_filled_in(self):
        for unit in UNITS.glob("*.service"):
            self.assertNotRegex(unit.read_text(), r"@\w+@")


if __name__ == "__main__":
    unittest.main()
