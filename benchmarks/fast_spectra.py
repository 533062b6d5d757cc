"""Every program that runs, where the spectrum falls fast: errors over the best rank-k error.

    OMP_NUM_THREADS=1 python benchmarks/fast_spectra.py     the end of docs/results/peers.md

Problems: the temperature fields in the wheel of python-sensors (every 40th place of 34), products
of orbitals of water on a grid (as in grid_points.py), spectra like those of Tecator made of broad
bands, and Matérn and Gaussian kernels on random points. For each, k is the smallest with tail/total
below 1e-2, 1e-4, … 1e-14. Choices are judged by projection in float64 on a factor X with K = XᵀX. A
program that is not installed is left out and named. The last lines say how far the best of the
others is from ours, and ours from them, at worst.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

import landmarks as lm

TAILS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14)
MOST = 60  # landmarks at most
HELD = 1e-16  # tail/total: what is smaller is rounding
LARGEST = 1100  # candidates for scikit-matter, whose time grows with their cube


@dataclass(frozen=True)
class Problem:
    """A factor X of K, what `select` is given, and the places of the candidates, if any."""

    name: str
    X: np.ndarray
    given: object
    places: np.ndarray | None = None

    def error(self, S: np.ndarray) -> float:
        """‖X − P_S X‖²_F, the projection done twice."""
        Q = np.linalg.qr(self.X[:, S])[0]
        rest = self.X - Q @ (Q.T @ self.X)
        rest = rest - Q @ (Q.T @ rest)
        return float(np.sum(rest * rest))


def factor(K: np.ndarray) -> np.ndarray:
    """Lᵀ of LAPACK's pivoted Cholesky, run down to rounding."""
    L, order, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=1, tol=1e-15)
    X = np.zeros((rank, len(K)))
    X[:, order - 1] = np.tril(L)[:, :rank].T
    return X


def problems() -> Iterator[Problem]:
    """All problems that can be had here."""
    try:
        from fields import fields, folder_of_package

        X = fields(folder_of_package())[0][:, ::40]
        yield Problem("temperature fields", X, lm.data(X))
    except ImportError:
        print("temperature fields need python-sensors")
    try:
        from grid_points import molecule

        m = molecule("water")
        upper = np.triu_indices(len(m.A))
        X = m.A[upper[0]] * m.A[upper[1]] * np.where(upper[0] == upper[1], 1, 2**0.5)[:, None]
        yield Problem("products of orbitals", X, lm.hadamard(m.A), m.places)
    except ImportError:
        print("products of orbitals need pyscf")
    X = spectra()
    yield Problem("spectra", X, lm.data(X), np.arange(X.shape[1])[:, None])
    yield from kernels()


def spectra(samples: int = 215, channels: int = 100) -> np.ndarray:
    """Mixtures of forty broad bands, as in near-infrared spectra of food."""
    rng, x = np.random.default_rng(0), np.arange(channels)
    centres, widths = rng.uniform(0, channels, 40), rng.uniform(8, 25, 40)
    bands = np.exp(-(((x - centres[:, None]) / widths[:, None]) ** 2))
    return rng.gamma(2.0, 1.0, (samples, 40)) @ bands + rng.gamma(9.0, 0.3, (samples, 1))


def kernels(n: int = 800) -> Iterator[Problem]:
    """Smooth kernels on points of the square."""
    points = np.random.default_rng(1).random((n, 2))
    r = cdist(points, points)
    s = np.sqrt(5) * r
    values = {
        "Matérn 5/2": (lm.matern(2.5, 1.0), (1 + s + s * s / 3) * np.exp(-s)),
        "Matérn 3/2": (lm.matern(1.5, 1.0), (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r)),
        "Gaussian": (lm.rbf(1.0), np.exp(-r * r)),
    }
    for name, (h, K) in values.items():
        yield Problem(name, factor(K), lm.kernel(points, h), points)


# The choices --------------------------------------------------------------------------------------


def ours(method: str, budget: float | None = None) -> Callable[[Problem, int], np.ndarray]:
    return lambda problem, k: lm.select(problem.given, k, method=method, budget=budget).indices


