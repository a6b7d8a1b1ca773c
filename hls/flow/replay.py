#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the RTL of a kernel in Verilator against the C++ with random events, and holds its cycles against the declared.

usage: replay.py --source DIR --generated DIR --out DIR --kernel NAME [--events N] [--seed N]

Makes the RTL first where it is not up to date. Exit 77 if there is no HLS tool.
"""
import argparse
import subprocess
import sys

import flow
import make_rtl


def build(paths, tool, kernel, files):
    """Verilates the RTL with its bench; returns the program."""
    folder = paths.of(tool, kernel) / "replay"
    folder.mkdir(exist_ok=True)
    top = kernel.step_top if tool.name == "bambu" else kernel.stream_top
    bench = paths.source / "tb/hls/replay" / f"{kernel.name}_replay.cpp"
    flags = f"-std=c++20 -I{paths.source} -I{paths.source}/tb/hls -I{paths.generated} -DTIDEMILL_RTL_{tool.name.upper()}"
    flow.run(["verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "--x-initial", "0", "--x-assign", "0",
              "-Wno-fatal", "-Wno-lint", "-Wno-style", "--no-timing", "--top-module", top, "--prefix", "Kernel",
              "-Mdir", folder, "-CFLAGS", flags, "-o", "replay", bench, *files],
             folder, "verilator.log", lambda line: line.startswith("%Error"))
    return folder / "replay"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    make_rtl.arguments(parser)
    parser.add_argument("--kernel", required=True, choices=list(flow.KERNELS))
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    paths, kernel = make_rtl.paths_of(args), flow.KERNELS[args.kernel]
    tools = [tool for tool in make_rtl.TOOLS if flow.found(tool)]
    if not tools:
        print(f"SKIPPED: the RTL of the {kernel.name} kernel is NOT checked: {make_rtl.NO_TOOL}")
        sys.exit(77)
    failed = False
    for tool in tools:
        try:
            program = build(paths, tool, kernel, flow.make(paths, tool, kernel))
        except flow.FlowError as error:
            sys.exit(f"replay: {error}")
        print(f"{tool.name}, {kernel.name} kernel:", flush=True)
        # Memory images of the RTL are named relative to where it was made.
        done = subprocess.run([program, str(args.events), str(args.seed)], cwd=paths.of(tool, kernel), check=False)
        failed |= done.returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
