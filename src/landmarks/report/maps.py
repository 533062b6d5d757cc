"""Maps of the page: the field and the error that is left at every place, with the chosen places."""

import base64
import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..plots.coverage import as_places, errors_at_places, field_at_places
from ..selection import Selection
from .static import line, svg, text

SIZE = 400.0  # width of a map
EDGE = 12.0  # margin between the map and its border
SCALE = 34.0  # height of the scale below it
NUMBERED = 60  # up to this many chosen places show their order of choice
# dark blue over green to yellow, for any colour vision; between them colours are mixed
PALETTE = np.array(
    [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)], dtype=float
)
REACH = 3.0  # times the distance between neighbours: pixels farther from every place stay empty


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
    titles = "the field" if field is not None else strength(selection), "the error that is left"
    draw = curve if places.shape[1] == 1 else area
    return [
        Map(title, draw(places, values, selection.indices, title))
        for title, values in zip(titles, found, strict=True)
    ]


def strength(selection: Selection) -> str:
    """What is drawn as the field where none is given."""
    if selection._data.m is None:
        return "the standard deviation before anything is measured"
    return "the field, root mean square over the rows"


def area(places: np.ndarray, values: np.ndarray, indices: np.ndarray, title: str) -> str:
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
    return svg(SIZE, height + SCALE, body + _chosen(at, indices) + _scale(values, height), title)


def curve(places: np.ndarray, values: np.ndarray, indices: np.ndarray, title: str) -> str:
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
    return svg(SIZE, height + SCALE, axis + body + _chosen(at, indices) + ends + words, title)


def _chosen(at: np.ndarray, indices: np.ndarray) -> str:
    """Rings at the chosen places, with the order of choice."""
    order: dict[int, list[int]] = {}
    for number, j in enumerate(indices.tolist(), 1):
        order.setdefault(j, []).append(number)
    parts = []
    for j, numbers in order.items():
        x, y = at[j]
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#c2410c" stroke="white" '
            f'stroke-width="1.5"><title>{", ".join(map(str, numbers))}: {j}</title></circle>'
        )
        if len(indices) <= NUMBERED:
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
    pixels[:, 3] = np.where(distance <= max(2.0, REACH * _spacing(tree)), 255, 0)
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


def _spacing(tree: cKDTree) -> float:
    """The distance to the nearest neighbour that 95 of 100 places keep."""
    if tree.n < 2:
        return 0.0
    return float(np.quantile(tree.query(tree.data, k=2)[0][:, 1], 0.95))


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
