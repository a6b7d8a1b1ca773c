#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies the shell with planted bugs in it, each switched on by its number in TIDEMILL_MUTANT.

usage: mutate.py SHELL_DIR OUT_DIR      makes the copy
       mutate.py --list                 the names, in the order of their numbers from 1
"""
import pathlib
import sys

# Name, file, expression as it stands, expression with the bug.
MUTANTS = [
    ("lost_doorbell", "tidemill_lane_table.sv", "told_event.count         = ", "telling[15:0]", "telling[15:0] - 16'(telling[15:0] > 16'd1)"),
    ("dropped_completion", "tidemill_ring_writer.sv", "assign ready_o = ", "started_q && (!full || pass)", "started_q"),
    ("credit_leak", "tidemill_router.sv", "assign wire_credit_b_o = ", "taken && !ready_made_i && sent_i ? (action.qp ? 2'b10 : 2'b01) : 2'b00",
     "taken && !ready_made_i && sent_i && action.tid[3:0] != 4'd5 ? (action.qp ? 2'b10 : 2'b01) : 2'b00"),
    ("wrong_generation", "tidemill_router.sv", "made.generation     = ", "action.generation", "action.generation + 16'(action.generation == 16'd1)"),
    ("ring_ends_early", "tidemill_lane_table.sv", "assign head    = ", "fetched_q & mask", "fetched_q & (mask >> 1)"),
]
PACKAGE = """// SPDX-License-Identifier: Apache-2.0
package tidemill_mutant;
  import "DPI-C" function int tidemill_mutant_selected();
endpackage
"""


def main():
    if sys.argv[1:] == ["--list"]:
        print(";".join(name for name, *_ in MUTANTS), end="")
        return
    shell, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    texts = {path.name: path.read_text() for path in shell.glob("*.sv")}
    for number, (name, file, before, right, wrong) in enumerate(MUTANTS, start=1):
        line = f"{before}{right};"
        if texts[file].count(line) != 1:
            sys.exit(f"mutant {name}: {file} does not hold `{line}` once: the RTL has changed, so must the mutant")
        texts[file] = texts[file].replace(
            line, f"{before}tidemill_mutant::tidemill_mutant_selected() == {number} ? ({wrong}) : ({right});")
    texts["tidemill_mutant.sv"] = PACKAGE
    for name, text in texts.items():
        path = out / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
