"""Grid points for products of orbitals: ours against k-means, pivoted QR and pivoted Cholesky.

    OMP_NUM_THREADS=1 python benchmarks/grid_points.py [--molecules water ethylene …]

For docs/results/grid_points.md. Interpolative separable density fitting writes every product of two
orbitals as Σ_μ ζ_μ(r) φ_i(r_μ) φ_j(r_μ); the points r_μ are chosen, ζ is a least-squares fit on the
grid. Orbitals are all canonical orbitals of a Hartree–Fock calculation in the basis 6-31g, one for
each basis function. Errors are on a grid of level 0, weighted by its quadrature weights:

fit        ‖Z − Ẑ‖²_F over all products, divided by that of the best approximation of that rank
density    ‖ρ − ρ̂‖/‖ρ‖ of the electron density
exchange   |Σ_ij (ij|ij)~ − (ij|ij)| over occupied orbitals, in millihartree; in (ij|ij)~ one of the
           two products is fitted, the potential of the other is exact

`needs` is how many points a rival needs for the fit error of `landmarks swap`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from sklearn.cluster import KMeans

import landmarks as lm

MOLECULES = {
    "water": "O 0 0 0.117; H 0 0.757 -0.469; H 0 -0.757 -0.469",
    "ammonia": "N 0 0 0.11; H 0 0.94 -0.26; H 0.81 -0.47 -0.26; H -0.81 -0.47 -0.26",
    "ethylene": "C 0 0 0.667; C 0 0 -0.667; H 0 0.923 1.237; H 0 -0.923 1.237; "
    "H 0 0.923 -1.237; H 0 -0.923 -1.237",
    "butadiene": "C 0.605 1.746 0; C 0.605 0.407 0; C -0.605 -0.407 0; C -0.605 -1.746 0; "
    "H 1.522 2.309 0; H -0.319 2.300 0; H 1.551 -0.131 0; H -1.551 0.131 0; "
    "H -1.522 -2.309 0; H 0.319 -2.300 0",
    "benzene": "".join(
        f"C {1.395 * np.cos(a):.6f} {1.395 * np.sin(a):.6f} 0; "
        f"H {2.480 * np.cos(a):.6f} {2.480 * np.sin(a):.6f} 0; "
        for a in np.arange(6) * np.pi / 3
    ).rstrip("; "),
}
PER_ORBITAL = (3, 4, 6)
POTENTIAL = 400  # grid points at which potentials are computed at a time


@dataclass(frozen=True)
class Molecule:
    """Orbitals at weighted grid points.

    orbitals : φ, orbitals × points. weights : of the quadrature. potentials : of the products of
    occupied orbitals, points × pairs; pairs : which orbitals, and how often each pair counts.
    """

    orbitals: np.ndarray
    weights: np.ndarray
    places: np.ndarray
    occupied: int
    potentials: np.ndarray

    @property
    def A(self) -> np.ndarray:
        """Orbitals times the fourth root of the weights: products then have their square root."""
        return self.orbitals * self.weights**0.25

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        return np.triu_indices(self.occupied)


def molecule(name: str) -> Molecule:
    """Hartree–Fock orbitals on a grid of level 0; points of no weight are left out."""
    from pyscf import dft, gto, scf

    mol = gto.M(atom=MOLECULES[name], basis="6-31g", verbose=0)
    field = scf.RHF(mol).run()
    grid = dft.gen_grid.Grids(mol)
    grid.level = 0
    grid.build()
    occupied = mol.nelectron // 2
    orbitals = (dft.numint.eval_ao(mol, grid.coords) @ field.mo_coeff).T
    size = grid.weights * np.sum(orbitals**2, axis=0)
    kept = (grid.weights > 0) & (size > 1e-7 * np.max(size))
    pairs = np.triu_indices(occupied)
    C = field.mo_coeff[:, :occupied]
    found = []
    places = grid.coords[kept]
    for start in range(0, len(places), POTENTIAL):
        V = mol.intor("int1e_grids", grids=places[start : start + POTENTIAL])
        found.append(np.einsum("gab,ai,bj->gij", V, C, C, optimize=True)[:, pairs[0], pairs[1]])
    return Molecule(orbitals[:, kept], grid.weights[kept], places, occupied, np.concatenate(found))


# The choices --------------------------------------------------------------------------------------


def ours(method: str) -> Callable[[Molecule, int], np.ndarray]:
    return lambda m, k: lm.select(lm.hadamard(m.A), k, method=method).indices


def pivoted_cholesky(m: Molecule, k: int) -> np.ndarray:
    """Pivots of the largest residual diagonal: the choice of a pivoted QR of all products."""
    A, picks = m.A, []
    left = np.sum(A * A, axis=0) ** 2
    F = np.zeros((k, A.shape[1]))
    for r in range(k):
        j = int(np.argmax(left))
        column = (A.T @ A[:, j]) ** 2 - F[:r].T @ F[:r, j]
        if column[j] <= 1e-13 * np.sum(A[:, j] ** 2) ** 2:
            break  # the rank is reached
        F[r] = column / np.sqrt(column[j])
        left = left - F[r] ** 2
        picks.append(j)
        left[picks] = -np.inf
    return np.asarray(picks)


def sampled_qr(m: Molecule, k: int) -> np.ndarray:
    """Pivots of a QR of products of random combinations of orbitals (Lu and Ying, 2015)."""
    rng, p = np.random.default_rng(0), int(np.ceil(np.sqrt(k))) + 5
    p = min(p, len(m.A))
    left, right = (np.linalg.qr(rng.standard_normal((len(m.A), p)))[0].T @ m.A for _ in range(2))
    rows = (left[:, None, :] * right[None, :, :]).reshape(p * p, -1)
    return scipy.linalg.qr(rows, mode="r", pivoting=True)[1][:k]


def k_means(m: Molecule, k: int) -> np.ndarray:
    """Grid points nearest to centres of weighted clusters (Dong, Hu and Lin, 2018)."""
    weight = m.weights * np.sum(m.orbitals**2, axis=0) ** 2
    means = KMeans(k, n_init=1, random_state=0, max_iter=100)
    centres = means.fit(m.places, sample_weight=weight / np.max(weight)).cluster_centers_
    return distinct_nearest(m.places, centres)


def distinct_nearest(places: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The point nearest to each centre that is not taken yet."""
    taken: list[int] = []
    for centre in centres:
        distance = np.sum((places - centre) ** 2, axis=1)
        distance[taken] = np.inf
        taken.append(int(np.argmin(distance)))
    return np.asarray(taken)


