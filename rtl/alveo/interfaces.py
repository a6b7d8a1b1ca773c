# SPDX-License-Identifier: Apache-2.0
"""The interfaces of a kernel, read from its source: the wrapper's ports, or an HLS top's arguments and pragmas."""
import dataclasses
import pathlib
import re

from platforms import CardBuildError

AXI_LITE, AXI, STREAM = "AXI4-Lite", "AXI4", "AXI4-Stream"
LOOSE = {"ap_clk", "ap_rst_n", "interrupt"}  # known to v++ by name
STREAM_SIGNALS = {"tvalid", "tready", "tdata"}
MEMORY_SIGNALS = {c + s for c in ("aw", "w", "b", "ar", "r") for s in ("valid", "ready")} | {
    "awaddr", "araddr", "wdata", "wstrb", "bresp", "rdata", "rresp"}
CHANNELS = re.compile("a[wr](valid|ready|addr|id|len|size|burst|cache|prot|lock|qos)|w(valid|ready|data|strb|last)|"
                      "b(valid|ready|id|resp)|r(valid|ready|data|id|resp|last)")


@dataclasses.dataclass(frozen=True)
class Port:
    name: str
    direction: str  # input, output
    bits: int


@dataclasses.dataclass(frozen=True)
class Interface:
    name: str
    kind: str
    mode: str  # master, slave
    bits: int  # of data
    address_bits: int = 0


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    interfaces: tuple[Interface, ...]

    def of_kind(self, kind: str) -> list[Interface]:
        return [i for i in self.interfaces if i.kind == kind]


def ports_of(verilog: str, module: str) -> list[Port]:
    head = re.search(rf"\bmodule {module} \((.*?)\n\);", verilog, re.S)
    if head is None:
        raise CardBuildError(f"no module {module} with a port list in its source")
    found = re.findall(r"^\s*(input|output)\s+wire\s+(?:\[(\d+):0\]\s+)?(\w+),?\s*$", head[1], re.M)
    return [Port(name, direction, int(msb or 0) + 1) for direction, msb, name in found]


def group(ports: list[Port]) -> list[Interface]:
    """Ports by interface; every port must belong to one, because Vivado packages no others."""
    signals: dict[str, dict[str, Port]] = {}
    for port in ports:
        if port.name in LOOSE:
            continue
        prefix, _, signal = port.name.rpartition("_")
        if signal not in STREAM_SIGNALS and CHANNELS.fullmatch(signal) is None:
            raise CardBuildError(f"port {port.name} belongs to no interface: v++ links no such port")
        signals.setdefault(prefix, {})[signal] = port
    interfaces = []
    for name, of in signals.items():
        streams = set(of) <= STREAM_SIGNALS
        needed = STREAM_SIGNALS if streams else MEMORY_SIGNALS
        if not needed <= set(of):
            raise CardBuildError(f"interface {name} lacks {', '.join(sorted(needed - set(of)))}")
        kind = STREAM if streams else AXI if "awlen" in of else AXI_LITE
        mode = "master" if of["tvalid" if streams else "awvalid"].direction == "output" else "slave"
        interfaces.append(Interface(name, kind, mode, of["tdata" if streams else "wdata"].bits,
                                    0 if streams else of["awaddr"].bits))
    return interfaces


def rtl_kernel(name: str, source: pathlib.Path) -> Kernel:
    return Kernel(name, tuple(group(ports_of(source.read_text(), source.stem))))


def hls_kernel(source: pathlib.Path) -> Kernel:
    """The stream form of a kernel: its top is named like its file, every stream has a pragma, and it runs freely."""
    text, name = source.read_text(), source.stem
    top = re.search(rf'extern "C" void {name}\(([^)]*)\) {{\n(.*?)\n}}', text, re.S)
    if top is None:
        raise CardBuildError(f"{source}: no top {name}")
    modes = {port: mode for mode, port in re.findall(r"#pragma HLS INTERFACE mode=(\w+) port=(\w+)", top[2])}
    if modes.get("return") != "ap_ctrl_none":
        raise CardBuildError(f"{source}: {name} does not run freely (ap_ctrl_none): nobody would start it")
    interfaces = []
    for bits, stream in re.findall(r"hls::stream<ap_uint<(\d+)>>& (\w+)", top[1]):
        if modes.get(stream) != "axis":
            raise CardBuildError(f"{source}: stream {stream} has no pragma INTERFACE mode=axis")
        reads, writes = f"{stream}.read()" in top[2], f"{stream}.write(" in top[2]
        if reads == writes:
            raise CardBuildError(f"{source}: stream {stream} is read and written, or neither")
        interfaces.append(Interface(stream, STREAM, "slave" if reads else "master", int(bits)))
    if len(interfaces) != top[1].count("hls::stream") or len(modes) != len(interfaces) + 1:
        raise CardBuildError(f"{source}: {name} has arguments or pragmas that are no streams of ap_uint")
    return Kernel(name, tuple(interfaces))


def parameter(verilog: str, name: str) -> int:
    match = re.search(rf"parameter int unsigned {name} = (\d+)", verilog)
    if match is None:
        raise CardBuildError(f"the shell has no parameter {name}")
    return int(match[1])
