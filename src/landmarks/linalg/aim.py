"""What the chosen candidates must rebuild, and how noisy they are.

Candidates are columns a_j with G = AᵀA, the target is B, and H = AᵀB. The error of a choice S is
E(S) = tr BᵀB − tr H_Sᵀ G_SS⁻¹ H_S. A target is any B. Measurements with noise of variance σ² are A
= [X; diag σ] and B = [X; 0], so that G = K + diag σ² and H = K.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Columns:
    """Columns of the data, by their places, that are the target and are not chosen."""

    places: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Aim:
    """A target, noise of the measurements, or both; `landmarks.aims` checks and makes it.

    Parameters
    ----------
    target : B, with the m rows of the data; or, where `rows` is False, the n × p vectors V, so that
        the error is tr(C V Vᵀ) with C = K − K̂. None rebuilds all columns.
    noise : the variance of the noise of each candidate in the units of the operator, or None.
    repeats : whether a candidate may be chosen more than once.
    exponent : the errors are 2**exponent times what is computed.
    names : of the columns of B, where they have names.
    """

    target: np.ndarray | None = None
    rows: bool = True
    noise: np.ndarray | None = None
    repeats: bool = False
    exponent: int = 0
    names: tuple[str, ...] | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """What a method must honour: "target", "noise" or both."""
        parts = {"target": self.target, "noise": self.noise}
        return tuple(name for name, part in parts.items() if part is not None)

    def record(self) -> dict[str, Any]:
        """The aim as JSON holds it: noise and names as they are, the target by its checksum."""
        digest = None
        if self.target is not None:
            digest = hashlib.sha256(np.ascontiguousarray(self.target).data).hexdigest()
        return {
            "target": digest,
            "columns": None if self.target is None else self.target.shape[1],
            "rows": self.rows,
            "noise": None if self.noise is None else self.noise.tolist(),
            "repeats": self.repeats,
            "exponent": self.exponent,
            "names": self.names,
        }
