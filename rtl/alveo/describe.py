# SPDX-License-Identifier: Apache-2.0
"""Writes what Vitis is told of the design: kernel.xml of the shell, facts for its packaging, configurations of v++."""
import pathlib
from xml.etree import ElementTree

import design as designs
import interfaces
from design import Design
from platforms import CardBuildError, Platform

VENDOR, LIBRARY, VERSION = "tidemill", "kernel", "1.0"


def kernel_xml(design: Design) -> str:
    """Ports and registers. No control protocol of XRT's: the runtime reads and writes registers through xrt::ip."""
    root = ElementTree.Element("root", versionMajor="1", versionMinor="6")
    kernel = ElementTree.SubElement(root, "kernel", {
        "name": design.shell.name, "language": "ip_c", "vlnv": f"{VENDOR}:{LIBRARY}:{design.shell.name}:{VERSION}",
        "attributes": "", "preferredWorkGroupSizeMultiple": "0", "workGroupSize": "1", "interrupt": "true",
        "hwControlProtocol": "user_managed"})
    ports = ElementTree.SubElement(kernel, "ports")
    for i in design.shell.interfaces:
        if i.kind == interfaces.STREAM:
            mode = "write_only" if i.mode == "master" else "read_only"
            ElementTree.SubElement(ports, "port", name=i.name, mode=mode, dataWidth=str(i.bits), portType="stream")
        else:
            reach = (1 << i.address_bits) - 1 if i.kind == interfaces.AXI else 1 << i.address_bits
            ElementTree.SubElement(ports, "port", name=i.name, mode=i.mode, range=f"0x{reach:X}", dataWidth=str(i.bits),
                                   portType="addressable", base="0x0")
    args = ElementTree.SubElement(kernel, "args")
    control, = design.shell.of_kind(interfaces.AXI_LITE)
    memory, = design.shell.of_kind(interfaces.AXI)
    for number, register in enumerate(design.registers):
        pointer = register.name == designs.POINTER
        size = f"{register.bits // 8:#x}"
        ElementTree.SubElement(args, "arg", name=register.name, addressQualifier="1" if pointer else "0",
                               id=str(number), port=memory.name if pointer else control.name, size=size,
                               offset=f"{register.offset:#x}", hostOffset="0x0", hostSize=size,
                               type="void*" if pointer else "uint")
    for number, stream in enumerate(design.shell.of_kind(interfaces.STREAM), len(design.registers)):
        size = f"{stream.bits // 8:#x}"
        ElementTree.SubElement(args, "arg", name=stream.name, addressQualifier="4", id=str(number), port=stream.name,
                               size=size, offset="0x0", hostOffset="0x0", hostSize=size,
                               type=f"stream<ap_uint<{stream.bits}>>")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def package_facts(design: Design, sources: list[pathlib.Path], top: str, part: str) -> str:
    """Tcl variables for package_shell.tcl."""
    control, = design.shell.of_kind(interfaces.AXI_LITE)
    memory, = design.shell.of_kind(interfaces.AXI)
    facts = {
        "part": part, "kernel": design.shell.name, "top": top, "vendor": VENDOR, "library": LIBRARY, "version": VERSION,
        "control": control.name, "memory": memory.name, "pointer": designs.POINTER,
        "register_bytes": design.register_bytes,
        "interfaces": " ".join(i.name for i in design.shell.interfaces)}
    lines = [f"set {name} {{{value}}}" for name, value in facts.items()]
    lines += ["set sources {"] + [f"  {{{source}}}" for source in sources] + ["}"]
    lines += ["# name, offset, bits", "set registers {"]
    lines += [f"  {{{r.name} {r.offset:#x} {r.bits}}}" for r in design.registers] + ["}"]
    return "\n".join(lines) + "\n"


def hls_config(design: Design, kernel: str, setup: pathlib.Path) -> str:
    return (f"[hls]\nclock={design.clock_khz * 1000}:{kernel}\npre_tcl={setup}\n\n"
            f"[advanced]\nprop=kernel.{kernel}.kernel_flags=-std=c++17\n")


def placement(design: Design, platform: Platform) -> dict[str, str]:
    """SLR of each compute unit."""
    if sum(platform.banks.values()) != design.banks:
        raise CardBuildError(f"platform '{platform.name}' has places for {sum(platform.banks.values())} banks, the "
                             f"shell has {design.banks}: correct `banks` in platforms.toml")
    slrs = [slr for slr, count in platform.banks.items() for _ in range(count)]
    near = {unit: platform.shell for unit, kernel in design.units().items() if kernel is not design.bank}
    return near | {f"{design.bank.name}_{i + 1}": slr for i, slr in enumerate(slrs)}


def link_config(design: Design, platform: Platform) -> str:
    """How v++ joins the kernels on a platform."""
    shell = f"{design.shell.name}_1"
    memory, = design.shell.of_kind(interfaces.AXI)
    # Clock 0 is what ap_clk is. The shell makes its ticks of ClockKhz: another clock would be another time.
    lines = [f"kernel_frequency=0:{design.clock_khz // 1000}", "", "[connectivity]"]
    lines += [f"nk={kernel.name}:{count}" for kernel, count in
              ((design.shell, 1), (design.arbiter, 1), (design.bank, design.banks))]
    lines += [f"slr={unit}:{slr}" for unit, slr in placement(design, platform).items()]
    lines += [f"sp={shell}.{memory.name}:{platform.ring_memory}"]
    for stream in design.shell.of_kind(interfaces.STREAM):
        here, there = f"{shell}.{stream.name}", ".".join(designs.far_end(design, stream))
        lines.append(f"stream_connect={here}:{there}" if stream.mode == "master" else f"stream_connect={there}:{here}")
    return "\n".join(lines) + "\n"