def scipy_qr(problem: Problem, k: int) -> np.ndarray:
    """Pivots of a QR of X; those of a pivoted Cholesky of K are the same in exact arithmetic."""
    return scipy.linalg.qr(problem.X, mode="r", pivoting=True)[1][:k]


def pivoted_cholesky(problem: Problem, k: int) -> np.ndarray:
    K = problem.X.T @ problem.X
    return scipy.linalg.lapack.dpstrf(K, lower=1, tol=0.0)[1][:k] - 1


def pysensors_qr(problem: Problem, k: int) -> np.ndarray:
    """PySensors with k modes and k sensors."""
    import pysensors

    basis = pysensors.basis.SVD(n_basis_modes=k, random_state=0)
    model = pysensors.SSPOR(basis=basis, n_sensors=k).fit(problem.X, quiet=True)
    return model.get_selected_sensors()[:k]


def scikit_matter(kind: str) -> Callable[[Problem, int], np.ndarray]:
    def choose(problem: Problem, k: int) -> np.ndarray | None:
        from skmatter import feature_selection

        if problem.X.shape[1] > LARGEST:
            return None
        selector = getattr(feature_selection, kind)(n_to_select=k)
        return np.asarray(selector.fit(problem.X).selected_idx_)

    return choose


def k_means(problem: Problem, k: int) -> np.ndarray | None:
    """The candidates nearest to the centres of clusters of their places."""
    if problem.places is None:
        return None
    means = KMeans(k, n_init=1, random_state=0).fit(problem.places)
    nearest = np.argmin(cdist(means.cluster_centers_, problem.places), axis=1)
    return np.unique(nearest)


CHOICES = {
    "landmarks auto, 3 s": ours("auto", 3.0),
    "landmarks swap": ours("swap"),
    "landmarks greedy": ours("greedy"),
    "SciPy pivoted QR": scipy_qr,
    "pivoted Cholesky": pivoted_cholesky,
    "PySensors": pysensors_qr,
    "scikit-matter CUR": scikit_matter("CUR"),
    "scikit-matter FPS": scikit_matter("FPS"),
    "k-means": k_means,
}
OURS = ("landmarks auto, 3 s", "landmarks swap")


def main() -> None:
    warnings.simplefilter("ignore")
    print("| problem | k | tail/total | " + " | ".join(CHOICES) + " |")
    print("|" + "---|" * (len(CHOICES) + 3))
    worst = {name: 0.0 for name in OURS}
    least, missing = np.inf, set()
    for problem in problems():
        squares = np.linalg.svd(problem.X, compute_uv=False) ** 2
        tails = squares[::-1].cumsum()[::-1] / squares.sum()
        for k in sizes(tails):
            found = {name: judged(problem, k, name, squares, missing) for name in CHOICES}
            cells = " | ".join("" if f is None else f"{f:.3g}" for f in found.values())
            print(f"| {problem.name} | {k} | {tails[k]:.1e} | {cells} |", flush=True)
            rivals = [f for name, f in found.items() if "landmarks" not in name and f is not None]
            least = min(least, min(rivals) / found[OURS[0]])
            worst = {name: max(worst[name], found[name] / min(rivals)) for name in OURS}
    for name, ratio in worst.items():
        print(f"worst ratio of {name} to the best of the others: {ratio:.3f}")
    print(f"least ratio of the best of the others to landmarks auto: {least:.3f}")
    print("not installed: " + (", ".join(sorted(missing)) or "none"))


def sizes(tails: np.ndarray) -> list[int]:
    """The smallest k whose tail is below each bound."""
    found = (int(np.argmax(tails <= bound)) for bound in TAILS if np.any(tails <= bound))
    return [k for k in dict.fromkeys(found) if 2 <= k <= MOST and tails[k] > HELD]


def judged(
    problem: Problem, k: int, name: str, squares: np.ndarray, missing: set[str]
) -> float | None:
    """The factor of a program; None where it is not installed or has nothing to go by."""
    try:
        S = CHOICES[name](problem, k)
    except ImportError:
        missing.add(name)
        return None
    return None if S is None else problem.error(np.asarray(S)) / squares[k:].sum()


if __name__ == "__main__":
    main()
