# SPDX-License-Identifier: Apache-2.0
"""What compilers make of the generated texts: every field lies where the doc page says, in C++ and in SystemVerilog."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import layouts
from generator import DESCRIPTION, generate

OUTPUTS = generate(DESCRIPTION.read_text())
PAGE = layouts.read_doc(OUTPUTS.doc)


def snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def fields():
    for layout, (words, members) in PAGE.layouts.items():
        for field in members:
            yield layout, words, field


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_tool(self, *command) -> str:
        run = subprocess.run([str(c) for c in command], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout + run.stderr


def cpp_kind(field: layouts.Field) -> str:
    return f"abi::{field.enum}" if field.enum else f"uint{next(n for n in (8, 16, 32, 64) if field.width <= n)}_t"


def cpp_checks(layout: str, words: int, field: layouts.Field):
    """Written to zeros, the highest value sets its bits; zero written to ones clears the same bits; it reads back."""
    top, kind = (1 << field.width) - 1, cpp_kind(field)
    bits = [(top << field.lsb) if w == field.word else 0 for w in range(words)]
    ones = " ".join(f"l.w{w} = ~uint64_t{{0}};" for w in range(words))
    sets = " && ".join(f"l.w{w} == {b:#x}u" for w, b in enumerate(bits))
    clears = " && ".join(f"l.w{w} == ~uint64_t{{{b:#x}u}}" for w, b in enumerate(bits))
    highest = f"l.{field.name}(static_cast<{kind}>({top:#x}u));"
    for what, steps, result in (("sets", highest, sets), ("clears", f"{ones} l.{field.name}({kind}{{}});", clears),
                                ("reads", highest, f"static_cast<uint64_t>(l.{field.name}()) == {top:#x}u")):
        yield f'static_assert([] {{ abi::{layout} l; {steps} return {result}; }}(), "{what} {layout}.{field.name}");'


class Cpp(Tool):
    def test_every_accessor_reads_and_writes_its_bits_and_no_others(self):
        lines = ['#include "tidemill/abi.hpp"', "namespace abi = tidemill::abi;"]
        lines += [line for layout, words, field in fields() for line in cpp_checks(layout, words, field)]
        lines += [f"static_assert(sizeof(abi::{layout}) == {words * 8});" for layout, (words, _) in PAGE.layouts.items()]
        self.write("tidemill/abi.hpp", OUTPUTS.cpp)
        self.run_tool(os.environ.get("CXX", "g++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                      "-I", self.folder, self.write("check.cpp", "\n".join(lines) + "\n"))


def sv_checks(layout: str, words: int, field: layouts.Field):
    """With its bits set and no others a member is all ones; with all others set it is zero."""
    bits, top = words * 64, (1 << field.width) - 1
    mask, variable = top << (64 * field.word + field.lsb), f"{snake(layout)}_v"
    member = f"{bits}'(unsigned'({variable}.{field.name}))"
    for value, expected in ((f"{bits}'h{mask:x}", f"{bits}'h{top:x}"), (f"~{bits}'h{mask:x}", f"{bits}'h0")):
        yield f"    {variable} = {value};"
        yield f'    if ({member} !== {expected}) $fatal(1, "{layout}.{field.name}");'


@unittest.skipUnless(shutil.which("verilator") or os.environ.get("TIDEMILL_CI"), "needs Verilator (Debian: verilator)")
class SystemVerilog(Tool):
    def test_the_package_is_clean_in_verilators_lint(self):
        # A package declares what its users need; that it uses none of it itself is its nature.
        package = self.write("tidemill_abi.sv", OUTPUTS.sv)
        self.run_tool("verilator", "--lint-only", "-Wall", "-Wno-UNUSEDPARAM", package)

    def test_every_member_lies_in_its_bits(self):
        lines = ["module check;", "  import tidemill_abi::*;"]
        lines += [f"  tidemill_abi::{snake(layout)}_t {snake(layout)}_v;" for layout in PAGE.layouts]
        lines += ["  initial begin"]
        lines += [line for layout, words, field in fields() for line in sv_checks(layout, words, field)]
        lines += [f'    if ({enum}{name} !== {value}) $fatal(1, "{enum}{name}");'
                  for enum, values in PAGE.enums.items() for value, name in values]
        lines += [f"    if (Reg{name} !== 16'h{at:x}) $fatal(1, \"{name}\");" for name, at in PAGE.registers.items()]
        lines += ['    $display("checked");', "    $finish;", "  end", "endmodule", ""]
        package, bench = self.write("tidemill_abi.sv", OUTPUTS.sv), self.write("check.sv", "\n".join(lines))
        self.run_tool("verilator", "--binary", "-O0", "-Wno-WIDTH", "--top-module", "check",
                      "-Mdir", self.folder / "obj", package, bench)
        self.assertIn("checked", self.run_tool(self.folder / "obj/Vcheck"))


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
