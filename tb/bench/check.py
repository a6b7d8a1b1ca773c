#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a benchmark executable for a moment on its smallest arguments; fails unless every benchmark ran without a fault.

usage: check.py <executable>
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# What a benchmark says when something it needs is not to be had on this machine, or a rival does not do it: no faults of ours.
EXCUSES = ("DPDK does not start here", "SKIPPED: no umad2sim (Debian: libumad2sim0)", "umad2sim is not up after 30 s",
           "SKIPPED: no cosim: in this build (Debian: verilator libsystemc-dev)",
           "SKIPPED: no xrt: in this build (XRT, protobuf and what cosim: needs)", "SKIPPED: one core")


def main() -> int:
    executable = sys.argv[1]
    names = subprocess.run([executable, "--benchmark_list_tests"], check=True, capture_output=True, text=True).stdout.split()
    smallest = {}
    for name in names:
        group = re.sub(r"/\d+", "/#", name)
        smallest[group] = min(smallest.get(group, name), name, key=lambda n: [int(i) for i in re.findall(r"/(\d+)", n)])
    chosen = "^(" + "|".join(map(re.escape, smallest.values())) + ")(/.*)?$"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"  # not its output: what it has loaded may write there too
        subprocess.run([executable, f"--benchmark_filter={chosen}", "--benchmark_min_time=0.001", f"--benchmark_out={out}",
                        "--benchmark_out_format=json"], check=True, stdout=subprocess.DEVNULL)
        results = json.loads(out.read_text())["benchmarks"]
    faults = []
    for result in results:
        message = result.get("error_message")
        if message in EXCUSES:
            print(f"SKIPPED: {result['name']}: {message}")
        elif message is not None:
            faults.append(f"{result['name']}: {message}")
        elif not result["real_time"] > 0:
            faults.append(f"{result['name']}: took no time")
    print(*faults, sep="\n")
    print(f"{len(results)} of {len(names)} benchmarks run, {len(faults)} with a fault")
    return 1 if faults or len(results) < len(smallest) else 0


if __name__ == "__main__":
    sys.exit(main())
