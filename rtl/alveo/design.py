# SPDX-License-Identifier: Apache-2.0
"""What is linked into a card: the kernels with their interfaces and registers, each read from its own source."""
import dataclasses
import pathlib
import tomllib

import interfaces
from interfaces import Interface, Kernel
from platforms import CardBuildError

SHELL = "tidemill_shell"  # the kernel that the runtime looks for in an xclbin
POINTER = "index_base"    # the address that makes m_axi a memory interface of the kernel to v++


@dataclasses.dataclass(frozen=True)
class Register:
    name: str
    offset: int
    bits: int


@dataclasses.dataclass(frozen=True)
class Design:
    shell: Kernel
    bank: Kernel
    arbiter: Kernel
    banks: int
    clock_khz: int
    registers: tuple[Register, ...]
    register_bytes: int

    def units(self) -> dict[str, Kernel]:
        """Compute units by the names that v++ gives them."""
        counts = ((self.shell, 1), (self.arbiter, 1), (self.bank, self.banks))
        return {f"{kernel.name}_{i + 1}": kernel for kernel, count in counts for i in range(count)}


def registers_of(abi: dict) -> tuple[Register, ...]:
    """Registers that stand alone, the pointer's two halves as one of 64 bits. Of arrays v++ knows nothing."""
    alone = {r["name"]: r["offset"] for r in abi["register"] if r.get("count", 1) == 1}
    low, high = alone.pop(f"{POINTER}_low"), alone.pop(f"{POINTER}_high")
    if high != low + 4:
        raise CardBuildError(f"the halves of {POINTER} are at {low:#x} and {high:#x}: no register of 64 bits")
    found = [Register(name, offset, 32) for name, offset in alone.items()] + [Register(POINTER, low, 64)]
    return tuple(sorted(found, key=lambda r: r.offset))


def load(root: pathlib.Path) -> Design:
    shell = (root / "rtl/shell/tidemill_shell.sv").read_text()
    abi = tomllib.loads((root / "rtl/abi/abi.toml").read_text())
    return Design(
        shell=interfaces.rtl_kernel(SHELL, root / "rtl/alveo/tidemill_shell_kernel.v"),
        bank=interfaces.hls_kernel(root / "hls/kernels/bank_kernel.cpp"),
        arbiter=interfaces.hls_kernel(root / "hls/kernels/arbiter_kernel.cpp"),
        banks=1 << interfaces.parameter(shell, "BankBits"),
        clock_khz=interfaces.parameter(shell, "ClockKhz"),
        registers=registers_of(abi),
        register_bytes=abi["registers"]["bytes"])


def far_end(design: Design, stream: Interface) -> tuple[str, str]:
    """The compute unit and stream at the other end of a stream of the shell, by name: bank3_events, arbiter_actions."""
    kernel, _, name = stream.name.rpartition("_")
    if kernel == "arbiter":
        return f"{design.arbiter.name}_1", name
    return f"{design.bank.name}_{int(kernel.removeprefix('bank')) + 1}", name
