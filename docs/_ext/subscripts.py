"""Subscripts in running text: K_S and ‖·‖²_F are set as such, on every page and in docstrings."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

# one capital letter, a bracket or a norm, then one or two letters of a set, an index or a norm
SUBSCRIPT = re.compile(r"(?<!\w)((?:\w\^?|[A-Z]̂?|\S*[)‖²³⁻¹]))_(:S|S:|SS|S|F|ii|ij|jj|i|j|t)(?!\w)")


class Subscripts(SphinxTransform):
    """Replace the text nodes that hold a subscript; code and formulas are left alone."""

    default_priority = 700

    def apply(self, **named: Any) -> None:
        """Go through the texts of a page."""
        for text in list(self.document.findall(nodes.Text)):
            if SUBSCRIPT.search(text) and not isinstance(text.parent, SKIPPED):
                text.parent.replace(text, list(parts(str(text))))


SKIPPED = (
    nodes.literal,
    nodes.literal_block,
    nodes.doctest_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.comment,
)


def parts(text: str) -> Any:
    """The text in pieces, with each subscript as a node."""
    place = 0
    for found in SUBSCRIPT.finditer(text):
        yield nodes.Text(text[place : found.end(1)])
        yield nodes.subscript("", found[2])
        place = found.end()
    yield nodes.Text(text[place:])


def setup(app: Any) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(Subscripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
