"""Every installable program that chooses columns or landmarks, on the same input.

    tools/peers_env
    OMP_NUM_THREADS=1 .peers/bin/python benchmarks/peers.py --data-dir DIR --out peers.csv

All peers of a cell (data, k) run one after another in one process that holds the data, with as many
threads as the environment allows. When a peer brings that process down or takes longer than 120 s,
it has a second try in a process of its own, and that is its result. Randomised peers are run with
five seeds and have a standard error. Memory is the peak above what was resident before the call.
CPU seconds are of the process, of one run. The CSV file is appended to as results come; cells that
it holds are not run again. The last thing printed is the table of docs/results/peers.md.
"""

import argparse
import csv
import multiprocessing
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from memory import PeakMemory

import landmarks as lm
from landmarks.objectives.objective import as_objective
from paper.data import standardised

LIMIT = 120.0  # seconds for one run of one peer
SEEDS = 5
HEADER = [
    "data",
    "sigma",
    "criterion",
    "k",
    "peer",
    "factor",
    "standard_error",
    "runs",
    "cpu_seconds",
    "peak_mb",
    "failure",
]


@dataclass(frozen=True)
class Cell:
    """A data set and a size; with σ the candidates are rows, of a Gaussian kernel, else columns."""

    data: str
    k: int
    sigma: float | None = None
    criterion: str = "trace"

    @property
    def label(self) -> str:
        return (
            f"{self.data} {self.k}"
            if self.sigma is None
            else f"{self.data} σ={self.sigma:g} {self.k} {self.criterion}"
        )


COLUMNS = [
    Cell(data, k)
    for data, sizes in (
        ("digits", (20, 40)),
        ("residential", (20, 40)),
        ("arrhythmia", (50, 100)),
        ("secom", (50, 100)),
        ("mnist1k", (50, 100)),
    )
    for k in sizes
]
LANDMARKS = [
    Cell(data, k, sigma, criterion)
    for criterion in ("trace", "frobenius")
    for data, sigma, k in (("digits", 10.0, 40), ("residential", 5.0, 80), ("mnist1k", 20.0, 100))
]


class Input:
    """The data of a cell: X of standardised columns, or points with the kernel matrix on them."""

    def __init__(self, cell: Cell, data_dir: str | None):
        self.cell = cell
        self.X = standardised(cell.data, data_dir)
        self.operator = (
            lm.data(self.X) if cell.sigma is None else lm.kernel(self.X, lm.rbf(sigma=cell.sigma))
        )
        # forms K, before any peer is measured
        self.best = as_objective(cell.criterion).best_rank_error(self.operator, cell.k)

    def gram(self) -> np.ndarray:
        return self.X.T @ self.X

    def kernel(self) -> np.ndarray:
        return np.asarray(self.operator.columns(np.arange(self.operator.n)))

    def factor(self, indices: np.ndarray) -> float:
        indices = np.asarray(indices).ravel()
        distinct = np.unique(indices.astype(int))
        if len(indices) != self.cell.k or len(distinct) != self.cell.k:
            raise ValueError(f"returned {len(distinct)} distinct indices for k = {self.cell.k}")
        return as_objective(self.cell.criterion).error(self.operator, distinct) / self.best


# The peers on columns: each takes the input, k and a seed, and returns the indices of k columns.


def scipy_qr(a, k, seed):
    from scipy.linalg import qr

    return qr(a.X, mode="r", pivoting=True)[1][:k]


def scipy_interpolative(a, k, seed):
    from scipy.linalg.interpolative import interp_decomp

    return interp_decomp(a.X, k, rand=False)[0][:k]


def scikit_learn_agglomeration(a, k, seed):
    from sklearn.cluster import FeatureAgglomeration

    labels = FeatureAgglomeration(n_clusters=k).fit(a.X).labels_
    return [nearest_to_mean(a.X, np.flatnonzero(labels == label)) for label in range(k)]


def nearest_to_mean(X, members):
    distance = np.sum((X[:, members] - X[:, members].mean(axis=1, keepdims=True)) ** 2, axis=0)
    return members[np.argmin(distance)]


def skmatter_cur(a, k, seed):
    from skmatter.feature_selection import CUR

    return CUR(n_to_select=k).fit(a.X).selected_idx_


def skmatter_fps(a, k, seed):
    from skmatter.feature_selection import FPS

    return FPS(n_to_select=k).fit(a.X).selected_idx_


