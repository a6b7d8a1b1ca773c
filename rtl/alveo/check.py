# SPDX-License-Identifier: Apache-2.0
"""Holds what Vitis is told against the sources it was made from. Reads the written files again, so it can be wrong only
where writer and reader are wrong alike. Every finding is a line; no findings is agreement."""
import collections
import re
from xml.etree import ElementTree

import design as designs
import interfaces
from design import Design
from interfaces import Kernel
from platforms import Platform


def header_registers(header: str) -> dict[str, int]:
    """Offsets in the generated C++ header; the size of the register file is under kBytes."""
    text = re.search(r"namespace reg \{(.*?)\}  // namespace reg", header, re.S)
    return {name: int(value, 0) for name, value in
            re.findall(r"inline constexpr uint32_t (\w+) = (0x[0-9a-f]+);", text[1] if text else "")}


def kernel_xml(text: str, kernel: Kernel, header: str) -> list[str]:
    """kernel.xml against the RTL's interfaces and the generated header."""
    found = []
    xml = ElementTree.fromstring(text.encode()).find("kernel")
    if xml.get("name") != kernel.name or xml.get("hwControlProtocol") != "user_managed":
        found.append(f"kernel.xml: kernel {xml.get('name')} with protocol {xml.get('hwControlProtocol')}, expected "
                     f"{kernel.name}, user_managed")
    ports = collections.Counter(p.get("name") for p in xml.iter("port"))
    wanted = {i.name: i for i in kernel.interfaces}
    found += [f"kernel.xml: port {name} is missing" for name in wanted if name not in ports]
    found += [f"kernel.xml: port {name} stands {n} times" for name, n in ports.items() if n > 1]
    registers = header_registers(header)
    if not registers:
        found.append("the generated header has no registers")
    for port in xml.iter("port"):
        name, rtl = port.get("name"), wanted.get(port.get("name"))
        if rtl is None:
            found.append(f"kernel.xml: port {name} is not in the RTL")
            continue
        stream = rtl.kind == interfaces.STREAM
        mode = {"master": "write_only", "slave": "read_only"}[rtl.mode] if stream else rtl.mode
        for key, value in (("mode", mode), ("dataWidth", str(rtl.bits)),
                           ("portType", "stream" if stream else "addressable")):
            if port.get(key) != value:
                found.append(f"kernel.xml: port {name} has {key} {port.get(key)}, the RTL {value}")
        if rtl.kind == interfaces.AXI_LITE:
            reach = int(port.get("range", "0"), 0)
            if not reach == registers.get("kBytes") == 1 << rtl.address_bits:
                found.append(f"kernel.xml: port {name} has range {reach:#x}, the header "
                             f"{registers.get('kBytes', 0):#x}, the RTL {1 << rtl.address_bits:#x}")
    for arg in xml.iter("arg"):
        name = arg.get("name")
        if arg.get("port") not in wanted:
            found.append(f"kernel.xml: argument {name} is of port {arg.get('port')}, which the RTL has not")
        elif arg.get("addressQualifier") != "4":
            expected = registers.get(f"{name}_low" if name == designs.POINTER else name)
            if expected != int(arg.get("offset"), 0):
                found.append(f"kernel.xml: argument {name} is at {arg.get('offset')}, in the header "
                             f"{'nowhere' if expected is None else hex(expected)}")
    return found


def link_config(text: str, design: Design, platform: Platform) -> list[str]:
    """The link configuration against the kernels' interfaces and the platform."""
    entries = re.findall(r"^(\w+)=(.*)$", text, re.M)
    of = {key: [value for k, value in entries if k == key] for key in ("nk", "slr", "sp", "stream_connect")}
    found = [f"link.cfg: unknown entry {k}" for k, _ in entries if k not in of and k != "kernel_frequency"]
    if f"kernel_frequency=0:{design.clock_khz // 1000}\n" not in text:
        found.append(f"link.cfg: the kernels' clock is not the shell's {design.clock_khz} kHz")
    units = design.units()
    counts = collections.Counter(kernel.name for kernel in units.values())
    if sorted(of["nk"]) != sorted(f"{name}:{n}" for name, n in counts.items()):
        found.append(f"link.cfg: nk is {of['nk']}, the design has {dict(counts)}")
    placed = collections.Counter(value.partition(":")[0] for value in of["slr"])
    found += [f"link.cfg: {unit} is placed {placed[unit]} times" for unit in units if placed[unit] != 1]
    found += [f"link.cfg: {value} names an SLR that {platform.name} has not" for value in of["slr"]
              if not platform.has_slr(value.partition(":")[2])]
    found += [f"link.cfg: {unit} is placed, but there is no such unit" for unit in placed if unit not in units]
    return found + memories(of["sp"], units, platform) + streams(of["stream_connect"], units)


def memories(entries: list[str], units: dict[str, Kernel], platform: Platform) -> list[str]:
    wanted = {f"{unit}.{i.name}" for unit, kernel in units.items() for i in kernel.of_kind(interfaces.AXI)}
    mapped = collections.Counter(value.partition(":")[0] for value in entries)
    found = [f"link.cfg: {name} is mapped to memory {mapped[name]} times" for name in wanted if mapped[name] != 1]
    found += [f"link.cfg: {name} is mapped to memory, but no memory interface" for name in mapped if name not in wanted]
    for value in entries:
        bank = value.partition(":")[2]
        if not platform.has_bank(bank):
            found.append(f"link.cfg: memory bank {bank} does not exist on {platform.name}")
        elif bank != platform.ring_memory:
            found.append(f"link.cfg: {value}: on {platform.name} the rings are to be in {platform.ring_memory}")
    return found


def streams(entries: list[str], units: dict[str, Kernel]) -> list[str]:
    """Every stream of every unit is connected once, from a master to a slave of the same width."""
    ends = {f"{unit}.{i.name}": i for unit, kernel in units.items() for i in kernel.of_kind(interfaces.STREAM)}
    connected = collections.Counter(end for value in entries for end in value.split(":"))
    found = [f"link.cfg: stream {end} is connected {connected[end]} times" for end in ends if connected[end] != 1]
    found += [f"link.cfg: stream {end} does not exist" for end in connected if end not in ends]
    for value in entries:
        pair = [ends.get(end) for end in value.split(":")]
        if len(pair) != 2:
            found.append(f"link.cfg: stream_connect={value} does not have two ends")
        elif None not in pair:
            if (pair[0].mode, pair[1].mode) != ("master", "slave"):
                found.append(f"link.cfg: {value} goes from a {pair[0].mode} to a {pair[1].mode}")
            if pair[0].bits != pair[1].bits:
                found.append(f"link.cfg: {value} joins {pair[0].bits} and {pair[1].bits} bits")
    return found
