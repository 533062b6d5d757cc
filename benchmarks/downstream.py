"""Held-out accuracy of a linear model on Nyström features: landmarks chosen by default, beside scikit-learn's uniform ones.

    python benchmarks/downstream.py --data-dir DIR [--quick]

Each split trains scikit-learn's Nystroem with k and with 2k landmarks and ours with k, on standardised points, with the
default kernel (Gaussian, gamma = 1/n_features) and the same linear model: logistic regression, or ridge regression with its
penalty found by leave-one-out. Printed are the means over the splits and their standard errors: accuracy for digits,
mnist_test10k and covtype, average precision for htru2 (9 % pulsars), R² for powerplant and protein. The last column is
ours with k less uniform with 2k, split by split.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn import kernel_approximation
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import get_scorer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from landmarks.estimators import Nystroem


@dataclass(frozen=True)
class Task:
    """A data set with its target, the linear model on the features, and how it is scored."""

    name: str
    model: object
    scoring: str

    def load(self, data_dir: Path) -> tuple[np.ndarray, np.ndarray]:
        if self.name == "digits":
            return load_digits(return_X_y=True)
        with np.load(data_dir / f"{self.name}.npz", allow_pickle=False) as archive:
            return archive["X"].astype(np.float64), archive["y"]


LOGISTIC, RIDGE = LogisticRegression(C=100.0, max_iter=2000), RidgeCV(alphas=np.logspace(-8, 2, 11))
TASKS = {
    "digits": Task("digits", LOGISTIC, "accuracy"),
    "htru2": Task("htru2", LOGISTIC, "average_precision"),
    "powerplant": Task("powerplant", RIDGE, "r2"),
    "protein": Task("protein", RIDGE, "r2"),
    "mnist_test10k": Task("mnist_test10k", LOGISTIC, "accuracy"),
    "covtype": Task("covtype", LOGISTIC, "accuracy"),
}


def score(task: Task, features: object, split: list[np.ndarray]) -> float:
    """The held-out score of scaled points, kernel features and the linear model."""
    X_train, X_test, y_train, y_test = split
    pipeline = make_pipeline(StandardScaler(), features, task.model).fit(X_train, y_train)
    return float(get_scorer(task.scoring)(pipeline, X_test, y_test))


def compare(task: Task, X: np.ndarray, y: np.ndarray, k: int, seed: int) -> list[float]:
    """Uniform with k, uniform with 2k, ours with k, on one split."""
    stratify = y if task.scoring != "r2" else None
    split = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=stratify)
    uniform = [kernel_approximation.Nystroem(n_components=c, random_state=seed) for c in (k, 2 * k)]
    return [score(task, features, split) for features in (*uniform, Nystroem(n_components=k, random_state=seed))]


def row(name: str, k: int, scores: np.ndarray) -> str:
    """One line of the table: means ± standard errors, and the paired difference of ours and twice the landmarks."""
    cells = [*scores.T, scores[:, 2] - scores[:, 1]]
    errors = [np.std(cell, ddof=1) / np.sqrt(len(cell)) for cell in cells]
    return f"{name:<12} {k:>4} " + " ".join(f"{np.mean(cell):>9.4f} ± {error:.4f}" for cell, error in zip(cells, errors, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("LANDMARKS_DATA", "."))
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=["digits", "htru2", "powerplant", "protein"])
    parser.add_argument("--k", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=None, help="use that many rows, drawn once, of each data set")
    parser.add_argument("--quick", action="store_true", help="3 splits, 2000 rows, k = 50")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.splits, arguments.rows, arguments.k = 3, 2000, [50]
    print(f"{'data':<12} {'k':>4} {'uniform k':>18} {'uniform 2k':>18} {'ours k':>18} {'ours − 2k':>18}")
    for name in arguments.tasks:
        X, y = TASKS[name].load(arguments.data_dir)
        drawn = np.random.default_rng(0).permutation(len(X))[: arguments.rows]
        for k in arguments.k:
            print(row(name, k, np.array([compare(TASKS[name], X[drawn], y[drawn], k, seed) for seed in range(arguments.splits)])), flush=True)


if __name__ == "__main__":
    main()
