#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every engine header, alone, and every kernel compiles as C++17 without a warning, with each host compiler.

usage: compile_check.py --source DIR --generated DIR COMPILER...

Exit 77 if a compiler is not there (a failure where TIDEMILL_CI is set).
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

# & and | of booleans are data here; HLS pragmas are the tools' business.
FLAGS = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-fsyntax-only", "-x", "c++"]
CLANG_FLAGS = ["-Wno-bitwise-instead-of-logical", "-Wno-unknown-warning-option"]


def compiles(compiler, flags, source):
    done = subprocess.run([compiler, *FLAGS, *flags, "-"], input=source, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--generated", type=pathlib.Path, required=True)
    parser.add_argument("compilers", nargs="+")
    args = parser.parse_args()
    flags = ["-I", str(args.source), "-I", str(args.generated), "-idirafter", str(args.source / "hls/compat")]
    files = sorted(args.source.glob("hls/*.hpp")) + sorted(args.source.glob("hls/compat/*.h")) + sorted(
        args.source.glob("hls/kernels/*.cpp"))
    missing = [c for c in args.compilers if not shutil.which(c)]
    bad = 0
    for compiler in (c for c in args.compilers if c not in missing):
        clang = "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
        for file in files:
            # Twice: a header that is not guarded fails.
            twice = 1 if file.suffix == ".cpp" else 2
            source = f'#include "{file.relative_to(args.source)}"\n' * twice
            good, said = compiles(compiler, flags + (CLANG_FLAGS if clang else []), source)
            if not good:
                print(f"{compiler} {file}:\n{said}")
                bad += 1
        print(f"{compiler}: {len(files)} files")
    if bad:
        sys.exit(1)
    if missing:
        print(f"SKIPPED: {', '.join(missing)} is not installed; .ci/setup installs it")
        sys.exit(1 if os.environ.get("TIDEMILL_CI") else 77)


if __name__ == "__main__":
    main()