def fastcan(a, k, seed):
    from fastcan import FastCan
    from sklearn.decomposition import PCA

    targets = PCA(k, random_state=seed).fit_transform(
        a.X
    )  # as its documentation does without a target
    return FastCan(k, verbose=0).fit(a.X, targets).indices_


def apricot(a, k, seed):
    from apricot import FacilityLocationSelection

    return FacilityLocationSelection(k, metric="corr").fit(np.ascontiguousarray(a.X.T)).ranking


def dppy(a, k, seed):
    from dppy.finite_dpps import FiniteDPP

    return FiniteDPP("likelihood", L=a.gram()).sample_exact_k_dpp(size=k, random_state=seed)


def linselect(a, k, seed):
    from linselect import FwdSelect

    return FwdSelect(dtype=np.float64).fit(a.X).ordered_features[:k]


def right_vectors(a, k):
    return np.linalg.svd(a.X, full_matrices=False)[2][:k].T


def low_rank_toolbox_osinsky(a, k, seed):
    from low_rank_toolbox import Osinsky

    return Osinsky(right_vectors(a, k))


def low_rank_toolbox_qdeim(a, k, seed):
    from low_rank_toolbox import QDEIM

    return QDEIM(right_vectors(a, k))


def low_rank_toolbox_arp(a, k, seed):
    from low_rank_toolbox import ARP

    return ARP(right_vectors(a, k), seed=seed)


def pysensors(a, k, seed):
    from pysensors.basis import SVD
    from pysensors.reconstruction import SSPOR

    return (
        SSPOR(basis=SVD(n_basis_modes=k), n_sensors=k).fit(a.X, quiet=True).get_selected_sensors()
    )


def gpytorch_columns(a, k, seed):
    return pivoted_cholesky(a.gram(), k)


def pivoted_cholesky(K, k):
    import torch
    from linear_operator import to_linear_operator

    return (
        to_linear_operator(torch.as_tensor(K))
        .pivoted_cholesky(rank=k, error_tol=0.0, return_pivots=True)[1][:k]
        .numpy()
    )


# The peers on landmarks: rows of X for a Gaussian kernel.


def scikit_learn_nystroem(a, k, seed):
    from sklearn.kernel_approximation import Nystroem

    return (
        Nystroem(gamma=a.cell.sigma**-2, n_components=k, random_state=seed)
        .fit(a.X)
        .component_indices_
    )


def scikit_learn_kmeans(a, k, seed):
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    centres = KMeans(k, random_state=seed).fit(a.X).cluster_centers_
    return pairwise_distances_argmin(centres, a.X)


def skmatter_sample_fps(a, k, seed):
    from skmatter.sample_selection import FPS

    return FPS(n_to_select=k).fit(a.X).selected_idx_


def skmatter_sample_cur(a, k, seed):
    from skmatter.sample_selection import CUR

    return CUR(n_to_select=k).fit(a.kernel()).selected_idx_


def apricot_kernel(a, k, seed):
    from apricot import FacilityLocationSelection

    return FacilityLocationSelection(k, metric="precomputed").fit(a.kernel()).ranking


def dppy_kernel(a, k, seed):
    from dppy.finite_dpps import FiniteDPP

    return FiniteDPP("likelihood", L=a.kernel()).sample_exact_k_dpp(size=k, random_state=seed)


def gpytorch_kernel(a, k, seed):
    return pivoted_cholesky(a.kernel(), k)


def scipy_interpolative_kernel(a, k, seed):
    from scipy.linalg.interpolative import interp_decomp

    return interp_decomp(a.kernel(), k, rand=False)[0][:k]


def low_rank_toolbox_kernel(a, k, seed):
    from low_rank_toolbox import Osinsky

    return Osinsky(np.linalg.eigh(a.kernel())[1][:, -k:])


def ours(method):
    def choose(a, k, seed):
        A = lm.data(a.X) if a.cell.sigma is None else lm.kernel(a.X, lm.rbf(sigma=a.cell.sigma))
        return lm.select(A, k, method=method, criterion=a.cell.criterion, seed=seed).indices

    return choose


