"""What all methods of a run share and change: random numbers, the ledger, the warnings given."""

from __future__ import annotations

from typing import Any

import numpy as np


class Common:
    """The random generator, the counts of the operator, and what the user was warned of."""

    def __init__(self, rng: np.random.Generator, ledger: Any, warned: set[str]):
        self.rng = rng
        self.ledger = ledger
        self.warned = warned
        self.before = ledger.snapshot()

    def now(self) -> dict[str, Any]:
        """Where they are, as JSON."""
        return {
            "rng": self.rng.bit_generator.state,
            "ledger": self.ledger.since(self.before),
            "told": sorted(self.warned),
        }

    def restore(self, earlier: dict[str, Any]) -> None:
        """Put them back to where they were."""
        self.rng.bit_generator.state = earlier["rng"]
        for name, count in earlier["ledger"].items():
            setattr(self.ledger, name, self.before.get(name, 0) + count)
        self.warned.update(earlier["told"])
