# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark executables and reads what they wrote."""
import json
import os
import statistics
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

# In repetitions that are mixed at random, so that a busy moment of the machine does not hit one benchmark alone.
OPTIONS = ["--benchmark_repetitions=5", "--benchmark_min_time=0.05", "--benchmark_enable_random_interleaving=true",
           "--benchmark_display_aggregates_only=true", "--benchmark_out_format=json"]


def measure(executables: list[str], folder: Path) -> None:
    """Writes one JSON for each executable, and to load.json the load averages before and after it."""
    folder.mkdir(parents=True, exist_ok=True)
    loads = folder / "load.json"
    for executable in executables:
        name, before = Path(executable).name, os.getloadavg()
        out = folder / f"{name}.json"
        subprocess.run([executable, *OPTIONS, f"--benchmark_out={out}"], check=True, stdout=subprocess.DEVNULL)
        known = json.loads(loads.read_text()) if loads.exists() else {}
        loads.write_text(json.dumps(known | {name: {"before": before, "after": os.getloadavg()}}))


@dataclass(frozen=True)
class Run:
    """One executable's."""
    context: dict
    load: dict[str, list[float]]  # "before" and "after"


class Results:
    """Figures by name, as in `Match/tidemill`, and argument, 0 if it has none."""

    def __init__(self, folder: Path, of_repetitions: Callable[[Iterable[float]], float] = statistics.median):
        self._choose = of_repetitions
        loads = json.loads((folder / "load.json").read_text())
        self.executables: dict[str, Run] = {}
        self._runs: dict[tuple[str, int], list[dict]] = {}
        self._errors: dict[tuple[str, int], str] = {}
        for file in sorted(folder.glob("*_bench.json")):
            content = json.loads(file.read_text())
            self.executables[file.stem] = Run(content["context"], loads[file.stem])
            for run in content["benchmarks"]:
                if run["run_type"] != "iteration":
                    continue
                group, variant, *rest = run["run_name"].split("/")
                key = f"{group}/{variant}", int(rest[0]) if rest and rest[0].isdigit() else 0
                if run.get("error_occurred"):
                    self._errors[key] = run["error_message"]
                else:
                    self._runs.setdefault(key, []).append(run)

    def ns(self, name: str, argument: int = 0) -> float | None:
        """CPU time; wall time where the benchmark is about that, or itself has timed a part of each round."""
        runs = self._runs.get((name, argument))
        if runs is None:
            return None
        scale = {"ns": 1, "us": 1e3, "ms": 1e6}
        kind = "real_time" if runs[0]["run_name"].endswith(("/manual_time", "/real_time")) else "cpu_time"
        return self._choose(run[kind] * scale[run["time_unit"]] for run in runs)

    def counter(self, name: str, argument: int, counter: str) -> float:
        return self._choose(run[counter] for run in self._runs[name, argument])

    def error(self, name: str, argument: int = 0) -> str:
        """Why there are no figures."""
        return self._errors.get((name, argument), "not measured")

    def arguments(self, name: str) -> list[int]:
        return sorted(argument for known, argument in self._runs if known == name)
