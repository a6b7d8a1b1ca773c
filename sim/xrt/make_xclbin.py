#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes an xclbin for XRT's hardware emulation: the container of /usr/include/xrt/xclbin.h with the kernels' XML, IP layout,
memory topology, connectivity, and the device process with its start script as BITSTREAM. The same input gives the same
bytes; the UUID is a digest of them."""
import argparse
import hashlib
import io
import pathlib
import struct
import uuid
import zipfile

BITSTREAM, EMBEDDED_METADATA, MEM_TOPOLOGY, CONNECTIVITY, IP_LAYOUT = 0, 2, 6, 7, 8  # enum axlf_section_kind
MEM_DDR4, MEM_DRAM, IP_KERNEL, AP_CTRL_NONE = 1, 2, 1, 2
HEADER_BYTES, SECTION_BYTES = 456, 40  # sizeof(axlf) without its first section, sizeof(axlf_section_header)

# name, instance, base address, bytes of registers, interrupt; sim/xrt/session.hpp has the addresses, too
KERNELS = {
    "tidemill_shell": ("tidemill_shell_1", 0x1800000, 0x10000, True),
    "tidemill_emulation": ("tidemill_emulation_1", 0x1810000, 0x1000, False),
}
# tag, type, base address, KiB
MEMORIES = [("bank0", MEM_DDR4, 0, 4 << 20), ("HOST[0]", MEM_DRAM, 0x2000000000, 1 << 20)]


def metadata(platform, kernels):
    vendor, board, name, major, minor = platform.rsplit("_", 4)
    text = ""
    for kernel, (instance, base, size, interrupt) in kernels.items():
        # An argument is the pointer that XRT connects to a memory; the registers are ours.
        master = kernel == "tidemill_shell"
        text += f"""
        <kernel name="{kernel}" language="ip_c" vlnv="tidemill:kernel:{kernel}:1.0" attributes="" preferredWorkGroupSizeMultiple="0" workGroupSize="1" interrupt="{str(interrupt).lower()}" hwControlProtocol="user_managed">
          <port name="S_AXI" mode="slave" range="{size:#x}" dataWidth="32" portType="addressable" base="0x0"/>"""
        if master:
            text += """
          <port name="M_AXI" mode="master" range="0xFFFFFFFFFFFFFFFF" dataWidth="512" portType="addressable" base="0x0"/>
          <arg name="index_base" addressQualifier="1" id="0" port="M_AXI" size="0x8" offset="0x60" hostOffset="0x0" hostSize="0x8" type="void*"/>"""
        text += f"""
          <instance name="{instance}"><addrRemap base="{base:#x}" port="S_AXI"/></instance>
        </kernel>"""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<project name="tidemill">
  <platform vendor="{vendor}" boardid="{board}" name="{name}" featureRomTime="0">
    <version major="{major}" minor="{minor}"/>
    <device name="fpga0" fpgaDevice="" addrWidth="0">
      <core name="OCL_REGION_0" target="hw_em" type="clc_region" clockFreq="0MHz" numComputeUnits="{len(kernels)}">
        <kernelClocks>
          <clock port="DATA_CLK" frequency="250.0MHz"/>
          <clock port="KERNEL_CLK" frequency="500.0MHz"/>
        </kernelClocks>{text}
      </core>
    </device>
  </platform>
</project>
""".encode()


def ip_layout(kernels):
    body = struct.pack("<i4x", len(kernels))
    for kernel, (instance, base, _, interrupt) in kernels.items():
        body += struct.pack("<IIQ64s", IP_KERNEL, AP_CTRL_NONE << 8 | interrupt, base, f"{kernel}:{instance}".encode())
    return body


def memory_topology():
    body = struct.pack("<i4x", len(MEMORIES))
    for tag, kind, base, kib in MEMORIES:
        body += struct.pack("<BB6xQQ16s", kind, 1, kib, base, tag.encode())
    return body


def connectivity(kernels, memory):
    bank = [tag for tag, *_ in MEMORIES].index(memory)
    links = [(0, i, bank) for i, kernel in enumerate(kernels) if kernel == "tidemill_shell"]
    return struct.pack("<i", len(links)) + b"".join(struct.pack("<iii", *link) for link in links)


def simulator(files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
        for file in files:
            entry = zipfile.ZipInfo(f"behav_waveform/xsim/{file.name}", (2000, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100755 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, file.read_bytes(), compresslevel=1)
    return archive.getvalue()


def container(platform, sections):
    table_end = HEADER_BYTES + SECTION_BYTES * len(sections)
    offset = (table_end + 7) // 8 * 8
    table, body = b"", bytes(offset - table_end)
    for kind, data in sections:
        table += struct.pack("<I16s4xQQ", kind, b"", offset, len(data))
        padded = data + bytes(-len(data) % 8)
        body += padded
        offset += len(padded)
    digest = hashlib.sha256(table + body).digest()
    identity = uuid.UUID(bytes=digest[:16]).bytes
    # axlf: magic, signature length, reserved, key block, unique ID; then axlf_header.
    head = b"xclbin2\0" + struct.pack("<i", -1) + b"\xff" * (28 + 256) + bytes(8)
    head += struct.pack("<QQQHBBHH16x64s16s16sI4x", offset, 0, 0, 0, 2, 13, 4, 0, platform.encode(), identity, b"", len(sections))
    assert len(head) == HEADER_BYTES
    return head + table + body


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--platform", default="tidemill_emulation_shell_1_0", help="VENDOR_BOARD_NAME_MAJOR_MINOR")
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="only these kernels; all by default")
    parser.add_argument("--memory", choices=[tag for tag, *_ in MEMORIES], default="HOST[0]", help="what the shell's master is connected to")
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="simulate.sh and the device process")
    arguments = parser.parse_args()
    kernels = {k: v for k, v in KERNELS.items() if not arguments.kernel or k in arguments.kernel}
    arguments.out.write_bytes(container(arguments.platform, [
        (BITSTREAM, simulator(arguments.files)),
        (EMBEDDED_METADATA, metadata(arguments.platform, kernels)),
        (MEM_TOPOLOGY, memory_topology()),
        (IP_LAYOUT, ip_layout(kernels)),
        (CONNECTIVITY, connectivity(kernels, arguments.memory)),
    ]))


if __name__ == "__main__":
    main()
