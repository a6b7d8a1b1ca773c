#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one scenario in a QEMU guest with Debian's kernel and rdma_rxe, and judges it.

usage: guest.py --cache DIR --scenario NAME [--limit SECONDS] [--count-instructions] PROGRAM...

Passed is only what says so twice: QEMU's exit status 33, which the guest's init writes, and its line GUEST-RESULT: PASS;
and no line GUEST-FAIL. Exit status: 0 passed, 1 failed, 77 skipped, for which TIDEMILL_CI=1 has no patience."""
import argparse
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import image  # noqa: E402

PASSED = 33  # isa-debug-exit: twice what the guest writes, plus one


def command(vmlinux, initrd, scenario, count_instructions):
    # Emulated, never KVM: the same everywhere. With icount a nanosecond of the guest is an instruction.
    accelerator = ["-accel", "tcg"]
    if count_instructions:
        accelerator = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"]
    words = f"console=ttyS0 quiet panic=-1 oops=panic mitigations=off tsc=reliable tidemill.scenario={scenario}"
    return ["qemu-system-x86_64", "-M", "q35", *accelerator, "-cpu", "max", "-smp", "1", "-m", "512M", "-nodefaults",
            "-no-user-config", "-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot", "-nic", "none",
            "-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-kernel", str(vmlinux), "-initrd", str(initrd), "-append", words]


def verdict(status, text):
    lines = text.splitlines()
    if status == PASSED and "GUEST-RESULT: PASS" in lines and not any(line.startswith("GUEST-FAIL") for line in lines):
        return None
    reasons = {None: "time limit", 0: "the guest was reset or panicked without a verdict", 33: "it passed and failed at once",
               35: "the guest reported a failure"}
    return reasons.get(status, f"qemu ended with {status}")


def boot(arguments, limit):
    """Output is shown while it comes. Returns status (None: limit) and text."""
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end, text = time.monotonic() + limit, b""
    os.set_blocking(process.stdout.fileno(), False)
    while True:
        part = process.stdout.read()
        if part:
            text += part
            sys.stdout.write(part.decode(errors="replace").replace("\r", ""))
            sys.stdout.flush()
            continue
        if process.poll() is not None:
            break
        if time.monotonic() > end:
            process.kill()
            process.wait()
            return None, text.decode(errors="replace").replace("\r", "")
        time.sleep(0.05)
    return process.returncode, text.decode(errors="replace").replace("\r", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--scenario", required=True)
    parser.add_argument("--limit", type=float, default=170)
    parser.add_argument("--count-instructions", action="store_true")
    parser.add_argument("--log", type=pathlib.Path, help="keep the guest's output here too")
    parser.add_argument("programs", type=pathlib.Path, nargs="*")
    options = parser.parse_args()
    start = time.monotonic()
    try:
        vmlinux, initrd = image.build(options.cache, options.programs)
    except image.Skip as reason:
        print(f"SKIPPED: {reason}")
        return 1 if os.environ.get("TIDEMILL_CI") == "1" else 77
    try:
        status, text = boot(command(vmlinux, initrd, options.scenario, options.count_instructions),
                            options.limit - (time.monotonic() - start))
    finally:
        initrd.unlink(missing_ok=True)
    if options.log:
        options.log.write_text(text, encoding="utf-8")
    why = verdict(status, text)
    print(f"{options.scenario}: {'passed' if why is None else 'FAILED: ' + why}, {time.monotonic() - start:.1f} s")
    return 0 if why is None else 1


if __name__ == "__main__":
    sys.exit(main())
