"""Matrices that are hard for rounding, as in LAPACK's tests, and the ratios every method reaches.

    PYTHONPATH=src:tests python tests/gallery.py

prints, for each matrix and form, the largest ratio over all methods, both criteria and several k.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg
from contracts.methods import CONTRACT, Entry
from properties.measure import THRESHOLD, chosen, ratio
from properties.strategies import FORMS, Form, Sample

N = 10
_rng = np.random.default_rng(0)
_Q, _P = (np.linalg.qr(_rng.standard_normal((N + 2, N)))[0] for _ in range(2))
_normal = _rng.standard_normal((N + 2, N))


def kahan(n: int, s: float = np.sin(1.2), c: float = np.cos(1.2)) -> np.ndarray:
    """Triangular, and nearer to singular than its pivoted QR shows (Kahan 1966)."""
    return np.diag(s ** np.arange(n)) @ (np.eye(n) - c * np.triu(np.ones((n, n)), 1))


def _with(X: np.ndarray, columns: list[int], values: np.ndarray | float) -> np.ndarray:
    changed = X.copy()
    changed[:, columns] = values
    return changed


GALLERY = {
    "normal": _normal,
    "graded columns": _normal * 10.0 ** -np.arange(N),
    "graded rows": _normal * 10.0 ** -np.arange(N + 2.0)[:, None],
    "geometric spectrum": (_Q * 10.0 ** -(1.2 * np.arange(N))) @ _P[:N],
    "clustered at one": (_Q * np.r_[np.ones(N - 1), 1e-10]) @ _P[:N],
    "clustered at eps": (_Q * np.r_[1.0, np.full(N - 1, 1e-15)]) @ _P[:N],
    "Kahan": kahan(N),
    "Hilbert": scipy.linalg.hilbert(N),
    "Vandermonde": np.vander(np.linspace(-1, 1, N + 2), N, increasing=True),
    "low rank plus 1e-14": _normal[:, :3] @ _normal[:3] + 1e-14 * _rng.standard_normal((N + 2, N)),
    "duplicates": _normal[:, [0, 1, 2, 0, 1, 2, 0, 3, 4, 4]],
    "nearly collinear": _normal[:, [0, 1, 2, 0, 1, 2, 0, 3, 4, 4]]
    + 1e-9 * _rng.standard_normal((N + 2, N)),
    "zero columns": _with(_normal, [0, 4, 9], 0.0),
    "constant columns": _with(_normal, [1, 2, 8], 7.0),
    "rank one": np.outer(np.arange(1.0, N + 3), np.arange(-4.0, N - 4)),
    "all ones": np.ones((N + 2, N)),
    "all zero": np.zeros((N + 2, N)),
    "one row": _normal[:1],
    "offset": _normal + 1e6,
    "alternating scales": _normal * np.where(np.arange(N) % 2, 1e8, 1e-8),
    "integers with ties": _rng.integers(-1, 2, (N + 2, N)).astype(float),
}
POWERS = {"": 0, " huge": 900, " tiny": -900}
ON = [form for form in FORMS if form.name in ("data", "sparse", "psd", "function", "rbf")]


def cases() -> Iterator[tuple[str, Sample, Form]]:
    """Every matrix in every form, and those of data at both ends of the range too."""
    for name, X in GALLERY.items():
        for form in ON:
            if form.name == "rbf" and not X.any():
                continue  # one point many times, which "all ones" is
            for suffix, power in POWERS.items():
                if not suffix or form.name == "data":
                    yield f"{name}{suffix}", Sample(name, X, power), form


def ratios(sample: Sample, form: Form, entry: Entry) -> list[float]:
    """The ratios of one method for both criteria and for few, some and all columns."""
    if entry.serves is not None and form.name not in entry.serves:
        return [0.0]
    operator, n = form.make(sample), sample.X.shape[1]
    found = []
    for criterion in ("trace", "frobenius"):
        for k in (1, 4, n):
            found.append(
                ratio(
                    form, sample, chosen(operator, k, entry.method, criterion=criterion), criterion
                )
            )
    return found


def main() -> None:
    count, worst = 0, 0.0
    for name, sample, form in cases():
        found = [(value, entry) for entry in CONTRACT for value in ratios(sample, form, entry)]
        value, entry = max(found, key=lambda pair: pair[0])
        count, worst = count + len(found), max(worst, value)
        print(f"{name:28}{form.name:10}{value:10.3g}  {entry}")
    print(f"{count} ratios, the largest {worst:.3g}, the threshold {THRESHOLD:g}")


if __name__ == "__main__":
    main()
