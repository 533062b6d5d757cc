"""
A kernel machine on many points
===============================

Kernel ridge regression on n points needs an n × n matrix. With k landmarks it needs n × k numbers,
and the landmarks can be chosen without ever storing the matrix. This page takes seconds with 20 000
points. With a million points the same code runs on one graphics card, if the points are a torch
tensor on that card (``docs/gpu.md``).
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

import landmarks as lm

rng = np.random.default_rng(0)
n = 20_000
centres = rng.normal(size=(60, 3))
points = (centres[rng.integers(0, 60, n)] + 0.3 * rng.standard_normal((n, 3))).astype(np.float32)
target = np.sin(2 * points[:, 0]) + np.abs(points[:, 1]) + 0.1 * rng.standard_normal(n)
train, test = slice(0, 15_000), slice(15_000, None)

# %%
# Nuclear scores need one block of products and k columns. For many points they are the cheapest
# method that is nearly as good as greedy.

operator = lm.kernel(points[train], lm.rbf(sigma=1.0))
for method in ("uniform", "rpcholesky", "nuclear"):
    start = time.perf_counter()
    selection = lm.select(operator, 100, method=method)
    print(
        f"{method:<11} trace error {selection.relative_error():.4f}, "
        f"{selection.ledger.products} products, {time.perf_counter() - start:.1f} s"
    )

# %%
# If the exact Frobenius error costs too much, estimate it, with a confidence interval.

estimate = selection.estimated_error("frobenius")
print(
    f"squared Frobenius error {estimate.value:.3g}, 95 % interval {estimate.low:.3g} to "
    f"{estimate.high:.3g}"
)

# %%
# Compute features of new points and fit a linear model on them. In a pipeline with scikit-learn's
# class, only the import changes.

ks, ours, uniform = (10, 20, 40, 80), [], []
for k in ks:
    for scores, choice in ((ours, "nuclear"), (uniform, "uniform")):
        features = lm.Nystroem(gamma=1.0, n_components=k, selection=choice, random_state=0).fit(
            points[train]
        )
        model = Ridge(alpha=1e-3).fit(features.transform(points[train]), target[train])
        scores.append(model.score(features.transform(points[test]), target[test]))
figure, ax = plt.subplots(figsize=(5, 3.2))
ax.semilogx(ks, ours, "o-", color="#0072B2", label="chosen by nuclear scores")
ax.semilogx(ks, uniform, "s--", color="#D55E00", label="uniform")
ax.set(xlabel="landmarks", ylabel="R² on unseen points")
ax.legend()
figure.tight_layout()
