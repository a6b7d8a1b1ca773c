# SPDX-License-Identifier: Apache-2.0
"""Runs the tools of Vitis, or prints what would be run."""
import dataclasses
import pathlib
import re
import shlex
import shutil
import subprocess

from platforms import CardBuildError

WHERE = {"vivado": "Vivado", "v++": "Vitis", "platforminfo": "Vitis", "xclbinutil": "XRT, also in Vitis"}
HELP = ("Install AMD Vitis and the platform's development package, then `source <Vitis>/settings64.sh` and "
        "`source /opt/xilinx/xrt/setup.sh`.\nThe target xclbin-dry-run shows the commands without them "
        "(docs/rtl/alveo.md).")


@dataclasses.dataclass(frozen=True)
class Step:
    what: str
    command: tuple[str, ...]
    log: str
    makes: pathlib.Path | None = None


def missing_text(names: set[str]) -> str:
    """What to say of the tools that are not there; nothing if all are."""
    missing = [f"{tool} ({WHERE[tool]})" for tool in sorted(names) if shutil.which(tool) is None]
    return f"no card build without Vitis; not on PATH: {', '.join(missing)}.\n{HELP}" if missing else ""


def refuse_missing(steps: list[Step]) -> None:
    if text := missing_text({step.command[0] for step in steps}):
        raise CardBuildError(text)


def first_error(lines: list[str]) -> str | None:
    """AMD's tools say ERROR at the beginning of a line; they may return 0 all the same."""
    return next((line.strip() for line in lines if re.match(r"\s*(ERROR|FATAL)\b", line)), None)


def run(step: Step, folder: pathlib.Path) -> str:
    """Runs a step in the build folder, its log kept; returns what it said."""
    print(f"{step.what}\n  {shlex.join(step.command)}", flush=True)
    log = folder / step.log
    if step.makes is not None:
        step.makes.unlink(missing_ok=True)
    with log.open("w") as file:
        done = subprocess.run(step.command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, check=False)
    lines = log.read_text(errors="replace").splitlines()
    error = first_error(lines)
    if done.returncode != 0 or error is not None:
        said = error or next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
        raise CardBuildError(f"{step.what}: {step.command[0]} returned {done.returncode}; log: {log}\n  {said}")
    if step.makes is not None and not step.makes.exists():
        raise CardBuildError(f"{step.what}: {step.command[0]} returned 0, but made no {step.makes}; log: {log}")
    return "\n".join(lines)