OURS = {f"landmarks {name}": (ours(name), 1) for name in ("auto", "annealed", "swap", "greedy")}
PEERS = {
    "columns": {
        "scikit-learn FeatureAgglomeration": (scikit_learn_agglomeration, 1),
        "SciPy pivoted QR": (scipy_qr, 1),
        "SciPy interpolative": (scipy_interpolative, 1),
        "scikit-matter CUR": (skmatter_cur, 1),
        "scikit-matter FPS": (skmatter_fps, 1),
        "fastcan": (fastcan, 1),
        "apricot facility location": (apricot, 1),
        "DPPy k-DPP": (dppy, SEEDS),
        "linselect": (linselect, 1),
        "low-rank-toolbox Osinsky": (low_rank_toolbox_osinsky, 1),
        "low-rank-toolbox QDEIM": (low_rank_toolbox_qdeim, 1),
        "low-rank-toolbox ARP": (low_rank_toolbox_arp, SEEDS),
        "PySensors": (pysensors, 1),
        "GPyTorch pivoted Cholesky": (gpytorch_columns, 1),
        **OURS,
    },
    "landmarks": {
        "scikit-learn Nystroem": (scikit_learn_nystroem, SEEDS),
        "scikit-learn k-means, nearest": (scikit_learn_kmeans, SEEDS),
        "SciPy interpolative": (scipy_interpolative_kernel, 1),
        "scikit-matter FPS": (skmatter_sample_fps, 1),
        "scikit-matter CUR": (skmatter_sample_cur, 1),
        "apricot facility location": (apricot_kernel, 1),
        "DPPy k-DPP": (dppy_kernel, SEEDS),
        "low-rank-toolbox Osinsky": (low_rank_toolbox_kernel, 1),
        "GPyTorch pivoted Cholesky": (gpytorch_kernel, 1),
        **OURS,
    },
}
PACKAGES = [
    "landmarks",
    "numpy",
    "scipy",
    "scikit-learn",
    "skmatter",
    "fastcan",
    "apricot-select",
    "dppy",
    "linselect",
    "low-rank-toolbox",
]
PACKAGES += ["python-sensors", "gpytorch", "torch"]


def peers_of(cell):
    return PEERS["columns" if cell.sigma is None else "landmarks"]


def serve(pipe, cell, data_dir):
    """In a separate process: hold the data, run the requested peers, return what they gave."""
    warnings.simplefilter("ignore")
    a = Input(cell, data_dir)
    while (name := pipe.recv()) is not None:
        pipe.send(measured(a, *peers_of(cell)[name]))


def measured(a, choose, runs):
    """The factors, the CPU seconds and peak memory of one run, or the reason for a failure."""
    factors, seconds, extra = [], [], []
    try:
        for seed in range(runs):
            if seed == 0:
                import_first(choose, a)
            start = time.process_time()
            with PeakMemory() as memory:
                indices = choose(a, a.cell.k, seed)
            seconds.append(time.process_time() - start)
            extra.append(memory.extra)
            factors.append(a.factor(indices))
    except Exception as error:  # whatever a peer raises is its result
        return [], 0.0, 0.0, f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
    return factors, min(seconds), max(extra) / 2**20, ""


def import_first(choose, a):
    """Run once on a few random numbers, so that imports and compilation are not measured."""
    small = object.__new__(Input)
    small.cell = Cell("random", 3, a.cell.sigma, a.cell.criterion)
    small.X = np.random.default_rng(0).standard_normal((40, 20))
    small.operator = (
        lm.data(small.X) if a.cell.sigma is None else lm.kernel(small.X, lm.rbf(sigma=a.cell.sigma))
    )
    try:
        choose(small, 3, 0)
    except Exception:
        return


class Worker:
    """The process of a cell; a peer that brings it down has a second try in its own process."""

    def __init__(self, cell, data_dir):
        self.cell, self.data_dir, self.process = cell, data_dir, None

    def run(self, name):
        alone = self.process is None
        result = self.attempt(name)
        if self.process is None and not alone:
            first, result = result[3], self.attempt(name)
            self.close()
            result = (
                (*result[:3], result[3] or f"none alone; with other peers: {first}")
                if result[0]
                else result
            )
        return result

    def attempt(self, name):
        if self.process is None:
            self.start()
        self.pipe.send(name)
        try:
            if self.pipe.poll(LIMIT * peers_of(self.cell)[name][1]):
                return self.pipe.recv()
            reason = f"took longer than {LIMIT:g} s"
        except (EOFError, ConnectionError):
            self.process.join()
            reason = f"ended the process, exit code {self.process.exitcode}"
        self.close()
        return [], 0.0, 0.0, reason

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, self.cell, self.data_dir))
        self.process.start()
        other.close()

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def row(cell, name, factors, seconds, peak, failure):
    mean = f"{np.mean(factors):.6g}" if factors else ""
    error = f"{np.std(factors, ddof=1) / len(factors) ** 0.5:.3g}" if len(factors) > 1 else ""
    sigma = "" if cell.sigma is None else f"{cell.sigma:g}"
    measured = [f"{seconds:.3f}", f"{peak:.1f}"] if factors else ["", ""]
    return [
        cell.data,
        sigma,
        cell.criterion,
        str(cell.k),
        name,
        mean,
        error,
        str(len(factors)),
        *measured,
        failure,
    ]


