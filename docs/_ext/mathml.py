"""Formulas as MathML, which browsers draw on their own: no script and no network.

Without a mathematical font they place indices badly, so that of ziamath (STIX Two Math, under the
Open Font License) is put next to the pages; `_static/landmarks.css` names it.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

FONT = "STIXTwoMath-Regular.ttf"


def drawn(formula: str, display: str) -> str:
    """The formula, with bars of a norm that are equally long on both sides."""
    bar = re.compile(r"<mo(?: [^>]*)?>(&#x02016;|‖)</mo>")
    return bar.sub(r'<mo stretchy="false" form="prefix">\1</mo>', convert(formula, display=display))


def visit_math(self: Any, node: Any) -> None:
    """A formula in a line of text."""
    self.body.append(drawn(node.astext(), "inline"))
    raise _skip()


def visit_math_block(self: Any, node: Any) -> None:
    """A formula on a line of its own."""
    self.body.append(f'<div class="math">{drawn(node.astext(), "block")}</div>\n')
    raise _skip()


def _skip() -> Exception:
    from docutils.nodes import SkipNode

    return SkipNode()


def copy_font(app: Any, failure: Exception | None) -> None:
    """Put the font next to the style sheet; without ziamath browsers take one of their own."""
    found = importlib.util.find_spec("ziamath")
    if failure is None and found is not None and found.origin is not None:
        source = Path(found.origin).parent / "fonts" / FONT
        shutil.copy(source, Path(app.outdir) / "_static" / FONT)


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer; html_math_renderer names it."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("build-finished", copy_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
