"""Sources of rows: anything that gives a matrix too large for memory in consecutive blocks of rows."""

from .base import RowBlocks, Standardised, load
from .convert import as_rows
from .files import open_rows
from .tiles import tiles

__all__ = ["RowBlocks", "Standardised", "as_rows", "load", "open_rows", "tiles"]
