"""Grid points for products of orbitals: ours against k-means, pivoted QR and pivoted Cholesky.

    OMP_NUM_THREADS=1 python benchmarks/grid_points.py [--molecules water ethylene …]

For docs/results/grid_points.md. Interpolative separable density fitting writes every product of two
orbitals as Σ_μ ζ_μ(r) φ_i(r_μ) φ_j(r_μ); the points r_μ are chosen, ζ is a least-squares fit on the
grid. Orbitals are all canonical orbitals of a Hartree–Fock calculation in the basis 6-31g, one for
each basis function. The grid has level 0; errors are weighted by its weights:

fit        ‖Z − Ẑ‖²_F over all products, divided by that of the best approximation of that rank
density    ‖ρ − ρ̂‖/‖ρ‖ of the electron density
exchange   Σ_ij (δ_ij|δ_ij) over occupied orbitals in millihartree, δ_ij the error of φ_i φ_j. It
           is the error of the exchange energy Σ_ij (ij|ij) by the robust formula of Dunlap,
           2 (ij|ij^) − (ij^|ij^), and cannot be negative. ζ_μ is a combination of orbital
           products, so that PySCF's integrals give it exactly. The energy is checked by `get_k`.

`needs` is how many points a rival needs for each error of `landmarks swap`; those of QR and
Cholesky are the first of a longer list of pivots. The second table repeats choice and fit with
virtual orbitals scaled by --virtual, so that products of occupied orbitals weigh more: `same
weights` is what the better of QR and Cholesky needs with the same scaling, `no weights` without.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

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
VIRTUAL = 0.3  # scale of virtual orbitals in the second table


@dataclass(frozen=True)
class Molecule:
    """Orbitals at weighted grid points.

    orbitals : φ, orbitals × points. weights : of the quadrature. occupied : how many orbitals are.
    coulomb : (pq|rs), pairs × pairs, p ≥ q and r ≥ s. virtual : a scale for the other orbitals.
    """

    orbitals: np.ndarray
    weights: np.ndarray
    places: np.ndarray
    occupied: int
    coulomb: np.ndarray
    virtual: float = 1.0

    @property
    def scale(self) -> np.ndarray:
        return np.where(np.arange(len(self.orbitals)) < self.occupied, 1.0, self.virtual)

    @property
    def A(self) -> np.ndarray:
        """Orbitals times the fourth root of the weights: products then have their square root."""
        return self.orbitals * self.scale[:, None] * self.weights**0.25


def molecule(name: str) -> Molecule:
    """Hartree–Fock orbitals on a grid of level 0; points of no weight are left out."""
    from pyscf import ao2mo, dft, gto, scf

    mol = gto.M(atom=MOLECULES[name], basis="6-31g", verbose=0)
    field = scf.RHF(mol).run()
    grid = dft.gen_grid.Grids(mol)
    grid.level = 0
    grid.build()
    orbitals = (dft.numint.eval_ao(mol, grid.coords) @ field.mo_coeff).T
    size = grid.weights * np.sum(orbitals**2, axis=0)
    kept = (grid.weights > 0) & (size > 1e-7 * np.max(size))
    found = Molecule(
        orbitals[:, kept],
        grid.weights[kept],
        grid.coords[kept],
        mol.nelectron // 2,
        ao2mo.kernel(mol, field.mo_coeff),
    )
    density = field.make_rdm1()
    exact = np.sum(density * field.get_k(mol, density)) / 4
    if not np.isclose(exchange_energy(found), exact, rtol=1e-9):
        raise ValueError(f"Σ (ij|ij) = {exchange_energy(found)}, but get_k gives {exact}")
    return found


def occupied_pairs(m: Molecule) -> tuple[np.ndarray, np.ndarray]:
    """The places of occupied pairs among all, and how often each counts."""
    p, q = np.tril_indices(len(m.orbitals))
    places = np.flatnonzero(p < m.occupied)
    return places, np.where(p[places] == q[places], 1.0, 2.0)


def exchange_energy(m: Molecule) -> float:
    """Σ_ij (ij|ij) over occupied orbitals."""
    places, counts = occupied_pairs(m)
    return float(counts @ np.diag(m.coulomb)[places])


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
    """Errors of a choice of points on one molecule, all in the space of orbital products."""

    def __init__(self, m: Molecule):
        self.m, A = m, m.A
        p, q = np.tril_indices(len(A))
        double = np.where(p == q, 1.0, np.sqrt(2))
        rows = A[p] * A[q] * double[:, None]
        values, vectors = np.linalg.eigh(rows @ rows.T)
        self.spectrum = values[::-1]
        kept = vectors[:, values > 1e-14 * values[-1]]
        self.R = kept.T @ rows
        self.total = float(np.sum(self.R**2))
        size = m.scale[p] * m.scale[q] * double  # a row is this times the product of orbitals
        places, counts = occupied_pairs(m)
        wanted = np.zeros((len(size), len(places)))
        wanted[places, np.arange(len(places))] = np.sqrt(counts) / size[places]
        self.pairs = kept.T @ wanted
        of_density = ((p == q) & (p < m.occupied)) * 2.0 / size
        self.density = kept.T @ of_density  # ρ√w is this times R
        metric, turn = np.linalg.eigh(kept.T @ (m.coulomb * np.outer(size, size)) @ kept)
        self.half = (turn * np.sqrt(metric.clip(0))).T

    def errors(self, order: np.ndarray, least: int = 1) -> tuple[np.ndarray, ...]:
        """Fit, density and exchange of the first 1, 2, … points; the last two from `least` on."""
        Q = np.linalg.qr(self.R[:, order])[0]
        QR, half_Q, of_pairs = Q.T @ self.R, self.half @ Q, Q.T @ self.pairs
        of_density = self.density @ Q
        rho, pairs = self.density @ self.R, self.half @ self.pairs
        fits = self.total - np.cumsum(np.sum(QR * QR, axis=1))
        density, exchange = np.full(len(fits), np.inf), np.full(len(fits), np.inf)
        size = np.linalg.norm(rho)
        for k in range(len(fits)):
            rho = rho - of_density[k] * QR[k]
            pairs -= np.outer(half_Q[:, k], of_pairs[k])
            if k + 1 >= min(least, len(fits)):
                density[k] = np.linalg.norm(rho) / size
                exchange[k] = 1e3 * np.sum(pairs * pairs)
        return fits, density, exchange

    def fit(self, S: np.ndarray) -> float:
        """‖Z − Ẑ‖²_F by projection."""
        Q = np.linalg.qr(self.R[:, S])[0]
        rest = self.R - Q @ (Q.T @ self.R)
        return float(np.sum(rest * rest))

    def tail(self, k: int) -> float:
        return float(np.sum(self.spectrum[k:].clip(0)))

    def of(self, S: np.ndarray) -> tuple[float, ...]:
        """Fit, density and exchange of a choice."""
        return (self.fit(S), *(float(errors[-1]) for errors in self.errors(S, len(S))[1:]))


def first(errors: np.ndarray, goal: float) -> int | None:
    """The number of points at which an error is reached first."""
    reached = np.flatnonzero(errors <= goal)
    return int(reached[0]) + 1 if len(reached) else None


def needs(judge: Judge, name: str, goals: tuple[float, ...], least: int) -> list[int | None]:
    """How many points, at least so many, a rival needs to reach each error."""
    if name != "k-means":
        found = judge.errors(CHOICES[name](judge.m, 2 * least), least)
    else:
        sizes = np.unique(np.linspace(least, 2 * least, 13).astype(int))
        triples = [judge.errors(k_means(judge.m, k), k) for k in sizes]
        every = np.arange(1, 2 * least + 1)
        found = [np.interp(every, sizes, [three[i][-1] for three in triples]) for i in range(3)]
    return [first(errors, goal) for errors, goal in zip(found, goals, strict=True)]


Cells = list[tuple[int, tuple[int | None, ...]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--molecules", nargs="+", choices=list(MOLECULES), default=list(MOLECULES))
    parser.add_argument("--virtual", type=float, default=VIRTUAL)
    arguments = parser.parse_args()
    print("| molecule | grid | orbitals | points | tail/total | choice | fit | density ", end="")
    print("| exchange | CPU s | needs, fit | needs, density | needs, exchange |")
    print("|" + "---|" * 13)
    cells: Cells = []
    second: list[str] = []
    for name in arguments.molecules:
        m = molecule(name)
        judge, weighted = Judge(m), Judge(replace(m, virtual=arguments.virtual))
        for c in PER_ORBITAL:
            k = c * len(m.A)
            cells.append((k, report(name, judge, k)))
            second.append(weighted_row(name, weighted, judge, k))
    for which, word in enumerate(("fit", "density", "exchange")):
        print(summary(word, [(k, found[which]) for k, found in cells]))
    print(
        "\n| molecule | points | density | exchange | needs, density: same weights | no weights ",
        end="",
    )
    print("| needs, exchange: same weights | no weights |\n|" + "---|" * 8)
    print("\n".join(second))


def report(name: str, judge: Judge, k: int) -> tuple[int | None, ...]:
    """Print the rows of one molecule and number of points; what the best rival needs."""
    tail, (p, n) = judge.tail(k), judge.m.A.shape
    rivals = []
    for choice, choose in CHOICES.items():
        start = time.process_time()
        S = choose(judge.m, k)
        seconds = time.process_time() - start
        found = judge.of(S)
        if choice == "landmarks swap":
            goals = found
        wanted = needs(judge, choice, goals, k) if choice in RIVALS else [k] * 3
        if choice in RIVALS:
            rivals.append(wanted)
        words = " | ".join(f"over {2 * k}" if w is None else str(w) for w in wanted)
        print(
            f"| {name} | {n} | {p} | {k} | {tail / judge.total:.1e} | {choice} "
            f"| {found[0] / tail:.2f} | {found[1]:.1e} | {found[2]:.2g} | {seconds:.1f} "
            f"| {words} |",
            flush=True,
        )
    return tuple(least(values) for values in zip(*rivals, strict=True))


def least(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)


def summary(word: str, cells: list[tuple[int, int | None]]) -> str:
    """How many points fewer than the best rival at an equal error."""
    fewer = [1 - k / (2 * k if found is None else found) for k, found in cells]
    many = sum(part >= 0.15 for part in fewer)
    return (
        f"\n{word}: {min(fewer):.0%} to {max(fewer):.0%} fewer points than the best rival at an "
        f"equal error, median {np.median(fewer):.0%}; at least 15 % in {many} of {len(fewer)}"
    )


def weighted_row(name: str, weighted: Judge, plain: Judge, k: int) -> str:
    """One row of the second table."""
    goals = weighted.of(CHOICES["landmarks swap"](weighted.m, k))
    cells = []
    for judge in (weighted, plain):
        pivots = [needs(judge, rival, goals, k) for rival in RIVALS[:2]]
        cells.append([least(values) for values in zip(*pivots, strict=True)])
    words = [
        f"over {2 * k}" if cells[i][q] is None else cells[i][q] for q in (1, 2) for i in (0, 1)
    ]
    return (
        f"| {name} | {k} | {goals[1]:.1e} | {goals[2]:.2g} | " + " | ".join(map(str, words)) + " |"
    )


if __name__ == "__main__":
    main()
