"""Drawings of the page that need no script, as SVG: error curve, similarity of columns, maps.

A map shows the field and the error that is left at every place, with the chosen places.
"""

import base64
import math
import struct
import zlib
from html import escape
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from .._shown import printable
from ..plots.coverage import as_places, errors_at_places, field_at_places
from ..selection import Selection
from .sentences import LONGEST

# of the curve
WIDTH = 480.0
HEIGHT = 220.0
LEFT = 50.0
BOTTOM = 40.0
# of the map
ROW = 18  # height of a row
LABEL = 190  # width of a name
SHORT = 22  # the most letters of it
CELLS = 520  # width of all cells
MOST = 120  # the most other columns
NAMED = 40  # if there are at most this many, all their names are shown below
BELOW = 165  # height of the names below
SIZE = 400.0  # width of a map
EDGE = 12.0  # margin between the map and its border
SCALE = 34.0  # height of the scale below it
NUMBERED = 60  # up to this many chosen places show their order of choice
# dark blue over green to yellow, for any colour vision; between them colours are mixed
PALETTE = np.array(
    [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)], dtype=float
)
REACH = 3.0  # times the distance between neighbours: pixels farther from every place stay empty


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


class Map(NamedTuple):
    """A title and a drawing."""

    title: str
    drawing: str


def maps(selection: Selection, coordinates: Any, field: Any = None) -> list[Map]:
    """The field and the error at the places; no map without coordinates."""
    if coordinates is None:
        return []
    places = as_places(coordinates, selection.n)
    found = field_at_places(selection, field), errors_at_places(selection)
    strength = "the field, root mean square over the rows"
    if selection._data.m is None:
        strength = "the standard deviation before anything is measured"
    titles = "the field" if field is not None else strength, "the error that is left"
    draw = curve if places.shape[1] == 1 else area
    return [
        Map(title, draw(places, values, selection, title))
        for title, values in zip(titles, found, strict=True)
    ]


def of_maps(selection: Selection, coordinates: Any) -> str:
    """What the maps show, and from where to where."""
    if coordinates is None:
        return ""
    places = as_places(coordinates, selection.n)
    ends = [
        f"{name} coordinate from {low:.4g} to {high:.4g}"
        for name, low, high in zip(
            ("first", "second"), places.min(axis=0), places.max(axis=0), strict=False
        )
    ]
    crosses = " Crosses are places that were excluded." if selection.exclude else ""
    return f"Numbers give the order of choice.{crosses} The {', the '.join(ends)}."


def area(places: np.ndarray, values: np.ndarray, selection: Selection, title: str) -> str:
    """Colours at places of the plane, the chosen ones on top."""
    low, extent = places.min(axis=0), np.ptp(places, axis=0)
    ratio = extent[1] / extent[0] if extent[0] > 0 else 1.0
    ratio = ratio if 0.2 <= ratio <= 2.0 else 0.7  # other units: the shape says nothing
    inner = np.array([SIZE - 2 * EDGE, ratio * (SIZE - 2 * EDGE)])
    at = EDGE + (places - low) / np.where(extent > 0, extent, 1.0) * inner
    height = float(inner[1]) + 2 * EDGE
    at[:, 1] = height - at[:, 1]
    picture = painted(at, values, int(SIZE), int(height))
    body = f'<image href="{picture}" width="{int(SIZE)}" height="{int(height)}"/>'
    return svg(SIZE, height + SCALE, body + _marks(at, selection) + _scale(values, height), title)


def curve(places: np.ndarray, values: np.ndarray, selection: Selection, title: str) -> str:
    """Values along a line, the chosen places on top."""
    x, extent = places[:, 0], float(np.ptp(places[:, 0]))
    height = SIZE / 2
    base, top = min(0.0, float(values.min())), max(float(values.max()), 0.0)
    across = EDGE + (x - x.min()) / (extent or 1.0) * (SIZE - 2 * EDGE)
    up = height - EDGE - (values - base) / ((top - base) or 1.0) * (height - 3 * EDGE)
    at = np.column_stack([across, up])
    body = line([(float(a), float(b)) for a, b in at[np.argsort(x, kind="stable")]], "#0b63c5")
    ends = text(EDGE, height + 16, f"{x.min():.4g}", "start") + text(
        SIZE - EDGE, height + 16, f"{x.max():.4g}", "end"
    )
    axis = line([(EDGE, height - EDGE), (SIZE - EDGE, height - EDGE)], "#5c6773", width=1)
    words = text(EDGE, 12, f"{top:.3g}", "start") + text(EDGE, height, f"{base:.3g}", "start")
    return svg(SIZE, height + SCALE, axis + body + _marks(at, selection) + ends + words, title)