CHOICES = {
    "landmarks swap": ours("swap"),
    "landmarks greedy": ours("greedy"),
    "pivoted Cholesky": pivoted_cholesky,
    "pivoted QR, sampled": sampled_qr,
    "k-means": k_means,
}
RIVALS = ("pivoted Cholesky", "pivoted QR, sampled", "k-means")


# The errors ---------------------------------------------------------------------------------------


class Judge:
    """Errors of a choice of points on one molecule, all from K in float64."""

    def __init__(self, m: Molecule):
        self.m = m
        A = m.A
        upper = np.triu_indices(len(A))
        rows = A[upper[0]] * A[upper[1]] * np.where(upper[0] == upper[1], 1, np.sqrt(2))[:, None]
        values, vectors = np.linalg.eigh(rows @ rows.T)
        self.spectrum = values[::-1]
        self.R = vectors[:, values > 1e-14 * values[-1]].T @ rows
        self.total = float(np.sum(self.R**2))

    def fit(self, S: np.ndarray) -> float:
        """‖Z − Ẑ‖²_F by projection."""
        Q = np.linalg.qr(self.R[:, S])[0]
        rest = self.R - Q @ (Q.T @ self.R)
        return float(np.sum(rest * rest))

    def fits(self, order: np.ndarray) -> np.ndarray:
        """The fit errors of the first 1, 2, … points of an order."""
        Q = np.linalg.qr(self.R[:, order])[0]
        return self.total - np.cumsum(np.sum((Q.T @ self.R) ** 2, axis=1))

    def tail(self, k: int) -> float:
        return float(np.sum(self.spectrum[k:].clip(0)))

    def physics(self, S: np.ndarray) -> tuple[float, float]:
        """Relative error of the density, and of the exchange energy in millihartree."""
        m = self.m
        root = np.sqrt(m.weights)
        A, occupied = m.A, m.orbitals[: m.occupied]
        K_S = (A.T @ A[:, S]) ** 2
        left = np.linalg.pinv(K_S[S], rcond=1e-13, hermitian=True)
        i, j = m.pairs
        exact = occupied[i] * occupied[j] * root
        fitted = exact[:, S] @ left @ K_S.T
        count = np.where(i == j, 1.0, 2.0)
        rho, miss = (2 * x[i == j].sum(axis=0) for x in (exact, exact - fitted))
        wrong = np.sum((exact - fitted) * (m.potentials * root[:, None]).T, axis=1)
        return float(np.linalg.norm(miss) / np.linalg.norm(rho)), 1e3 * abs(float(count @ wrong))


def needs(judge: Judge, name: str, goal: float, least: int) -> int | None:
    """How many points a rival needs to reach the fit error."""
    m, most = judge.m, 2 * least
    if name != "k-means":
        errors = judge.fits(CHOICES[name](m, most))
        found = np.flatnonzero(errors <= goal)
        return int(found[0]) + 1 if len(found) else None
    low, high = least, most
    if judge.fit(k_means(m, high)) > goal:
        return None
    while high - low > max(1, least // 30):
        middle = (low + high) // 2
        if judge.fit(k_means(m, middle)) <= goal:
            high = middle
        else:
            low = middle
    return high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--molecules", nargs="+", choices=list(MOLECULES), default=list(MOLECULES))
    print(
        "| molecule | grid | orbitals | points | tail/total | choice | fit | density | exchange ",
        end="",
    )
    print("| CPU s | needs |")
    print("|" + "---|" * 11)
    for name in parser.parse_args().molecules:
        m = molecule(name)
        judge = Judge(m)
        for c in PER_ORBITAL:
            k = c * len(m.A)
            report(name, judge, k)


def report(name: str, judge: Judge, k: int) -> None:
    """The rows of one molecule and number of points."""
    tail, goal = judge.tail(k), np.inf
    for choice, choose in CHOICES.items():
        start = time.process_time()
        S = choose(judge.m, k)
        seconds = time.process_time() - start
        error = judge.fit(S)
        if choice == "landmarks swap":
            goal = error
        wanted = needs(judge, choice, goal, k) if choice in RIVALS else k
        density, exchange = judge.physics(S)
        p, n = judge.m.A.shape
        print(
            f"| {name} | {n} | {p} | {k} | {tail / judge.total:.1e} | {choice} "
            f"| {error / tail:.2f} | {density:.1e} | {exchange:.2g} | {seconds:.1f} "
            f"| {wanted or f'over {2 * k}'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