def read(path):
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))[1:]


def run(cells, path, data_dir):
    """Run what the file lacks."""
    done = {tuple(line[:5]) for line in read(path)}
    for cell in cells:
        worker = Worker(cell, data_dir)
        for name in peers_of(cell):
            if tuple(row(cell, name, [], 0, 0, "")[:5]) not in done:
                line = row(cell, name, *worker.run(name))
                append(path, line)
                print(
                    f"{cell.label:<32} {name:<36} {line[5]:>9} {line[8]:>8} s {line[9]:>7} "
                    f"MB {line[10]}",
                    flush=True,
                )
        worker.close()


def append(path, line):
    new = not path.is_file()
    with open(path, "a", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEADER, line] if new else [line])


def markdown(lines):
    """Three tables of each kind (factors, seconds, memory), the failures, and where we lose."""
    for kind, cells in (("columns", COLUMNS), ("landmarks", LANDMARKS)):
        present = [
            cell
            for cell in cells
            if any(line[:4] == row(cell, "", [], 0, 0, "")[:4] for line in lines)
        ]
        if not present:
            continue
        found = {tuple(line[:5]): line for line in lines}
        yield from (
            "",
            f"## {'Columns' if kind == 'columns' else 'Landmarks of a Gaussian kernel'}",
        )
        for title, place in (
            ("Error over the best rank-k error", 5),
            ("CPU seconds", 8),
            ("Peak memory above the data, MB", 9),
        ):
            yield from (
                "",
                f"### {title}",
                "",
                "| | " + " | ".join(cell.label for cell in present) + " |",
                "|---" * (len(present) + 1) + "|",
            )
            for name in PEERS[kind]:
                shown = [
                    entry(found.get(tuple(row(cell, name, [], 0, 0, "")[:5])), place)
                    for cell in present
                ]
                yield f"| {name} | " + " | ".join(shown) + " |"
        yield from verdicts(present, found)


def entry(line, place):
    if line is None:
        return ""
    if line[10] and not line[5]:
        return "failed"
    return (
        f"{float(line[5]):.4f}" + (f" ± {float(line[6]):.2g}" if line[6] else "")
        if place == 5
        else line[place]
    )


def verdicts(cells, found):
    reasons, lost = defaultdict(list), []
    for cell in cells:
        lines = {
            name: found.get(tuple(row(cell, name, [], 0, 0, "")[:5])) for name in peers_of(cell)
        }
        for name, line in lines.items():
            if line and line[10]:  # a failure, or a second try that went well
                reasons[name, line[10]].append(cell.label)
        factors = {
            name: float(line[5])
            for name, line in lines.items()
            if line and line[5] and not name.startswith("landmarks")
        }
        default = lines.get("landmarks auto")
        if default and default[5] and factors and min(factors.values()) < float(default[5]) / 1.001:
            best = min(factors, key=factors.get)
            lost.append(
                f"{cell.label}: {best} has {factors[best]:.4f}, landmarks auto "
                f"{float(default[5]):.4f}"
            )
    yield from (
        "",
        "Cells in which a peer is more than 0.1 % better than `landmarks auto`: "
        + ("; ".join(lost) or "none")
        + ".",
        "",
    )
    yield from (
        f"* {name}, failures on {', '.join(labels)}: {reason}"
        for (name, reason), labels in reasons.items()
    )


def versions():
    for name in PACKAGES:
        try:
            yield f"{name} {lm.__version__ if name == 'landmarks' else version(name)}"
        except PackageNotFoundError:
            yield f"{name} not installed"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--out", type=Path, default=Path("peers.csv"))
    parser.add_argument("--data", nargs="+", default=None, help="these data sets alone")
    arguments = parser.parse_args()
    cells = [
        cell
        for cell in COLUMNS + LANDMARKS
        if arguments.data is None or cell.data in arguments.data
    ]
    run(cells, arguments.out, arguments.data_dir)
    print("\nVersions: " + ", ".join(versions()) + ".")
    for line in markdown(read(arguments.out)):
        print(line)


if __name__ == "__main__":
    main()
