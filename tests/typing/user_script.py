"""A user's script with every public name, as mypy --strict and pyright see it."""

import numpy as np

import landmarks as lm

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 8))
K = X.T @ X


def product(block: np.ndarray) -> np.ndarray:
    """K times a block."""
    return np.asarray(K @ block)


def watch(progress: lm.Progress) -> bool:
    """Stop after a minute."""
    return progress.seconds > 60


s: lm.Selection = lm.select(X, 3, center=True, scale=True, callback=watch)
share: lm.Selection = lm.select(X, 0.5)
names: list[object] | None = s.chosen_names
error: float = s.relative_error("trace")
line: str = str(s.summary())
operators = [
    lm.data(X, center=True),
    lm.psd(K),
    lm.kernel(X, lm.rbf(sigma=2.0)),
    lm.kernel(X, lm.laplacian(sigma=2.0)),
    lm.kernel(X, lm.matern(nu=1.5, sigma=2.0)),
    lm.kernel(X, lm.polynomial(degree=2)),
    lm.kernel(X, lm.linear()),
    lm.function(product, n=8),
    lm.toeplitz(np.exp(-np.arange(8.0))),
    lm.hadamard(X),
]
methods = [
    lm.Auto(),
    lm.Annealed(),
    lm.Continuous(),
    lm.Exact(),
    lm.Greedy(),
    lm.Iterated(),
    lm.KDPP(),
    lm.KMeans(),
    lm.Knapsack(),
    lm.NuclearScores(),
    lm.PivotedQR(),
    lm.RPCholesky(),
    lm.RidgeLeverage(),
    lm.Swap(),
    lm.Uniform(),
    lm.Supervised(np.arange(8.0)),
]
products: lm.Selection = lm.select(lm.hadamard(X), 2)
rules = [lm.MaxError(0.1), lm.Knee(), lm.LikelihoodRatio(), lm.CrossValidated()]
curve: lm.Curve = lm.path(X, 4)
knee: int = curve.knee()
held: lm.HeldOut = lm.held_out(X, [1, 2])
table: lm.Comparison = lm.compare(X, 3, methods=["greedy", lm.Uniform()])
best: lm.Selection = table.best
places = np.arange(len(K), dtype=float)[:, None]
zone: np.ndarray = lm.in_box(places, 0.0, 1.0)
ball: np.ndarray = lm.in_ball(places, [0.0], 1.0)
corner: np.ndarray = lm.in_polygon(np.hstack([places, places]), [[0, 0], [1, 0], [0, 1]])
apart = lm.MinDistance(places, 2.0)
halves = lm.Regions(places[:, 0] < 2, at_most={True: 1})
regional: lm.Selection = lm.select(lm.psd(K), 2, constraints=[apart, halves], exclude=zone[:1])

problem: lm.Problem = lm.Problem(lm.psd(K), k=2)
choice: lm.Choice = lm.Greedy().choose(problem, rng)
selector: lm.ColumnSelector = lm.ColumnSelector(3, center=True).fit(X)
features = lm.Nystroem(n_components=4).fit_transform(X)
kept: lm.Checkpoint = lm.Checkpoint("run.ckpt")


def again(path: str) -> lm.Selection:
    """A selection from a file."""
    return lm.load(path)
