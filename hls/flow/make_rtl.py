#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes RTL of the kernels with each HLS tool that is on PATH.

usage: make_rtl.py --source DIR --generated DIR --out DIR [--kernel NAME]...
"""
import argparse
import pathlib
import sys

import bambu
import flow
import vitis

TOOLS = [vitis, bambu]
NO_TOOL = ("no HLS tool: neither vitis_hls (AMD Vitis HLS) nor bambu (PandA-Bambu 2024.10 or later) is on PATH; "
           "install one of them or extend PATH (docs/engine/hls-flow.md)")


def arguments(parser):
    """The options that make_rtl.py and replay.py share."""
    parser.add_argument("--source", type=pathlib.Path, required=True, help="folder of the project")
    parser.add_argument("--generated", type=pathlib.Path, required=True, help="folder of tidemill/abi.hpp")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="where the RTL goes")


def paths_of(args):
    return flow.Paths(args.source.resolve(), args.generated.resolve(), args.out.resolve())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments(parser)
    parser.add_argument("--kernel", action="append", choices=list(flow.KERNELS), help="only this one")
    args = parser.parse_args()
    paths = paths_of(args)
    tools = [tool for tool in TOOLS if flow.found(tool)]
    if not tools:
        sys.exit(f"hls-rtl: {NO_TOOL}")
    try:
        for tool in tools:
            for kernel in args.kernel or flow.KERNELS:
                for file in flow.make(paths, tool, flow.KERNELS[kernel]):
                    print(f"{tool.name}: {file}")
    except flow.FlowError as error:
        sys.exit(f"hls-rtl: {error}")


if __name__ == "__main__":
    main()
