# SPDX-License-Identifier: Apache-2.0
"""Reads layouts, values and registers back out of the three generated texts. Shares no code with the generator."""
import re
import typing


class Field(typing.NamedTuple):
    name: str
    word: int
    lsb: int
    width: int
    enum: str | None  # by its name in CamelCase


class Abi(typing.NamedTuple):
    version: tuple[int, int]
    layouts: dict[str, tuple[int, list[Field]]]  # name in CamelCase: words, fields from bit 0 of word 0 upward
    enums: dict[str, tuple[tuple[int, str], ...]]  # name and values' names in CamelCase
    registers: dict[str, int]
    resets: dict[str, int]


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def one(pattern: str, text: str, what: str) -> re.Match:
    found = re.search(pattern, text, re.S)
    if not found:
        raise ValueError(f"cannot read {what}")
    return found


def read_cpp(text: str) -> Abi:
    """Word, bit and width come from the accessors' expressions, not from their comments."""
    version = tuple(int(one(rf"kVersion{part} = (\d+);", text, part)[1]) for part in ("Major", "Minor"))
    enums = {}
    for name, body in re.findall(r"enum class (\w+) : uint8_t \{\n(.*?)\};", text, re.S):
        enums[name] = tuple((int(value), camel(v)) for v, value in re.findall(r"^  (\w+) = (\d+),", body, re.M))
    layouts = {}
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.S | re.M):
        words = int(one(r"kBytes = (\d+);", body, f"size of {name}")[1]) // 8
        fields = []
        for kind, field, expression in re.findall(r"constexpr (\w+) (\w+)\(\) const \{ return (.*?); \}", body):
            put = one(rf"constexpr void {field}\({kind} v\) \{{ (.*?); \}}", body, f"setter of {name}.{field}")[1]
            fields.append(cpp_field(field, kind, expression, put, enums))
        layouts[name] = (words, sorted(fields, key=lambda f: (f.word, f.lsb)))
    registers = {camel(n): int(v, 16) for n, v in re.findall(r"constexpr uint32_t ([a-z]\w*) = (0x[0-9a-f]+);  ///<", text)}
    resets = {n: int(v, 16) for n, v in re.findall(r"constexpr uint32_t k(\w+)Reset = (0x[0-9a-f]+);", text)}
    return Abi(version, layouts, enums, registers, resets)


def cpp_field(name: str, kind: str, get: str, put: str, enums: dict) -> Field:
    word = int(one(r"w(\d+)", get, f"word of {name}")[1])
    shift, mask = re.search(r">> (\d+)\)", get), re.search(r"& (0x[0-9a-f]+)u", get)
    lsb = int(shift[1]) if shift else 0
    width = int(mask[1], 16).bit_length() if mask else 64
    if mask and int(mask[1], 16) != (1 << width) - 1:
        raise ValueError(f"{name}: the getter's mask {mask[1]} has holes")
    if width < 64:
        cleared = one(r"= \(w(\d+) & ~\(uint64_t\{(0x[0-9a-f]+)u\} << (\d+)\)\) \|.* << (\d+)\)$", put, f"setter of {name}")
        if (int(cleared[1]), int(cleared[2], 16), int(cleared[3]), int(cleared[4])) != (word, (1 << width) - 1, lsb, lsb):
            raise ValueError(f"{name}: getter and setter disagree")
    elif put != f"w{word} = static_cast<uint64_t>(v)":
        raise ValueError(f"{name}: getter and setter disagree")
    return Field(name, word, lsb, width, kind if kind in enums else None)


def read_sv(text: str) -> Abi:
    """The last member of a packed struct is at bit 0."""
    version = tuple(int(one(rf"Version{part} = (\d+);", text, part)[1]) for part in ("Major", "Minor"))
    enums, widths = {}, {}
    for msb, body, name in re.findall(r"typedef enum logic \[(\d+):0\] \{\n(.*?)\n  \} (\w+)_e;", text, re.S):
        enum = camel(name)
        values = re.findall(r"^    (\w+) = (\d+)'d(\d+),?$", body, re.M)
        if any(int(width) != int(msb) + 1 for _, width, _ in values) or any(not v.startswith(enum) for v, _, _ in values):
            raise ValueError(f"enum {name}: width or prefix of a value")
        enums[enum] = tuple((int(value), v.removeprefix(enum)) for v, _, value in values)
        widths[f"{name}_e"] = int(msb) + 1
    layouts = {}
    for bits, body, name in re.findall(r"Bits = (\d+);\n  typedef struct packed \{\n(.*?)\n  \} (\w+)_t;", text, re.S):
        fields, at = [], 0
        for line in reversed(body.split("\n")):
            kind, field = one(r"^    (.+) (\w+);$", line, f"member of {name}").groups()
            vector = re.fullmatch(r"logic \[(\d+):0\]", kind)
            width = widths[kind] if kind in widths else int(vector[1]) + 1 if vector else 1
            if not field.startswith("reserved"):
                fields.append(Field(field, at // 64, at % 64, width, camel(kind.removesuffix("_e")) if kind in widths else None))
            at += width
        if at != int(bits):
            raise ValueError(f"{name}: members have {at} bits, the layout {bits}")
        layouts[camel(name)] = (at // 64, fields)
    registers = {n: int(v, 16) for n, v in re.findall(r"logic \[15:0\] Reg(\w+) = 16'h([0-9a-f]+);", text)}
    resets = {n: int(v, 16) for n, v in re.findall(r"logic \[31:0\] Reg(\w+)Reset = 32'h([0-9a-f]+);", text)}
    return Abi(version, layouts, enums, registers, resets)


def read_doc(text: str) -> Abi:
    version = tuple(int(part) for part in one(r"ABI version (\d+)\.(\d+)", text, "the version").groups())
    layouts, values = {}, {}
    for heading, body in re.findall(r"^### (.*?)\n(.*?)(?=^##|\Z)", text, re.S | re.M):
        name = one(r"`(\w+)`", heading, heading)[1]
        size = re.search(r"\((\d+) bytes\)", heading)
        if not size:
            values[camel(name)] = tuple((int(v), camel(n)) for v, n in re.findall(r"^\| (\d+) \| `(\w+)` \|", body, re.M))
            continue
        fields = []
        for word, msb, lsb, field, rest in re.findall(r"^\| (\d+) \| (?:(\d+):)?(\d+) \| `(\w+)` \| (.*) \|$", body, re.M):
            enum = re.search(r"\(\[(\w+)\]\(#(\w+)\)\)$", rest)
            fields.append(Field(field, int(word), int(lsb), int(msb or lsb) - int(lsb) + 1, camel(enum[1]) if enum else None))
        layouts[camel(name)] = (int(size[1]) // 8, fields)
    rows = re.findall(r"^\| (0x[0-9a-f]+)(?: \+ [^|]*)? \| `(\w+)` \| \w+ \| (.*) \|$", text, re.M)
    resets = {camel(n): int(reset[1], 16) for _, n, what in rows if (reset := re.search(r"\(reset value (0x[0-9a-f]+)\)", what))}
    return Abi(version, layouts, values, {camel(n): int(v, 16) for v, n, _ in rows}, resets)
