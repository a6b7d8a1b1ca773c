#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the area of every module, at its default parameters, as Yosys maps it to UltraScale+ (not routed).

usage: area.py RTL_DIR PACKAGE.sv OUT.md
"""
import pathlib
import re
import subprocess
import sys

KINDS = {"LUT": r"LUT\d|INV", "FF": r"FD[RSCP]E", "LUTRAM": r"RAM(?!B)\w+", "BRAM": r"RAMB\w+", "URAM": r"URAM\w+", "DSP": r"DSP\w+", "CARRY": r"CARRY\d"}


def area(files, top):
    out = subprocess.run(["yosys", "-p", f"read_verilog -sv -noassert {' '.join(map(str, files))}; "
                          f"synth_xilinx -family xcup -flatten -noiopad -noclkbuf -top {top}; stat"],
                         check=True, capture_output=True, text=True).stdout
    cells = re.findall(r"^ {5}(\w+) +(\d+)$", out[out.rindex("Number of cells"):], re.M)
    return {kind: sum(int(n) for name, n in cells if re.fullmatch(pattern, name)) for kind, pattern in KINDS.items()}


def main():
    rtl, package, out = map(pathlib.Path, sys.argv[1:])
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "# Area of the RTL", "",
             "Yosys `synth_xilinx -family xcup`, default parameters, not routed, everything inside a module counted; written by the "
             "target `rtl-area`. The kernels are not in it."]
    cells, shell = (sorted((rtl / folder).glob("*.sv")) for folder in ("cells", "shell"))
    for title, modules in (("Cells", cells), ("Shell", shell)):
        lines += ["", f"## {title}", "", "| module | " + " | ".join(KINDS) + " |", "| --- |" + " ---: |" * len(KINDS)]
        for path in modules:
            counts = area([package, *cells, *shell], path.stem)
            print(path.stem, counts, flush=True)
            lines.append(f"| `{path.stem}` | " + " | ".join(str(counts[kind]) for kind in KINDS) + " |")
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
