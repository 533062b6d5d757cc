"""Drawings of the page that need no script: error curve, similarity of columns, maps."""

import base64
import math
from html import escape
from typing import Any

import numpy as np

from .._shown import printable
from ..plots.axes import Drawn
from ..plots.coverage import maps, plot_map
from ..selection import Selection
from .sentences import LONGEST

# of the curve
WIDTH = 480.0
HEIGHT = 220.0
LEFT = 50.0
BOTTOM = 40.0
# of the similarities
ROW = 18  # height of a row
LABEL = 190  # width of a name
SHORT = 22  # the most letters of it
CELLS = 520  # width of all cells
MOST = 120  # the most other columns
NAMED = 40  # if there are at most this many, all their names are shown below
BELOW = 165  # height of the names below


def curve_svg(curve: dict[str, Any], noun: str) -> str:
    """The error against the number chosen, with this choice marked."""
    ks = np.array(curve["k"], dtype=float)
    lost = np.array(curve["greedy"], dtype=float)
    top = max(float(lost.max()), float(curve["chosen"][1]), 1e-9) * 1.05
    first, last = float(ks[0]), max(float(ks[-1]), float(ks[0]) + 1)

    def place(k: float, value: float) -> tuple[float, float]:
        x = LEFT + (k - first) / (last - first) * (WIDTH - LEFT - 20)
        return x, 10 + (1 - value / top) * (HEIGHT - BOTTOM - 10)

    parts = [line([place(k, v) for k, v in zip(ks, lost, strict=True)], "#0b63c5")]
    if curve["best"] is not None:
        points = [place(k, v) for k, v in zip(ks, curve["best"], strict=True)]
        parts.append(line(points, "#7b8794", dashed=True))
    x, y = place(*curve["chosen"])
    parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="#c2410c"/>')
    base = HEIGHT - BOTTOM
    parts.append(line([(LEFT, 10), (LEFT, base), (WIDTH - 20, base)], "#5c6773", width=1))
    parts += [text(place(k, 0)[0], base + 16, f"{k:g}") for k in _ticks(first, last, 8, least=1)]
    parts += [text(LEFT - 6, place(first, v)[1] + 4, f"{v:g}%", "end") for v in _ticks(0, top, 5)]
    parts.append(text(WIDTH / 2, HEIGHT - 6, f"{noun}s chosen (orange: this choice)"))
    return svg(WIDTH, HEIGHT, "".join(parts), f"part lost against the number of {noun}s")


def heat_svg(heat: dict[str, Any] | None, names: dict[str, str]) -> str | None:
    """A row per chosen column with its name, a cell per other column."""
    if heat is None:
        return None
    chosen, other = heat["chosen"], heat["other"]
    levels = np.frombuffer(base64.b64decode(heat["levels"]), dtype=np.int8)
    levels = levels.reshape(len(chosen), len(other))
    columns = np.linspace(0, len(other) - 1, min(len(other), MOST)).astype(int)
    width = CELLS / len(columns)
    parts = []
    for row, j in enumerate(chosen):
        parts.append(text(LABEL - 8, row * ROW + 13, printable(names[str(j)], SHORT), "end"))
        for place, column in enumerate(columns):
            fill = _colour(int(levels[row, column]) / 127)
            x, y = LABEL + place * width, row * ROW
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width + 0.3:.1f}" height="{ROW - 1}" '
                f'fill="{fill}"/>'
            )
    height = len(chosen) * ROW + 4
    if len(other) <= NAMED:
        for place, j in enumerate(other):
            x = LABEL + (place + 0.5) * width + 4
            turned = f'<g transform="translate({x:.1f} {height + 4:.1f}) rotate(-90)">'
            parts.append(f"{turned}{text(0, 0, printable(names[str(j)], SHORT), 'end')}</g>")
        height += BELOW
    return svg(LABEL + CELLS, height, "".join(parts), "similarity of chosen and other columns")


def _colour(part: float) -> str:
    """Blue for +1, orange for −1, nearly white for 0."""
    end = (11, 99, 197) if part >= 0 else (194, 65, 12)
    mixed = [round(245 + abs(part) * (channel - 245)) for channel in end]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _ticks(first: float, last: float, most: int, *, least: float = 0.0) -> list[float]:
    """At most `most` round numbers of one step: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((last - first) / most))
    steps = (s * power for s in (1, 2, 5, 10, 20) if s * power >= max(least, (last - first) / most))
    step = next(steps, least)
    return [step * i for i in range(math.ceil(first / step), math.floor(last / step) + 1)]


def line(
    points: list[tuple[float, float]], colour: str, *, dashed: bool = False, width: int = 2
) -> str:
    dash = ' stroke-dasharray="6 5"' if dashed else ""
    listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (
        f'<polyline fill="none" stroke="{colour}" stroke-width="{width}"{dash} points="{listed}"/>'
    )


def text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="13" '
        f'fill="#5c6773">{escape(printable(words, LONGEST))}</text>'
    )


def svg(width: float, height: float, body: str, title: str) -> str:
    return (
        f'<svg class="static" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(title)}">{body}</svg>'
    )


def map_pictures(selection: Selection, coordinates: Any, field: Any) -> list[tuple[str, str]]:
    """The maps of `plot`, each a title and the address of a picture; none without coordinates."""
    pictures = []
    for title, values in () if coordinates is None else maps(selection, coordinates, field):
        drawn = Drawn(None, 5.2, 4.2)
        plot_map(drawn, selection, coordinates, values, title)
        picture = base64.b64encode(drawn._repr_png_()).decode("ascii")
        pictures.append((title, f"data:image/png;base64,{picture}"))
    return pictures
