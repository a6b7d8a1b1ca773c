# SPDX-License-Identifier: Apache-2.0
"""The platforms of platforms.toml, and what platforminfo says of an installed one."""
import dataclasses
import pathlib
import re
import tomllib

TABLE = pathlib.Path(__file__).with_name("platforms.toml")


class CardBuildError(Exception):
    """The card build cannot go on; the text says why and what to do."""


@dataclasses.dataclass(frozen=True)
class Platform:
    name: str
    option: str               # what the tools are given: the name, or the path of an .xpfm
    card: str
    part: str
    slrs: int
    memories: dict[str, int]  # tag -> number of banks
    host_memory: str
    shell: str
    banks: dict[str, int]     # SLR -> banks placed there

    def has_bank(self, bank: str) -> bool:
        """Is this the name of a memory bank, or a range of them: HOST[0], HBM[0:31]?"""
        match = re.fullmatch(r"(\w+)\[(\d+)(?::(\d+))?\]", bank)
        if match is None or match[1] not in self.memories:
            return False
        first, last = int(match[2]), int(match[3] or match[2])
        return first <= last < self.memories[match[1]]

    @property
    def ring_memory(self) -> str:
        """Where the shell's rings are: with the host, or on a card that reaches no memory of the host in its own."""
        return next(f"{tag}[0]" for tag in ("HOST", "HBM", "DDR") if tag in self.memories)

    def has_slr(self, slr: str) -> bool:
        return slr in self.slr_names()

    def slr_names(self) -> list[str]:
        return [f"SLR{i}" for i in range(self.slrs)]


def load(table: pathlib.Path = TABLE) -> dict[str, Platform]:
    with table.open("rb") as file:
        specs = tomllib.load(file)
    try:
        return {name: Platform(name, name, **spec) for name, spec in specs.items()}
    except TypeError as error:
        raise CardBuildError(f"{table}: an entry lacks a key or has one too many: {error}") from error


def listing(known: dict[str, Platform]) -> str:
    return "\n".join(f"  {name}" for name in known)


def find(option: str, known: dict[str, Platform]) -> Platform:
    """By name, or by path of its .xpfm."""
    name = pathlib.Path(option).stem if option.endswith(".xpfm") else option
    if name not in known:
        raise CardBuildError(f"platform '{name}' is not in {TABLE}. Known:\n{listing(known)}\n"
                             "For another one, add what `platforminfo` says of it to that file.")
    return dataclasses.replace(known[name], option=option)


def refuse_other(platform: Platform, said: str) -> None:
    """Holds the table against the output of platforminfo."""
    slrs = re.search(r"Valid SLRs:\s*([SLR0-9, ]+)", said)
    if slrs is not None and sorted(re.findall(r"SLR\d+", slrs[1])) != platform.slr_names():
        raise CardBuildError(f"platform '{platform.name}' has {slrs[1].strip()}, but {TABLE.name} says "
                             f"{platform.slrs} SLRs")
    tag = platform.ring_memory.partition("[")[0]
    if re.search(rf"\b{tag}\b", said) is None:
        raise CardBuildError(f"platforminfo lists no {tag} memory for platform '{platform.name}' ({TABLE.name} expected "
                             f"it: {platform.host_memory}). Take {tag} out of its `memories` there: the rings go to the "
                             "next memory it has.")
