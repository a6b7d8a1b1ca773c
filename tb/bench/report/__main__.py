# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks, draws their curves and writes docs/numbers.md.

usage: python3 tb/bench/report --json <folder> --docs <folder> [--png <folder>] [<executable>...]

The executables named are run; of the others the figures of their last run are used. --png draws the curves a second
time, to look at.
"""
import argparse
from pathlib import Path

from charts import draw
from content import ENGINE, RUNTIME
from document import document
from results import Results, measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True, help="where the figures are kept")
    parser.add_argument("--docs", type=Path, required=True, help="numbers.md and numbers/*.svg are written here")
    parser.add_argument("--png", type=Path)
    parser.add_argument("executables", nargs="*")
    options = parser.parse_args()
    if options.executables:
        measure(options.executables, options.json)
    results = Results(options.json)
    if missing := {"engine_bench", "runtime_bench"} - results.executables.keys():
        parser.error(f"no figures in {options.json} of {', '.join(sorted(missing))}: run them too")
    pictures = options.docs / "numbers"
    pictures.mkdir(parents=True, exist_ok=True)
    for chart in ENGINE + RUNTIME:
        draw(chart, results, pictures / f"{chart.file}.svg")
        if options.png:
            options.png.mkdir(parents=True, exist_ok=True)
            draw(chart, results, options.png / f"{chart.file}.png", "pngcairo")
    (options.docs / "numbers.md").write_text(document(results, Results(options.json, min)))


if __name__ == "__main__":
    main()
