"""Held-out accuracy of a linear model on Nyström features, against scikit-learn's landmarks.

    python benchmarks/downstream.py --data-dir DIR --rows 5000
        [--protocol defaults tuned] [--tasks digits htru2 …] [--quick]

Each split trains scikit-learn's Nystroem with k and with 2k landmarks and ours with k, on
standardised points, with the same Gaussian kernel and the same linear model. Ours is the default,
which looks at the target of the training part, and "kernel alone" is selection="swap", which does
not. There are two protocols:

defaults  scikit-learn's everywhere, as in a pipeline that nobody tunes: gamma = 1/d,
          LogisticRegression(), Ridge().
tuned     weak penalties (C = 100; ridge by leave-one-out), and gamma chosen once for each data set
          and k, by cross-validation of uniform landmarks with 2k on the training part of the first
          split, among 1/4, 1 and 4 over the median squared distance: the baseline's best, not ours.

Printed are means over the splits and their standard errors: accuracy for digits, mnist_test10k and
covtype, average precision for htru2 (9 % pulsars), R² for powerplant and protein. "ours − 2k" is
ours with k less uniform with 2k, split by split.
"""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist
from sklearn import kernel_approximation
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from landmarks.sklearn.nystroem import Nystroem


@dataclass(frozen=True)
class Task:
    """A data set with its target, the linear model on the features, and how it is scored."""

    name: str
    scoring: str

    def load(self, data_dir: Path) -> tuple[np.ndarray, np.ndarray]:
        if self.name == "digits":
            return load_digits(return_X_y=True)
        with np.load(data_dir / f"{self.name}.npz", allow_pickle=False) as archive:
            return archive["X"].astype(np.float64), archive["y"]

    def split(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[np.ndarray]:
        """Training and test points, training and test target; 30 % are held out."""
        return train_test_split(
            X, y, test_size=0.3, random_state=seed, stratify=y if self.scoring != "r2" else None
        )


SCORES = {
    "digits": "accuracy",
    "htru2": "average_precision",
    "powerplant": "r2",
    "protein": "r2",
    "mnist_test10k": "accuracy",
    "covtype": "accuracy",
}


def linear_model(task: Task, protocol: str) -> object:
    """The model on the features."""
    if task.scoring == "r2":
        return Ridge() if protocol == "defaults" else RidgeCV(alphas=np.logspace(-8, 2, 11))
    return LogisticRegression(C=1.0 if protocol == "defaults" else 100.0, max_iter=2000)


def chosen_gamma(task: Task, model: object, X: np.ndarray, y: np.ndarray, k: int) -> float:
    """The gamma at which uniform landmarks, 2k of them, do best in three-fold cross-validation."""
    X_train, _, y_train, _ = task.split(X, y, 0)
    distance = np.median(pdist(StandardScaler().fit_transform(X_train[:1000]), "sqeuclidean"))
    features = kernel_approximation.Nystroem(n_components=2 * k, random_state=0)
    grid = {"nystroem__gamma": [0.25 / distance, 1 / distance, 4 / distance]}
    search = GridSearchCV(
        make_pipeline(StandardScaler(), features, model),
        grid,
        scoring=task.scoring,
        cv=3,
        refit=False,
    )
    return float(search.fit(X_train, y_train).best_params_["nystroem__gamma"])


def score(task: Task, model: object, features: object, split: list[np.ndarray]) -> float:
    """The held-out score of scaled points, kernel features and the linear model."""
    X_train, X_test, y_train, y_test = split
    pipeline = make_pipeline(StandardScaler(), features, model).fit(X_train, y_train)
    return float(get_scorer(task.scoring)(pipeline, X_test, y_test))


def compare(
    task: Task, model: object, split: list[np.ndarray], k: int, gamma: float, seed: int
) -> list[float]:
    """The scores of uniform with k and 2k, and of ours with k without and with the target."""
    uniform = [
        kernel_approximation.Nystroem(gamma=gamma, n_components=c, random_state=seed)
        for c in (k, 2 * k)
    ]
    ours = [
        Nystroem(gamma=gamma, n_components=k, random_state=seed, selection=selection)
        for selection in ("swap", "auto")
    ]
    return [score(task, model, features, split) for features in (*uniform, *ours)]


def row(name: str, k: int, gamma: float, trials: np.ndarray) -> str:
    """One line of the table: means ± standard errors, and the paired difference to uniform 2k."""
    cells = [*trials.T, trials[:, 3] - trials[:, 1]]
    means = " ".join(f"{np.mean(cell):>8.4f} ± {standard_error(cell):.4f}" for cell in cells)
    return f"{name:<13} {k:>4} {gamma:>8.2g} {means}"


def standard_error(values: np.ndarray) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def summary(trials: list[np.ndarray]) -> str:
    """In how many cells ours with k is at least as good as uniform with k and with 2k."""
    few, many, alone, ours = np.mean(trials, axis=1).T
    within = sum(np.mean(t[:, 3] - t[:, 1]) >= -standard_error(t[:, 3] - t[:, 1]) for t in trials)
    return (
        f"of {len(trials)} cells, at least as good as uniform with k: ours "
        f"{np.sum(ours >= few)}; at least as good as uniform with 2k: "
        f"ours {np.sum(ours >= many)} by the mean and {within} within one standard error, by "
        f"the kernel alone {np.sum(alone >= many)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("LANDMARKS_DATA", "."))
    parser.add_argument("--tasks", nargs="+", choices=list(SCORES), default=list(SCORES))
    parser.add_argument(
        "--protocol", nargs="+", choices=["defaults", "tuned"], default=["defaults", "tuned"]
    )
    parser.add_argument("--k", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument(
        "--rows", type=int, default=None, help="use that many rows, drawn once, of each data set"
    )
    parser.add_argument("--quick", action="store_true", help="3 splits, 2000 rows, k = 50")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.splits, arguments.rows, arguments.k = 3, 2000, [50]
    for protocol in arguments.protocol:
        run(arguments, protocol)


def run(arguments: argparse.Namespace, protocol: str) -> None:
    """Print a line for each data set and k, and the count of cells."""
    print(protocol)
    print(
        f"{'data':<13} {'k':>4} {'gamma':>8} {'uniform k':>17} {'uniform 2k':>17} "
        f"{'kernel alone k':>17} {'ours k':>17} {'ours − 2k':>17}"
    )
    cells = []
    for task in (Task(name, SCORES[name]) for name in arguments.tasks):
        X, y = task.load(arguments.data_dir)
        drawn = np.random.default_rng(0).permutation(len(X))[: arguments.rows]
        X, y, model = X[drawn], y[drawn], linear_model(task, protocol)
        for k in arguments.k:
            gamma = 1 / X.shape[1] if protocol == "defaults" else chosen_gamma(task, model, X, y, k)
            trials = np.array(
                [
                    compare(task, model, task.split(X, y, seed), k, gamma, seed)
                    for seed in range(arguments.splits)
                ]
            )
            cells.append(trials)
            print(row(task.name, k, gamma, trials), flush=True)
    print(summary(cells), flush=True)


if __name__ == "__main__":
    main()
