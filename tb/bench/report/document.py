# SPDX-License-Identifier: Apache-2.0
"""docs/numbers.md, from the figures of the last run of each executable."""
from charts import Chart
from content import ENGINE, GOALS, OUTSTANDING, RUNTIME
from programs import clients, devices
from results import OPTIONS, Results
from tables import ns, table, text, times

# The executables, and what this page has of each.
SECTIONS = {"engine_bench": "the engine, goals, lateness of timers", "runtime_bench": "the runtime, goals",
            "clients_bench": "real programs", "devices_bench": "the same program on each device"}


def goals(r: Results, fastest: Results) -> str:
    rows = []
    for goal in GOALS:
        value = goal.figure(r)
        rows.append([goal.what, goal.limit, goal.show(value), "yes" if goal.met(value) else "**no**",
                     goal.show(goal.figure(fastest))])
    return table(["goal", "limit", "measured", "met", "fastest repetitions"], rows)


def costs(chart: Chart, r: Results) -> str:
    """Costs in ns; behind each but the first the ratio to the first."""
    first = next(iter(chart.ours))
    rows = []
    for name, label in chart.series().items():
        row = [label]
        for n in OUTSTANDING:
            value = r.ns(name, n)
            ratio = "" if name == first or value is None else f" ({times(value / r.ns(first, n))})"
            row.append(ns(value) + ratio)
        rows.append(row)
    return table([f"ns per {chart.each}"] + [f"{n:,}" for n in OUTSTANDING], rows)


def section(chart: Chart, r: Results) -> str:
    return f"### {chart.title}\n\n![{chart.title}](numbers/{chart.file}.svg)\n\n{costs(chart, r)}\n"


def lateness(r: Results) -> str:
    rows = []
    for name, bank in (("Lateness/card_bank", "card (8,192 slots)"), ("Lateness/host_bank", "host (65,536 slots)")):
        for n in r.arguments(name):
            c = {key: r.counter(name, n, key) for key in ("steps_before", "steps", "late_ticks", "late_cycles", "late_us")}
            rows.append([bank, f"{n:,}", f"{c['steps_before']:,.0f}", f"{c['steps']:,.0f}", f"{c['late_ticks']:,.0f}",
                         f"{c['late_cycles']:,.0f}", f"{c['late_us']:,.1f}"])
    fire, move = (r.counter("Lateness/card_bank", 1, f"cycles_to_{what}") for what in ("fire", "move"))
    return text(f"""`hls/cycle_table.hpp` declares {fire:.0f} cycles for a step that fires a timer and {move:.0f} for any other.
        The timers are armed together, 10,000 ticks ahead, and the bank has nothing else to do. Steps before the deadline
        advance the wheel and move timers down ahead of their time. Late is the last timer, from the start of its tick to
        the end of its step, at 250 MHz. 65,536 equal deadlines are 8,192 in each of a card's eight banks, which work side
        by side; the last line is what one bank alone does to them. A list is spread 448 ticks ahead of its time: where
        there are many more steps than deadlines, its timers could not all be moved down in those ticks.""") + "\n" + table(
            ["bank", "equal deadlines", "steps before", "steps", "late, ticks", "late, cycles", "late, us"], rows)


def others(r: Results) -> str:
    posters = "PostByThreads/tidemill"
    rows = [["Tidemill runtime", ns(r.ns("Loss/tidemill", 65536))],
            ["one lock and lists", ns(r.ns("Loss/kernel_like", 65536))]]
    loss = table(["65,536 outstanding, 1 % of MADs lost on each way, tries again after 5 ms", "ns per transaction"], rows)
    threads = table(["threads posting on four agents", "ns per post, wall time", "to one thread", "ns per post, CPU time", "to one thread"],
                    [[str(n), ns(r.ns(posters, n)), f"{r.ns(posters, n) / r.ns(posters, 1):.2f} x",
                      ns(r.counter(posters, n, "cpu_ns")),
                      f"{r.counter(posters, n, 'cpu_ns') / r.counter(posters, 1, 'cpu_ns'):.2f} x"]
                     for n in r.arguments(posters)])
    deregister = table(["sends outstanding", "deregister, us", "ns per send"],
                       [[f"{n:,}", f"{r.ns('Deregister/tidemill', n) / 1e3:,.0f}", ns(r.ns("Deregister/tidemill", n) / n)]
                        for n in r.arguments("Deregister/tidemill")])
    return f"""### Runtime: loss

{loss}
### Runtime: threads

{threads}
{text(f'''The same 65,536 posts of a round, divided among the threads. There are {r.executables['runtime_bench'].context['num_cpus']} cores, so four threads
never run at once; what a machine with more cores would show is not measured. CPU time is that of all posting threads together.
A post costs more here than in the table above, where the thread that posts is the one that polls.''')}
### Runtime: deregister

{deregister}
{text('''The device flushes an agent by looking at each of its 65,536 slots, so an agent with few sends takes as long as the
look; each send outstanding adds its completion and its callback. (The goal of 1 ms for 65,536 is device time of a card, which
this is not.)''')}"""


