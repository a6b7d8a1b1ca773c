# SPDX-License-Identifier: Apache-2.0
"""Markdown of tables, paragraphs and figures."""
import textwrap


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def text(words: str) -> str:
    return "\n".join(textwrap.wrap(" ".join(words.split()), 120)) + "\n"


def ns(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def times(value: float) -> str:
    return f"{value:,.0f} x" if value >= 10 else f"{value:.1f} x" if value >= 1 else f"{value:.2f} x"
