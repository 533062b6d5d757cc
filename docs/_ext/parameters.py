"""Docstrings of this project for numpydoc: what follows the colon is the description, not a type.

Types are in the signatures. numpydoc would read "k : how many to choose" as a parameter of the type
"how many to choose", and split the sentence.
"""

from __future__ import annotations

import re
from typing import Any

SECTIONS = ("Parameters", "Attributes")
ENTRY = re.compile(r"^(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*) : (.+)$")


def described(lines: list[str]) -> list[str]:
    """The lines of a docstring, with each entry's sentence below its name."""
    result: list[str] = []
    section = ""
    for place, line in enumerate(lines):
        if place + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[place + 1]):
            section = line.strip()
        entry = ENTRY.match(line) if section in SECTIONS else None
        if entry is None:
            result.append(line)
        else:
            result += [entry[1], f"    {entry[2]}"]
    return result


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite the lines of a docstring in place, before numpydoc sees them."""
    lines[:] = described(lines)


def setup(app: Any) -> dict[str, bool]:
    """Run before numpydoc, whose priority is 500."""
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
