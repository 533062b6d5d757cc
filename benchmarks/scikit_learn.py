"""Our two estimators and scikit-learn's, on data that come with it: scores and times.

    OMP_NUM_THREADS=1 python benchmarks/scikit_learn.py

Prints the tables of docs/recipes/scikit_learn.md: the accuracy of logistic regression on the
columns that `ColumnSelector` and `SelectKBest` choose, and what a fit of `Nystroem` costs.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.kernel_approximation import Nystroem as Drawn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, label_binarize

import landmarks as lm
from landmarks.errors import ConstantWarning

DATA = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}


class ForClasses(TransformerMixin, BaseEstimator):
    """Columns that rebuild the indicators of the classes."""

    def __init__(self, k: int = 5):
        self.k = k

    def fit(self, X, y):
        indicators = label_binarize(y, classes=np.unique(y))
        self.selector_ = lm.ColumnSelector(self.k, target="y", center=True).fit(X, indicators)
        return self

    def transform(self, X):
        return self.selector_.transform(X)


def accuracies(X: np.ndarray, y: np.ndarray, k: int) -> list[float]:
    """Accuracy on held-out rows with the columns of each selector."""
    selectors = [
        SelectKBest(f_classif, k=k),
        lm.ColumnSelector(k, center=True),
        ForClasses(k),
    ]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return [
        cross_val_score(
            make_pipeline(StandardScaler(), selector, LogisticRegression(max_iter=500)),
            X,
            y,
            cv=folds,
        ).mean()
        for selector in selectors
    ]


def seconds(model, X, y, repeats: int) -> float:
    """The shortest of several fits."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        model.fit(X, y)
        times.append(time.perf_counter() - start)
    return min(times)


def error(model, X) -> float:
    """The error of the kernel matrix in the trace norm, relative to its trace."""
    features = model.transform(X)
    return float(1 - np.sum(features * features) / np.trace(rbf_kernel(X, gamma=model.gamma)))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", ConstantWarning)
    warnings.filterwarnings("ignore", message="Features .* are constant")
    warnings.filterwarnings("ignore", message="invalid value encountered in divide")
    print('| data | columns | `SelectKBest` | `ColumnSelector` | `ColumnSelector(target="y")` |')
    print("|---|---|---|---|---|")
    for name, load in DATA.items():
        X, y = load(return_X_y=True)
        X = X[:, np.ptp(X, axis=0) > 0]
        for k in (3, 5, 10):
            row = " | ".join(f"{value:.3f}" for value in accuracies(X, y, k))
            print(f"| {name} | {k} | {row} |", flush=True)
    print()
    print("| landmarks of digits | seconds | error of K |")
    print("|---|---|---|")
    X, y = load_digits(return_X_y=True)
    X = X / 16
    for k in (50, 200):
        for what, model, target in (
            ("drawn, scikit-learn", Drawn(gamma=0.05, n_components=k, random_state=0), None),
            ("chosen", lm.Nystroem(gamma=0.05, n_components=k, random_state=0), None),
            ("chosen, with y", lm.Nystroem(gamma=0.05, n_components=k, random_state=0), y),
            ("greedy", lm.Nystroem(gamma=0.05, n_components=k, selection="greedy"), None),
            (
                "randomly pivoted Cholesky",
                lm.Nystroem(gamma=0.05, n_components=k, selection="rpcholesky", random_state=0),
                None,
            ),
        ):
            spent = seconds(model, X, target, repeats)
            print(f"| {k}, {what} | {spent:.3f} | {error(model, X):.4f} |", flush=True)


if __name__ == "__main__":
    main()
