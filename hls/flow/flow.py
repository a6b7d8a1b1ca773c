# SPDX-License-Identifier: Apache-2.0
"""What both HLS tools share: the kernels, the card, running a tool with its log kept, when to run it again."""
import dataclasses
import hashlib
import pathlib
import shutil
import subprocess

CLOCK_NS = 4.0  # 250 MHz


class FlowError(Exception):
    """The flow cannot go on; the text says why and what to do."""


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    source: str      # under hls/kernels/
    step_top: str    # between scalars
    stream_top: str  # between AXI4-Streams


KERNELS = {k.name: k for k in (Kernel("bank", "bank_kernel.cpp", "bank_step", "bank_kernel"),
                               Kernel("arbiter", "arbiter_kernel.cpp", "arbiter_step", "arbiter_kernel"))}


@dataclasses.dataclass(frozen=True)
class Paths:
    source: pathlib.Path     # of the project
    generated: pathlib.Path  # folder of tidemill/abi.hpp
    out: pathlib.Path        # hls-rtl in the build folder

    def of(self, tool, kernel):
        return self.out / tool.name / kernel.name


def found(tool):
    return shutil.which(tool.name) is not None


def run(command, folder, log_name, refuse):
    """Runs a tool in `folder`. `refuse(line)` is true for a line of its log that means failure whatever it returned."""
    log = folder / log_name
    with log.open("w") as file:
        done = subprocess.run([str(c) for c in command], cwd=folder, stdout=file, stderr=subprocess.STDOUT, check=False)
    lines = log.read_text(errors="replace").splitlines()
    bad = [line for line in lines if refuse(line)]
    if done.returncode != 0 or bad:
        why = f"returned {done.returncode}" if done.returncode != 0 else "returned 0, but its log tells of a failure"
        tail = "\n".join("  " + line for line in (bad or lines)[-10:])
        raise FlowError(f"{command[0]} {why}; log: {log}\n{tail}")
    return lines


def fingerprint(paths, tool):
    """Of everything the RTL is made from."""
    digest = hashlib.sha256()
    inputs = [p for folder in ("hls", "hls/kernels", "hls/flow") for p in (paths.source / folder).glob("*.[hcp]*")]
    for path in sorted(inputs) + [paths.generated / "tidemill/abi.hpp"]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    digest.update(str(shutil.which(tool.name)).encode())
    return digest.hexdigest()


def make(paths, tool, kernel):
    """Makes the RTL of a kernel unless it is there and up to date; returns the list of its files."""
    folder = paths.of(tool, kernel)
    stamp, listing = folder / "stamp", folder / "rtl.f"
    want = fingerprint(paths, tool)
    if not (stamp.exists() and listing.exists() and stamp.read_text() == want):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        print(f"{tool.name}: making the RTL of the {kernel.name} kernel in {folder}", flush=True)
        files = tool.make(paths, kernel, folder)
        listing.write_text("".join(f"{file}\n" for file in files))
        stamp.write_text(want)
    return [pathlib.Path(line) for line in listing.read_text().splitlines()]
