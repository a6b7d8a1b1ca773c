# SPDX-License-Identifier: Apache-2.0
"""Wall time of whole programs: real ones on ibsim, and one of ours on each device."""
from results import Results
from tables import table, text, times

SHIM, FLOOD, UP = "ibsim's own shim (umad2sim)", "ibping_flood", "subnet_up"
PLACES = {"all cores": "", "one core": "_one_core"}
DEPTHS = [1, 64]


def _ratio(numerator: float | None, denominator: float | None) -> str:
    return "-" if numerator is None or denominator is None else times(numerator / denominator)


def _rate(r: Results, name: str, argument: int = 0) -> str:
    """Round trips per second, or why there are none."""
    cost = r.ns(name, argument)
    return r.error(name, argument) if cost is None else f"{1e9 / cost:,.0f}"


def _rates(r: Results, fastest: Results, name: str, baseline: str, argument: int = 0) -> list[str]:
    """Rate and its ratio to the baseline's: of medians, then of the fastest repetitions."""
    return [cell for of in (r, fastest)
            for cell in (_rate(of, name, argument), _ratio(of.ns(baseline, argument), of.ns(name, argument)))]


def _seconds(r: Results, name: str) -> str:
    cost = r.ns(name)
    return r.error(name) if cost is None else f"{cost / 1e9:.2f} s"


def clients(r: Results) -> str:
    if "clients_bench" not in r.executables:
        return ""
    rows = []
    for label, name in ((SHIM, "umad2sim"), ("Tidemill, `soft:`", "tidemill"), ("Tidemill, `cosim:`", "cosim")):
        row = [label]
        for cores in PLACES.values():
            ours, theirs = f"{FLOOD}/{name}{cores}", f"{FLOOD}/umad2sim{cores}"
            row += [_rate(r, ours), _ratio(r.ns(theirs), r.ns(ours))]
        rows.append(row)
    head = ["`ibping -f`, round trips per second", *(cell for place in PLACES for cell in (place, "to the shim"))]
    flood = table(head, rows)
    rows = []
    for smps in (0, 4):
        for place, cores in PLACES.items():
            ours, theirs = f"{UP}/tidemill_maxsmps_{smps}{cores}", f"{UP}/umad2sim_maxsmps_{smps}{cores}"
            rows.append([f"`--maxsmps {smps}`, {place}", _seconds(r, ours), _seconds(r, theirs),
                         _ratio(r.ns(ours), r.ns(theirs))])
    up = table(["opensm to SUBNET UP, 560 nodes", "Tidemill, `soft:`", SHIM, "time of ours to the shim's"], rows)
    wake = [f"{(r.ns(f'handover/{cores}') or 0) / 1e3:,.0f} us" for cores in ("one_core", "two_cores")]
    return f"""
## Real programs

{text('''Unchanged programs of the distribution on ibsim: once through the drop-in [libibumad](libibumad.md), once
through the shim that ibsim brings, preloaded before the system's libibumad. Program, library and ibsim share the
cores. A flood of ibping is 5,000 round trips, 500 through `cosim:`; its time is the process's, less that of a flood of
one, because ibping's own clock is wrong (it divides nanoseconds by 10,000). The time of opensm is until its log says
that the subnet is up. The server of ibping is ours each time: under the shim `ibping -S` ends with a segmentation
fault.''')}
{flood}
{up}
{text(f'''A sleeping thread that is woken by another and wakes it takes this machine {wake[0]} on one core, {wake[1]}
across two (`handover`, two threads and two pipes). The shim
was not measured on one core with `--maxsmps 0`.''')}"""


def devices(r: Results, fastest: Results) -> str:
    if "devices_bench" not in r.executables:
        return ""
    rows = []
    for depth in DEPTHS:
        for device in ("soft", "cosim", "xrt"):
            name = f"round_trips/{device}"
            simulated = device != "soft" and r.ns(name, depth) is not None
            rows.append([f"`{device}:`", str(depth), *_rates(r, fastest, name, "round_trips/cosim", depth),
                         *(f"{r.counter(name, depth, c):,.0f}" if simulated else "-" for c in ("cycles/s", "cycles"))])
    head = ["device", "on their way", "round trips per second", "to `cosim:`", "fastest", "to `cosim:`",
            "simulated cycles per second", "cycles per round trip"]
    return f"""
## The same program on each device

{text('''`tb/bench/devices` keeps 1 or 64 echo requests on their way over a simulated fabric that answers at once, by
the public interface alone: each completion posts the next, the device's own thread makes progress, time is the steady
clock. `soft:` is the engine in the process; `cosim:` is the card's RTL simulated in the process, `xrt:` the same RTL
behind XRT's hardware emulation, in a process of its own that XRT reaches by messages. No card has been measured: what
the simulated ones show is what a run on them costs, not what a card does.''')}
{table(head, rows)}
{text('''Ratios are of medians, then of the fastest repetitions. Cycles per round trip include what the simulated PCIe link takes and what the card waits for the
host. XRT's device process stays loaded beside the benchmarks of the other devices and follows the clock there, on the
second core.''')}"""