def runs(r: Results) -> str:
    """When each executable ran, and what else did."""
    rows = []
    for name, sections in SECTIONS.items():
        if name in r.executables:
            run = r.executables[name]
            before, after = (" / ".join(f"{value:.2f}" for value in run.load[when]) for when in ("before", "after"))
            date, time = run.context["date"].split("T")
            rows.append([f"`{name}`", sections, f"{date} {time[:5]}", before, after])
    return table(["executable", "sections", "run on", "load before", "load after"], rows)


def document(r: Results, fastest: Results) -> str:
    """`r` has medians of the repetitions, `fastest` the fastest of them."""
    c, options = r.executables["engine_bench"].context, " ".join(OPTIONS)
    machine = text(f"""{c['processor']}, {c['num_cpus']} cores at {c['mhz_per_cpu'] / 1e3:.2f} GHz, {c['compiler']}, Release.
        Every section comes from one run of one executable. Load averages are of 1, 5 and 15 minutes: the engine's and the runtime's
        benchmarks are 1 of that themselves, real programs and simulated cards up to 2, the rest was other work on the same cores. Absolute
        figures of a shared machine wander by tens of percent from run to run: the ratios within a run are what counts.""")
    return f"""<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by tb/bench/report; edit that. -->
# Numbers

{machine}
{runs(r)}
```sh
cmake --preset release -DTIDEMILL_BENCHMARKS=ON && cmake --build build/release --target numbers
```

{text(f'''It runs each executable with `{options}` and writes this page. Figures are medians of the repetitions: CPU time, or wall
time where only a part of each round is timed (post, complete, deregister, threads) and of real programs and devices.''')}
To run some of them anew and keep the last figures of the others, name them:

```sh
python3 -B tb/bench/report --json build/release/tb/bench/numbers --docs docs build/release/tb/bench/devices_bench
```

## Goals

{goals(r, fastest)}
{text('''What is met is decided by medians. Other work on the cores only adds time, so the fastest repetition of each benchmark
is nearer to an idle machine; where the last two columns disagree about the limit, this machine does not settle it.''')}
## The engine against other structures

{text('''In each turn a random send of those outstanding is answered and a new one takes its place. Ours is the whole bank with
states, tries, credits, window and tick events; the rivals match and time only. In parentheses: cost to that of the first
line.''')}
{"".join(section(chart, r) for chart in ENGINE)}{text('''With few timers far apart most of an expiry is the wheel's walk
through the empty ticks between them, up to 64 a step: 16 timers in 100,000 ticks are dear to expire, but six
milliseconds of real time lie between two of them.''')}
## The runtime against one lock and lists

{text('''The baseline (`tb/bench/runtime/kernel_like.hpp`) is a MAD layer on the CPU as the kernel's is built: one lock, linear
search for the send of a response, a sorted list as timer queue. It copies less and has no windows, deadlines, cancel, duplicate
check, traces or statistics. Both run over the same wires, with both callbacks, polled by one thread. Over the simulated fabric
responses come at once and in order, so its searches end at the first entry: that is the best case of lists. When sends really
wait and answers come in any order, the search is what it costs.''')}
{"".join(section(chart, r) for chart in RUNTIME)}{text('''The baseline at 16,384 and 65,536 waiting sends has warmed up for two
seconds only: much of its list still stands in the order of memory, which favours it. Its completions of 65,536 sends are left
out: each round takes many seconds.''')}
{others(r)}
## How late a burst of timers is

{lateness(r)}{clients(r)}{devices(r, fastest)}"""
