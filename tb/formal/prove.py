#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves a cell with yosys-smtbmc and z3, or shows that its proof catches a planted fault.

usage: prove.py proofs.toml --list
       prove.py proofs.toml CELL [--fault NAME] --cells DIR --out DIR

A proof is a bounded check of every assertion from reset, then k-induction. The assertions under ORDER, which compare
with the history of a whole run, are in the bounded check only. A fault must make the bounded check fail at an assertion.
Exit 77 if yosys, yosys-smtbmc or z3 is not there (a failure where TIDEMILL_CI is set).
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time
import tomllib


def sources(cells, out, cell, fault):
    """The cells' files; with a fault, a changed copy of the one cell. Fails if the text does not stand there exactly once."""
    files = {path.name: path for path in sorted(cells.glob("*.sv"))}
    if fault:
        name = f"tidemill_{fault.get('in', cell)}.sv"
        text = files[name].read_text()
        if text.count(fault["replace"]) != 1:
            sys.exit(f"fault {fault['name']}: stands {text.count(fault['replace'])} times in {name}, not once")
        files[name] = out / name
        files[name].write_text(text.replace(fault["replace"], fault["by"]))
    return list(files.values())


def model(files, harness, out, define):
    path = out / f"model{define}.smt2"
    subprocess.run(["yosys", "-q", "-p", f"read_verilog -formal -sv {define} {' '.join(map(str, files))} {harness}; "
                    "prep -top proof -flatten; memory_map; opt; dffunmap; check -assert; "
                    f"write_smt2 -wires {path}"], check=True)
    return path


def solve(path, *flags):
    """True if proved, False if an assertion fails; a solver that gives no verdict is an error."""
    done = subprocess.run(["yosys-smtbmc", "-s", "z3", "--unroll", *flags, str(path)], capture_output=True, text=True, timeout=300)
    if "Status: PASSED" in done.stdout and done.returncode == 0:
        return True, done.stdout
    if "Status: FAILED" in done.stdout and ("Assert failed" in done.stdout or "-i" in flags):
        return False, done.stdout
    sys.exit(f"no verdict:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", type=pathlib.Path)
    parser.add_argument("cell", nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--fault")
    parser.add_argument("--cells", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    table = tomllib.loads(args.proofs.read_text())
    if args.list:
        print(";".join(line for cell, entry in table.items()
                       for line in [cell] + [f"{cell}.{fault['name']}" for fault in entry["fault"]]))
        return
    missing = [tool for tool in ("yosys", "yosys-smtbmc", "z3") if not shutil.which(tool)]
    if missing:
        print(f"SKIPPED: {', '.join(missing)} missing (Debian: yosys z3)")
        sys.exit(1 if os.environ.get("TIDEMILL_CI") else 77)
    entry = table[args.cell]
    fault = next(f for f in entry["fault"] if f["name"] == args.fault) if args.fault else None
    args.out.mkdir(parents=True, exist_ok=True)
    harness = args.proofs.parent / f"{args.cell}.sv"
    files = sources(args.cells, args.out, args.cell, fault)
    begin = time.monotonic()
    passed, log = solve(model(files, harness, args.out, "-DORDER"), "-t", str(entry["cycles"]))
    if fault:
        failed = [line.split("Assert failed in ")[1] for line in log.splitlines() if "Assert failed in" in line]
        print(f"{args.cell}: {args.fault}: " + ("NOT CAUGHT" if passed else "caught by " + "; ".join(failed)))
        sys.exit(passed)
    if passed:
        passed, log = solve(model(files, harness, args.out, ""), "-i", "-t", str(entry["induction"]))
    print(f"{args.cell}: {'proved' if passed else 'FAILED'} in {time.monotonic() - begin:.1f} s")
    if not passed:
        print(log[-3000:])
    sys.exit(not passed)


if __name__ == "__main__":
    main()