def _marks(at: np.ndarray, selection: Selection) -> str:
    """Crosses at the excluded places; rings at the chosen ones, with the order of choice."""
    crosses = "".join(
        f"M{x - 2:.1f} {y - 2:.1f}l4 4m0 -4l-4 4" for x, y in at[list(selection.exclude)]
    )
    drawn = f'<path class="excluded" d="{crosses}" stroke="white" stroke-width="1" fill="none"/>'
    order: dict[int, list[int]] = {}
    for number, j in enumerate(selection.indices.tolist(), 1):
        order.setdefault(j, []).append(number)
    parts = [drawn] if crosses else []
    for j, numbers in order.items():
        x, y = at[j]
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#c2410c" stroke="white" '
            f'stroke-width="1.5"><title>{", ".join(map(str, numbers))}: {j}</title></circle>'
        )
        if selection.k <= NUMBERED:
            words = ", ".join(map(str, numbers))
            parts.append(
                f'<text x="{x + 7:.1f}" y="{y - 5:.1f}" font-size="12" font-weight="600" '
                f'fill="white" stroke="#222" stroke-width="3" paint-order="stroke">{words}</text>'
            )
    return "".join(parts)


def _scale(values: np.ndarray, top: float) -> str:
    """The colours from the lowest to the highest value."""
    width = (SIZE - 2 * EDGE) / 64
    cells = [
        f'<rect x="{EDGE + cell * width:.1f}" y="{top + 2:.0f}" width="{width + 0.4:.1f}" '
        f'height="8" fill="#{colour.tobytes().hex()}"/>'
        for cell, colour in enumerate(colours(np.arange(64.0)))
    ]
    ends = text(EDGE, top + 25, f"{values.min():.3g}", "start")
    return "".join(cells) + ends + text(SIZE - EDGE, top + 25, f"{values.max():.3g}", "end")


def painted(places: np.ndarray, values: np.ndarray, width: int, height: int) -> str:
    """The address of a picture, as data, of values at places between 0 and the width and height."""
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    tree = cKDTree(places)
    distance, nearest = tree.query(np.column_stack([x.ravel(), y.ravel()]))
    pixels = np.zeros((width * height, 4), dtype=np.uint8)
    pixels[:, :3] = colours(values)[nearest]
    apart = 0.0  # the distance to the nearest neighbour that 95 of 100 places keep
    if tree.n > 1:
        apart = float(np.quantile(tree.query(tree.data, k=2)[0][:, 1], 0.95))
    pixels[:, 3] = np.where(distance <= max(2.0, REACH * apart), 255, 0)
    return "data:image/png;base64," + base64.b64encode(
        png(pixels.reshape(height, width, 4))
    ).decode("ascii")


def colours(values: np.ndarray) -> np.ndarray:
    """A colour for each value, from the lowest to the highest."""
    low, high = float(np.min(values)), float(np.max(values))
    part = (values - low) / (high - low) if high > low else np.zeros(len(values))
    at = np.linspace(0, 1, len(PALETTE))
    mixed = [np.interp(part, at, channel) for channel in PALETTE.T]
    return np.rint(np.column_stack(mixed)).astype(np.uint8)


def png(pixels: np.ndarray) -> bytes:
    """An image of height × width × 4 bytes as a PNG file."""
    height, width = pixels.shape[:2]
    lines = np.zeros((height, 1 + 4 * width), dtype=np.uint8)  # each begins with filter 0
    lines[:, 1:] = pixels.reshape(height, 4 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check
