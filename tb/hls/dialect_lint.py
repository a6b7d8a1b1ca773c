#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses what some HLS tool does not take, or takes silently wrong. docs/engine/hls-flow.md says why, rule by rule.

usage: dialect_lint.py FILE...

Exit 1 and one line for each finding: file:line: rule.
"""
import pathlib
import re
import sys

# (what is wrong, how it looks). Matched against the text without comments and strings.
RULES = [
    ("heap", r"\b(new|delete|malloc|calloc|realloc|free)\b\s*[\[(\w]"),
    ("exception", r"\b(throw|try|catch)\b"),
    ("virtual call", r"\bvirtual\b|\boverride\b"),
    ("floating point", r"\b(float|double)\b|\b\d+\.\d*(e[+-]?\d+)?f?\b"),
    ("write through range()", r"\.\s*range\s*\([^()]*\)\s*[-+*/&|^]?=(?!=)"),
    ("empty() or size() of a stream", r"\b(events|actions|in|out|\w*stream\w*)\s*\.\s*(empty|full|size)\s*\("),
    ("non-blocking stream access", r"\b(read|write)_nb\s*\(|\bnb_(read|write)\s*\("),
    (">> or << on a stream", r"\b(events|actions|\w*stream\w*)\s*(>>|<<)"),
    ("stream of structs", r"\bstream\s*<\s*(?!ap_uint\s*<|\s*T\b)"),
    ("array of streams", r"\bstream\s*<[^;{}()]*>\s*&?\s*\w+\s*\["),
    ("DATAFLOW", r"#\s*pragma\s+HLS\s+DATAFLOW"),
    ("pragma INTERFACE axis without mode=", r"#\s*pragma\s+HLS\s+INTERFACE\s+axis"),
    ("loop without constant bounds", r"\bwhile\b|\bdo\b\s*\{|\bgoto\b|for\s*\(\s*;\s*;"),
    ("run-time type", r"\b(dynamic_cast|typeid)\b"),
]
CONTAINERS = ("standard container", r"\bstd::(array|vector|deque|list|map|set|unordered_\w+|string|span|optional|function|unique_ptr|shared_ptr)\b")
# State of host builds: the one place where containers may stand.
HOST_MEMORY = {"bank_memory.hpp", "arbiter_memory.hpp"}

# The head of a function with a body: name, then parameters, then qualifiers, then the brace.
FUNCTION = re.compile(r"\b(?!if\b|for\b|switch\b|return\b)([A-Za-z_]\w*)\s*\(([^(){};]*(?:\([^()]*\)[^(){};]*)*)\)\s*(?:const)?\s*\{")


def stripped(text):
    """The text without comments and literals, line breaks kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', blank, text, flags=re.S)


def body_of(text, brace):
    depth = 0
    for at in range(brace, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return text[brace:at + 1]
    return text[brace:]


def arguments(inside):
    """How many arguments stand between a pair of parentheses."""
    depth, commas = 0, 0
    for c in inside:
        depth += (c in "([{") - (c in ")]}")
        commas += c == "," and depth == 0
    return 0 if not inside.strip() else commas + 1


def calls(body, name):
    """Argument counts of the unqualified calls of `name`."""
    for match in re.finditer(rf"(?<![\w.:>]){name}\s*\(", body):
        depth = 0
        for at in range(match.end() - 1, len(body)):
            depth += (body[at] == "(") - (body[at] == ")")
            if depth == 0:
                yield arguments(body[match.end():at])
                break


def recursions(text):
    """Functions that call themselves; an overload with another number of parameters is another function."""
    for match in FUNCTION.finditer(text):
        parameters = arguments(match.group(2))
        if parameters in calls(body_of(text, match.end() - 1), match.group(1)):
            yield match.start()


def findings(path, text):
    text = stripped(text)
    rules = RULES if pathlib.Path(path).name in HOST_MEMORY else RULES + [CONTAINERS]
    found = [(match.start(), what) for what, pattern in rules for match in re.finditer(pattern, text)]
    found += [(at, "recursion") for at in recursions(text)]
    return sorted((text.count("\n", 0, at) + 1, what) for at, what in found)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    bad = 0
    for path in sys.argv[1:]:
        for line, what in findings(path, pathlib.Path(path).read_text()):
            print(f"{path}:{line}: {what}: no HLS tool takes this")
            bad += 1
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
