# SPDX-License-Identifier: Apache-2.0
"""The judge of guest runs: passed is only what says so twice and complains of nothing."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from guest import verdict  # noqa: E402

PASS = "GUEST: up\nGUEST-RESULT: PASS\n"


class Judge(unittest.TestCase):
    def test_passes_what_says_so_twice(self):
        self.assertIsNone(verdict(33, PASS))

    def test_a_pass_line_alone_is_none(self):
        for status in (0, 1, 35, None):
            self.assertIsNotNone(verdict(status, PASS), status)

    def test_an_exit_status_alone_is_none(self):
        self.assertIsNotNone(verdict(33, ""))
        self.assertIsNotNone(verdict(33, "GUEST-RESULT: PASSED\n"))
        self.assertIsNotNone(verdict(33, "echo GUEST-RESULT: PASS\n"))

    def test_a_complaint_is_a_failure(self):
        self.assertIsNotNone(verdict(33, "GUEST-FAIL: something\n" + PASS))


if __name__ == "__main__":
    unittest.main()
