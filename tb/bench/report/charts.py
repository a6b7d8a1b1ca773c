# SPDX-License-Identifier: Apache-2.0
"""Curves of cost against sends outstanding, drawn by gnuplot."""
import subprocess
from dataclasses import dataclass
from pathlib import Path

from results import Results

OURS = ["#0b5fa5", "#2f9bd8", "#7fc4ea"]
RIVALS = ["#c23b22", "#e08a1e", "#6b8e23", "#7a5195"]
STYLE = """
set encoding utf8
set border 3 lc rgb "#444444"
set tics nomirror textcolor rgb "#222222"
set grid xtics ytics lc rgb "#dddddd" lt 1
set key outside right center Left reverse samplen 2 spacing 1.3 noenhanced
set logscale xy
set xlabel "sends outstanding"
set ylabel "ns per {each}"
set label 1 "{title}" at screen 0.02, screen 0.95 left font ",15" noenhanced
set tmargin 4
set xtics ("16" 16, "64" 64, "256" 256, "1,024" 1024, "4,096" 4096, "16,384" 16384, "65,536" 65536)
set xrange [12:90000]
"""


@dataclass(frozen=True)
class Chart:
    """What one picture, and the table below it, show. Ours come first; the first one is what the others are compared with."""
    file: str
    title: str
    each: str
    ours: dict[str, str]  # name of the benchmark -> label
    rivals: dict[str, str]

    def series(self) -> dict[str, str]:
        return self.ours | self.rivals


def cost_axis(costs: list[float]) -> str:
    """From 1, 2 or 5 times a power of ten to another; of a long axis the powers alone have labels."""
    tics = [digit * 10**power for power in range(-1, 8) for digit in (1, 2, 5)]
    low = max(tic for tic in tics if tic <= min(costs))
    high = min(tic for tic in tics if tic >= max(costs))
    chosen = [tic for tic in tics if low <= tic <= high]
    if high / low > 100:
        chosen = [tic for tic in chosen if str(tic).strip("0.") == "1"]
    labels = ", ".join(f'"{tic:,}" {tic}' for tic in chosen)
    return f"set yrange [{0.99 * low}:{1.01 * high}]\nset ytics ({labels})"


def draw(chart: Chart, results: Results, path: Path, terminal: str = "svg") -> None:
    size = "size 960,460 font 'DejaVu Sans,12'"
    script = [f"set terminal {terminal} {size}" + (" background rgb 'white'" if terminal == "svg" else ""),
              f"set output '{path}'", STYLE.replace("{each}", chart.each).replace("{title}", chart.title)]
    curves = []
    styles = [(color, 3, 7) for color in OURS[:len(chart.ours)]] + [(color, 2, 5) for color in RIVALS]
    costs = [results.ns(name, n) for name in chart.series() for n in results.arguments(name)]
    script.append(cost_axis(costs))
    for i, ((name, label), (color, width, point)) in enumerate(zip(chart.series().items(), styles)):
        rows = "\n".join(f"{n} {results.ns(name, n)}" for n in results.arguments(name))
        script.append(f"$curve{i} << END\n{rows}\nEND")
        curves.append(f"$curve{i} with linespoints lw {width} pt {point} ps 0.7 lc rgb '{color}' title \"{label}\"")
    script.append("plot " + ", ".join(curves))
    subprocess.run(["gnuplot"], input="\n".join(script), text=True, check=True)
    if terminal == "svg":
        prolog, picture = path.read_text().split("\n", 1)
        path.write_text(f"{prolog}\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n{picture}")
