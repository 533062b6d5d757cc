"""What was used of an operator, and the precision in which that was done."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .._array import is_single

if TYPE_CHECKING:
    from .base import Operator

COUNTED = ("products", "columns", "entries")  # of every run
WIDENED = "float64: rounding in float32 could hide gains"
ROUGH = "float64, {rough} of {products} products in float32, whose error is accounted for"


@dataclass
class Ledger(threading.local):
    """What was used of an operator: vectors multiplied, columns read, entries read or evaluated.

    Each thread has its own counts, so runs in threads that share an operator do not mix them.

    rough : the products among them that were taken in float32 for a search in float64.
    widened : the searches in float64 of data in float32.
    """

    products: int = 0
    columns: int = 0
    entries: int = 0
    rough: int = 0
    widened: int = 0

    def __reduce__(self) -> tuple[type[Ledger], tuple[int, ...]]:
        return Ledger, tuple(asdict(self).values())

    def add(self, *, products: int = 0, columns: int = 0, entries: int = 0) -> None:
        """Count what was used."""
        self.products += products
        self.columns += columns
        self.entries += entries

    def snapshot(self) -> dict[str, int]:
        """The counts so far; those of precision only where there are any."""
        counts = asdict(self)
        return {name: counts[name] for name in counts if counts[name] or name in COUNTED}

    def since(self, before: dict[str, int]) -> dict[str, int]:
        """The counts since a snapshot."""
        return {name: count - before.get(name, 0) for name, count in self.snapshot().items()}


def precision_used(operator: Operator, used: dict[str, int]) -> str:
    """The precision of a search and the reason, from the counts of the ledger."""
    if used.get("rough", 0):
        return ROUGH.format_map(used)
    if operator.widened or used.get("widened", 0):
        return WIDENED
    return "float32: as the data" if is_single(operator.like) else "float64"
