"""Values at scattered places as a small PNG: every pixel has the colour of the nearest place."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from scipy.spatial import cKDTree

# dark blue over green to yellow, for any colour vision; between them colours are mixed
PALETTE = np.array(
    [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)], dtype=float
)
REACH = 3.0  # of the distance between neighbours: pixels further from every place stay empty


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
