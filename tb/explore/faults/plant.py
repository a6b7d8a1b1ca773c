#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants one fault into a copy of the engine's headers.

usage: plant.py faults.toml --list
       plant.py faults.toml --plant NAME --hls DIR --out DIR

Writes OUT/hls/*.hpp and OUT/planted_fault.hpp. Fails if the text to replace does not stand in its header exactly once.
"""
import argparse
import pathlib
import sys
import tomllib

HEADER = """// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tb/explore/{plans}"

namespace tidemill::explore {{
inline constexpr const char* kFault = "{text}";
inline constexpr const char* kBreaks = {breaks};
inline auto planted_space() {{ return {space}; }}
}}  // namespace tidemill::explore
"""


def plant(fault, source, out):
    headers = {path.name: path.read_text() for path in source.glob("*.hpp")}
    header, old = fault["header"], fault["replace"].strip("\n")
    count = headers.get(header, "").count(old)
    if count != 1:
        sys.exit(f"fault {fault['name']}: stands {count} times in {header}, not once:\n{old}")
    headers[header] = headers[header].replace(old, fault["by"].strip("\n"))
    (out / "hls").mkdir(parents=True, exist_ok=True)
    for name, text in headers.items():
        (out / "hls" / name).write_text(text)
    (out / "planted_fault.hpp").write_text(HEADER.format(**fault))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--plant")
    parser.add_argument("--hls", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    faults = {fault["name"]: fault for fault in tomllib.loads(args.faults.read_text())["fault"]}
    if args.list:
        print(";".join(faults))
    elif args.plant not in faults:
        sys.exit(f"no fault {args.plant} in {args.faults}")
    else:
        plant(faults[args.plant], args.hls, args.out)


if __name__ == "__main__":
    main()
