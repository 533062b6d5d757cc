"""Formulas as MathML, which browsers draw on their own: no script, no network, no font to fetch."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert


def visit_math(self: Any, node: Any) -> None:
    """A formula in a line of text."""
    self.body.append(convert(node.astext()))
    raise _skip()


def visit_math_block(self: Any, node: Any) -> None:
    """A formula on a line of its own."""
    formula = convert(node.astext(), display="block")
    self.body.append(f'<div class="math">{formula}</div>\n')
    raise _skip()


def _skip() -> Exception:
    from docutils.nodes import SkipNode

    return SkipNode()


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer; html_math_renderer names it."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
