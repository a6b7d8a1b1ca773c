# SPDX-License-Identifier: Apache-2.0
"""docs/conformance.md names every invariant once, and only tests that exist."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST = re.compile(r"\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)")


def main() -> int:
    page = (ROOT / "docs/conformance.md").read_text()
    tests = {f"{suite}.{name}" for source in (ROOT / "tb").rglob("*.cpp") for suite, name in TEST.findall(source.read_text())}
    suites = {test.split(".")[0] for test in tests}
    faults = [f"no such test: {name}" for name in re.findall(r"`(\w+\.\w+)`", page) if name not in tests and name != "Conformance.Index"]
    faults += [f"no such suite: {name}" for name in re.findall(r"`(\w+)\.\*`", page) if name not in suites]
    listed = re.findall(r"^\| I(\d+) \|", page, re.M)
    faults += [f"I{n} is listed {listed.count(str(n))} times" for n in range(1, 36) if listed.count(str(n)) != 1]
    print("\n".join(faults) or f"{len(tests)} tests, {len(listed)} invariants")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
