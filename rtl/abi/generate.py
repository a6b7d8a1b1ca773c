#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns abi.toml into the C++ header, the SystemVerilog package and the doc page.

usage: generate.py abi.toml [--cpp FILE] [--sv FILE] [--doc FILE]

Every error names the layout and the field, and what to change.
"""
import argparse
import pathlib
import re
import sys
import tomllib

WORD = 64
CPP_KEYWORDS = set("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
char32_t class compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield
decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
xor_eq""".split())
SV_KEYWORDS = set("""accept_on alias always always_comb always_ff always_latch and assert assign assume automatic
before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking
cmos config const constraint context continue cover covergroup coverpoint cross deassign default defparam design
disable dist do edge else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup
endinterface endmodule endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum
event eventually expect export extends extern final first_match for force foreach forever fork forkjoin function
generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include
initial inout input inside instance int integer interconnect interface intersect join join_any join_none large let
liblist library local localparam logic longint macromodule matches medium modport module nand negedge nettype new
nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive
priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc
randcase randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0
rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1
sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri
tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var
vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor""".split())


class AbiError(Exception):
    pass


def take(spec, key, where):
    if key not in spec:
        raise AbiError(f"{where}: {key} is missing")
    return spec[key]


def check_name(name, where, keywords):
    """A name of ours is snake_case in both languages."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise AbiError(f"{where}: {name!r} is no name; use small letters, digits and single underscores")
    if name in keywords:
        raise AbiError(f"{where}: a keyword of C++ or SystemVerilog; choose another name")


def by_name(specs, kind):
    """The tables of one kind, each with a name of its own."""
    named = {}
    for spec in specs:
        name = take(spec, "name", kind)
        check_name(name, kind, set())
        if name in named:
            raise AbiError(f"{kind} {name} stands twice; rename one")
        named[name] = spec
    return named


class Field:
    def __init__(self, where, word, lsb, spec):
        if len(spec) not in (3, 4):
            raise AbiError(f"{where}: a field is [name, width, text] or [name, width, text, enum]: {spec}")
        self.name, self.width, self.text = spec[:3]
        self.enum = spec[3] if len(spec) == 4 else None
        self.word, self.lsb = word, lsb
        check_name(self.name, f"{where}.{self.name}", CPP_KEYWORDS | SV_KEYWORDS)
        if re.fullmatch(r"w\d+|reserved\d+", self.name):
            raise AbiError(f"{where}.{self.name}: the generated code has this name; choose another one")
        if not isinstance(self.width, int) or not 1 <= self.width <= WORD:
            raise AbiError(f"{where}.{self.name}: width {self.width} is not 1..{WORD}")
        if lsb + self.width > WORD:
            raise AbiError(f"{where}.{self.name}: ends at bit {lsb + self.width} of word {word}; move it to a new word")


class Layout:
    def __init__(self, spec, known):
        self.name = spec["name"]
        where = f"layout {self.name}"
        self.words, self.text, rows = (take(spec, key, where) for key in ("words", "text", "fields"))
        self.engine = spec.get("engine", False)
        self.fields = []
        first = 0
        if "prefix" in spec:
            other, first = spec["prefix"]
            if other not in known:
                raise AbiError(f"{where}: prefix {other} must be described before it")
            if not 1 <= first <= known[other].words:
                raise AbiError(f"{where}: prefix {other} has {known[other].words} words, not {first}")
            self.fields += [f for f in known[other].fields if f.word < first]
        if first + len(rows) > self.words:
            raise AbiError(f"{where}: {first + len(rows)} words of fields, words = {self.words}")
        for word, row in enumerate(rows, start=first):
            lsb = 0
            for spec in row:
                if isinstance(spec, int):  # a gap
                    lsb += spec
                    continue
                self.fields.append(Field(where, word, lsb, spec))
                lsb += self.fields[-1].width
        names = [f.name for f in self.fields]
        for name in names:
            if names.count(name) > 1:
                raise AbiError(f"{where}: field {name} stands twice; rename one")


def check_enum(enum):
    where = f"enum {enum['name']}"
    width, values = take(enum, "width", where), take(enum, "values", where)
    take(enum, "text", where)
    if not isinstance(width, int) or not 1 <= width <= 8:
        raise AbiError(f"{where}: width {width} is not 1..8")
    if len(values) > 1 << width:
        raise AbiError(f"{where}: {len(values)} values do not fit {width} bits; widen it")
    names = [value[0] for value in values]
    for name in names:
        check_name(name, f"{where}.{name}", CPP_KEYWORDS)
        if names.count(name) > 1:
            raise AbiError(f"{where}: value {name} stands twice; rename one")


class Abi:
    def __init__(self, path):
        with open(path, "rb") as file:
            spec = tomllib.load(file)
        version, enums, layouts, space, registers = (take(spec, key, "the description")
                                                     for key in ("abi", "enum", "layout", "registers", "register"))
        self.major, self.minor = (take(version, key, "abi") for key in ("major", "minor"))
        self.enums = by_name(enums, "enum")
        for enum in self.enums.values():
            check_enum(enum)
        self.layouts = {}
        for name, layout in by_name(layouts, "layout").items():
            self.layouts[name] = Layout(layout, self.layouts)
        for layout in self.layouts.values():
            for field in layout.fields:
                if field.enum and field.enum not in self.enums:
                    raise AbiError(f"layout {layout.name}.{field.name}: no enum {field.enum}")
                if field.enum and self.enums[field.enum]["width"] != field.width:
                    raise AbiError(f"layout {layout.name}.{field.name}: enum {field.enum} is "
                                   f"{self.enums[field.enum]['width']} bits wide, the field {field.width}")
        self.register_bytes, self.register_text = (take(space, key, "registers") for key in ("bytes", "text"))
        self.registers = list(by_name(registers, "register").values())
        taken = {}
        for register in self.registers:
            where = f"register {register['name']}"
            check_name(register["name"], where, CPP_KEYWORDS)
            offset, _, _ = (take(register, key, where) for key in ("offset", "access", "text"))
            register.setdefault("count", 1)
            register.setdefault("stride", 4)
            for at in range(offset, offset + register["count"] * register["stride"], register["stride"]):
                if at % 4 or not 0 <= at < self.register_bytes:
                    raise AbiError(f"{where}: offset {at:#x} is not a multiple of 4 below {self.register_bytes:#x}")
                if at in taken:
                    raise AbiError(f"{where}: offset {at:#x} belongs to {taken[at]}")
                taken[at] = register["name"]


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def storage(width):
    return next(f"uint{n}_t" for n in (8, 16, 32, 64) if width <= n)


BANNER = "Generated from rtl/abi/abi.toml by rtl/abi/generate.py: change it there."


def cpp(abi):
    out = ["// SPDX-License-Identifier: Apache-2.0", f"// {BANNER}", "#pragma once", "#include <stdint.h>", "",
           "namespace tidemill::abi {", "",
           f"inline constexpr uint32_t kVersionMajor = {abi.major};",
           f"inline constexpr uint32_t kVersionMinor = {abi.minor};", ""]
    for enum in abi.enums.values():
        out.append(f"/// {enum['text']}")
        out.append(f"enum class {camel(enum['name'])} : uint8_t {{")
        for value, (name, text) in enumerate(enum["values"]):
            out.append(f"  {name} = {value},  ///< {text}")
        out += ["};", f"inline constexpr unsigned k{camel(enum['name'])}Count = {len(enum['values'])};",
                f"[[gnu::always_inline]] constexpr const char* name_of({camel(enum['name'])} v) {{",
                "  switch (v) {"]
        out += [f"    case {camel(enum['name'])}::{name}: return \"{name}\";" for name, _ in enum["values"]]
        out += ["  }", "  return \"?\";", "}", ""]
    for layout in abi.layouts.values():
        out += [f"/// {layout.text}", f"struct {camel(layout.name)} {{",
                f"  static constexpr unsigned kBytes = {layout.words * 8};"]
        out += [f"  uint64_t w{w} = 0;" for w in range(layout.words)]
        for f in layout.fields:
            kind = camel(f.enum) if f.enum else "bool" if f.width == 1 else storage(f.width)
            mask = (1 << f.width) - 1
            raw = f"w{f.word}" if f.width == WORD else f"((w{f.word} >> {f.lsb}) & {mask:#x}u)" if f.lsb else f"(w{f.word} & {mask:#x}u)"
            get = f"{raw} != 0" if kind == "bool" else f"static_cast<{kind}>({raw})"
            put = f"static_cast<uint64_t>(v)" if kind != "bool" else "uint64_t{v}"
            if f.width == WORD:
                write = f"w{f.word} = {put};"
            else:
                value = put if kind == "bool" else f"({put} & {mask:#x}u)"
                write = f"w{f.word} = (w{f.word} & ~(uint64_t{{{mask:#x}u}} << {f.lsb})) | ({value} << {f.lsb});"
            out += [f"  /// {f.text}: word {f.word}, bits {f.lsb + f.width - 1}:{f.lsb}",
                    f"  [[gnu::always_inline]] constexpr {kind} {f.name}() const {{ return {get}; }}",
                    f"  [[gnu::always_inline]] constexpr void {f.name}({kind} v) {{ {write} }}"]
        out += ["  constexpr bool operator==(const " + camel(layout.name) + "& o) const {",
                "    return " + " & ".join(f"(w{w} == o.w{w})" for w in range(layout.words)) + ";", "  }", "};",
                f"static_assert(sizeof({camel(layout.name)}) == {camel(layout.name)}::kBytes);", ""]
    out += ["/// Byte offsets of the AXI4-Lite registers.", "namespace reg {",
            f"inline constexpr uint32_t kBytes = {abi.register_bytes:#x};"]
    for register in abi.registers:
        out.append(f"inline constexpr uint32_t {register['name']} = {register['offset']:#05x};  ///< {register['text']}")
    out += ["}  // namespace reg", ""]
    for register in abi.registers:
        if "reset" in register:
            out.append(f"inline constexpr uint32_t k{camel(register['name'])}Reset = {register['reset']:#x};")
    out += ["", "}  // namespace tidemill::abi", ""]
    return "\n".join(out)


def sv(abi):
    out = ["// SPDX-License-Identifier: Apache-2.0", f"// {BANNER}", "`default_nettype none", "",
           "// No module uses all of it.", "/* verilator lint_off UNUSEDPARAM */", "package tidemill_abi;", "",
           f"  localparam int unsigned VersionMajor = {abi.major};",
           f"  localparam int unsigned VersionMinor = {abi.minor};", ""]
    for enum in abi.enums.values():
        out.append(f"  // {enum['text']}")
        out.append(f"  typedef enum logic [{enum['width'] - 1}:0] {{")
        values = enum["values"]
        for value, (name, _) in enumerate(values):
            comma = "," if value + 1 < len(values) else ""
            out.append(f"    {camel(enum['name'])}{camel(name)} = {enum['width']}'d{value}{comma}")
        out += [f"  }} {enum['name']}_e;", ""]
    for layout in abi.layouts.values():
        bits = layout.words * WORD
        out += [f"  // {layout.text}", f"  localparam int unsigned {camel(layout.name)}Bits = {bits};",
                "  typedef struct packed {"]
        members, filler = [], 0
        for word in range(layout.words):
            at = 0
            for f in (f for f in layout.fields if f.word == word):
                if f.lsb > at:
                    members.append(f"    logic [{f.lsb - at - 1}:0] reserved{filler};")
                    filler += 1
                kind = f"{f.enum}_e" if f.enum else f"logic [{f.width - 1}:0]" if f.width > 1 else "logic"
                members.append(f"    {kind} {f.name};")
                at = f.lsb + f.width
            if at < WORD:
                members.append(f"    logic [{WORD - at - 1}:0] reserved{filler};")
                filler += 1
        out += list(reversed(members)) + [f"  }} {layout.name}_t;", ""]
    out.append("  // Byte offsets of the AXI4-Lite registers.")
    for register in abi.registers:
        out.append(f"  localparam logic [15:0] Reg{camel(register['name'])} = 16'h{register['offset']:04x};")
    for register in abi.registers:
        if "reset" in register:
            out.append(f"  localparam logic [31:0] Reg{camel(register['name'])}Reset = 32'h{register['reset']:08x};")
    out += ["", "endpackage", "/* verilator lint_on UNUSEDPARAM */", "", "`default_nettype wire", ""]
    return "\n".join(out)


def doc(abi):
    out = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", f"<!-- {BANNER} -->", "# Shared layouts", "",
           f"ABI version {abi.major}.{abi.minor}. Host, HLS engine and RTL share these words; "
           "`rtl/abi/abi.toml` is their one description. Bytes are little endian.", ""]
    out += ["## Registers", "", abi.register_text, "", "| offset | register | access | what |", "| --- | --- | --- | --- |"]
    for r in abi.registers:
        reset = f" (reset value {r['reset']:#x})" if "reset" in r else ""
        many = f" + {r['stride']:#x} n, n < {r['count']}" if r["count"] > 1 else ""
        out.append(f"| {r['offset']:#05x}{many} | `{r['name']}` | {r['access']} | {r['text']}{reset} |")
    for title, engine in (("Rings and streams", False), ("State inside the engine", True)):
        out += ["", f"## {title}"]
        for layout in abi.layouts.values():
            if layout.engine != engine:
                continue
            out += ["", f"### `{layout.name}` ({layout.words * 8} bytes)", "", layout.text, "",
                    "| word | bits | field | what |", "| --- | --- | --- | --- |"]
            for f in layout.fields:
                link = f" ([{f.enum}](#{f.enum}))" if f.enum else ""
                span = f"{f.lsb + f.width - 1}:{f.lsb}" if f.width > 1 else f"{f.lsb}"
                out.append(f"| {f.word} | {span} | `{f.name}` | {f.text}{link} |")
    out += ["", "## Values"]
    for enum in abi.enums.values():
        out += ["", f"### `{enum['name']}`", "", enum["text"], "", "| value | name | what |", "| --- | --- | --- |"]
        out += [f"| {value} | `{name}` | {text} |" for value, (name, text) in enumerate(enum["values"])]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("abi", type=pathlib.Path)
    for name in ("cpp", "sv", "doc"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    args = parser.parse_args()
    try:
        abi = Abi(args.abi)
    except (AbiError, tomllib.TOMLDecodeError) as error:
        sys.exit(f"{args.abi}: {error}")
    for path, make in ((args.cpp, cpp), (args.sv, sv), (args.doc, doc)):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(make(abi))


if __name__ == "__main__":
    main()
