# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark executables and reads what they wrote."""
import json
import os
import statistics
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

# In repetitions that are mixed at random, so that a busy moment of the machine does not hit one benchmark alone.
OPTIONS = ["--benchmark_repetitions=5", "--benchmark_min_time=0.05", "--benchmark_enable_random_interleaving=true",
           "--benchmark_display_aggregates_only=true", "--benchmark_out_format=json"]


def measure(executables: list[str], folder: Path) -> None:
    """Writes one JSON for each executable, and the load averages before the first and after the last of them."""
    folder.mkdir(parents=True, exist_ok=True)
    before = os.getloadavg()
    for executable in executables:
        out = folder / (Path(executable).name + ".json")
        subprocess.run([executable, *OPTIONS, f"--benchmark_out={out}"], check=True, stdout=subprocess.DEVNULL)
    (folder / "load.json").write_text(json.dumps({"before": before, "after": os.getloadavg()}))


class Results:
    """Figures by name, as in `Match/tidemill`, and argument."""

    def __init__(self, folder: Path, of_repetitions: Callable[[Iterable[float]], float] = statistics.median):
        self._choose = of_repetitions
        self.load = json.loads((folder / "load.json").read_text())
        self.context = {}
        self._runs: dict[tuple[str, int], list[dict]] = {}
        for file in sorted(folder.glob("*_bench.json")):
            content = json.loads(file.read_text())
            self.context = self.context or content["context"]
            for run in content["benchmarks"]:
                if run["run_type"] == "iteration" and not run.get("error_occurred"):
                    group, variant, argument = run["run_name"].split("/")[:3]
                    self._runs.setdefault((f"{group}/{variant}", int(argument)), []).append(run)

    def ns(self, name: str, argument: int) -> float | None:
        """CPU time; wall time where the benchmark itself has timed a part of each round."""
        runs = self._runs.get((name, argument))
        if runs is None:
            return None
        scale = {"ns": 1, "us": 1e3, "ms": 1e6}
        kind = "real_time" if "manual_time" in runs[0]["run_name"] else "cpu_time"
        return self._choose(run[kind] * scale[run["time_unit"]] for run in runs)

    def counter(self, name: str, argument: int, counter: str) -> float:
        return self._choose(run[counter] for run in self._runs[name, argument])

    def arguments(self, name: str) -> list[int]:
        return sorted(argument for known, argument in self._runs if known == name)
