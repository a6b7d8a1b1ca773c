#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the xclbin of a card.

usage: build_xclbin.py --source DIR --generated DIR --out DIR --platform NAME [--dry-run]

Writes kernel.xml, the configurations and the facts for packaging, checks them, then runs Vitis. --dry-run prints the
commands instead. docs/rtl/alveo.md
"""
import argparse
import pathlib
import re
import shlex
import sys

import check
import describe
import design as designs
import platforms
import tools
from design import Design
from platforms import CardBuildError, Platform
from tools import Step

TOP = "tidemill_shell_kernel"
HLS_SETUP = "config_compile -pipeline_loops 0\n"  # as hls/flow/vitis.py: nothing with state is pipelined


class Build:
    def __init__(self, source: pathlib.Path, generated: pathlib.Path, out: pathlib.Path, platform: Platform):
        self.source, self.generated, self.platform = source, generated, platform
        self.out = out / platform.name
        self.xclbin = self.out / f"tidemill_{platform.name}.xclbin"
        self.design: Design = designs.load(source)

    def write(self) -> None:
        """The files that Vitis is given, checked."""
        self.out.mkdir(parents=True, exist_ok=True)
        rtl = self.source / "rtl"
        sources = [self.generated / "rtl/tidemill_abi.sv", *sorted((rtl / "cells").glob("*.sv")),
                   *sorted((rtl / "shell").glob("*.sv")), *sorted((rtl / "alveo").glob("*.sv")),
                   rtl / f"alveo/{TOP}.v"]
        files = {"kernel.xml": describe.kernel_xml(self.design), "hls.tcl": HLS_SETUP,
                 "facts.tcl": describe.package_facts(self.design, sources, TOP, self.platform.part),
                 "link.cfg": describe.link_config(self.design, self.platform)}
        for kernel in (self.design.bank, self.design.arbiter):
            files[f"{kernel.name}.cfg"] = describe.hls_config(self.design, kernel.name, self.out / "hls.tcl")
        for name, text in files.items():
            (self.out / name).write_text(text)
        header = (self.generated / "include/tidemill/abi.hpp").read_text()
        found = check.kernel_xml(files["kernel.xml"], self.design.shell, header)
        found += check.link_config(files["link.cfg"], self.design, self.platform)
        if found:
            raise CardBuildError("what Vitis would be told is not what the sources say:\n  " + "\n  ".join(found))

    def steps(self) -> list[Step]:
        name, out = self.platform.option, self.out
        objects = [out / f"{kernel.name}.xo" for kernel in (self.design.shell, self.design.arbiter, self.design.bank)]
        package = ("vivado", "-mode", "batch", "-nojournal", "-nolog", "-source",
                   str(self.source / "rtl/alveo/package_shell.tcl"),
                   "-tclargs", str(out / "facts.tcl"), str(out / "kernel.xml"), str(objects[0]))
        steps = [Step("Asking for the platform's memories", ("platforminfo", "--platform", name), "platforminfo.log"),
                 Step("Packaging the shell", package, "package_shell.log", objects[0])]
        for kernel, made in zip((self.design.arbiter, self.design.bank), objects[1:]):
            compile_it = ("v++", "--compile", "--target", "hw", "--platform", name, "--kernel", kernel.name,
                          "--config", str(out / f"{kernel.name}.cfg"), "-I", str(self.source),
                          "-I", str(self.generated / "include"), "--temp_dir", str(out / "temp"),
                          "--output", str(made), str(self.source / f"hls/kernels/{kernel.name}.cpp"))
            steps.append(Step(f"Compiling {kernel.name}", compile_it, f"{kernel.name}.log", made))
        link = ("v++", "--link", "--target", "hw", "--platform", name, "--config", str(out / "link.cfg"),
                "--temp_dir", str(out / "temp"), "--output", str(self.xclbin), *map(str, objects))
        steps.append(Step("Linking (hours)", link, "link.log", self.xclbin))
        steps.append(Step("Asking for the clock that was reached",
                          ("xclbinutil", "--info", "--input", str(self.xclbin)), "xclbin_info.log"))
        return steps

    def run(self) -> None:
        steps = self.steps()
        tools.refuse_missing(steps)
        for step in steps:
            said = tools.run(step, self.out)
            if step.command[0] == "platforminfo":
                platforms.refuse_other(self.platform, said)
            if step.command[0] == "xclbinutil":
                self.refuse_slow(said)
        print(f"made {self.xclbin}")

    def refuse_slow(self, said: str) -> None:
        """Where timing is not met v++ lowers the clock, and the shell would keep wrong time."""
        clock = re.search(r"Name:\s+DATA_CLK\n.*?Frequency:\s+(\d+)\s*MHz", said, re.S)
        want = self.design.clock_khz // 1000
        if clock is None:
            raise CardBuildError(f"xclbinutil names no DATA_CLK of {self.xclbin}; log: {self.out}/xclbin_info.log")
        if int(clock[1]) != want:
            slow = self.xclbin.with_suffix(".slow")
            self.xclbin.rename(slow)
            raise CardBuildError(f"timing was not met: the kernels' clock is {clock[1]} MHz, the shell was made for "
                                 f"{want} MHz and would keep wrong time. Kept as {slow}; reports in {self.out}/temp")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="folder of the project")
    parser.add_argument("--generated", type=pathlib.Path, required=True, help="generated/ of the build folder")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="where a folder for the platform is made")
    parser.add_argument("--platform", required=True, help="name in platforms.toml, or the path of its .xpfm")
    parser.add_argument("--dry-run", action="store_true", help="write and check the files, print the commands")
    args = parser.parse_args()
    try:
        known = platforms.load()
        if not args.platform:
            raise CardBuildError("for which card? Configure with -DTIDEMILL_PLATFORM=<name>, one of\n"
                                 f"{platforms.listing(known)}\n"
                                 f"{tools.missing_text({'v++', 'vivado'})}".rstrip())
        build = Build(args.source.resolve(), args.generated.resolve(), args.out.resolve(),
                      platforms.find(args.platform, known))
        build.write()
        if args.dry_run:
            print(f"cd {shlex.quote(str(build.out))}")
            for step in build.steps():
                print(f"# {step.what}\n{shlex.join(step.command)}")
        else:
            build.run()
    except CardBuildError as error:
        sys.exit(f"xclbin: {error}")


if __name__ == "__main__":
    main()
