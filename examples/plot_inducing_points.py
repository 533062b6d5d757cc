"""
A Gaussian process with good inducing points
============================================

A sparse Gaussian process uses k inducing points. The error of its approximation is that of the
Nyström approximation of the kernel matrix, so choose the points that make that error small. Random
points are concentrated where the data are dense.
"""

import matplotlib.pyplot as plt
import numpy as np

import landmarks as lm

rng = np.random.default_rng(0)
x = np.sort(np.concatenate([rng.normal(-2, 0.4, 1200), rng.uniform(-4, 4, 400)]))[:, None]
y = np.sin(3 * x[:, 0]) * np.exp(-0.1 * x[:, 0] ** 2) + 0.2 * rng.standard_normal(len(x))
kernel, noise = lm.rbf(sigma=0.7), 0.04


# %%
# The mean of the sparse process (the projected-process approximation) uses K̂ = F Fᵀ instead of K
# and takes one solve in O(nk²).


def predict(selection):
    """The mean at the points themselves."""
    approximation = selection.nystrom()
    return (
        approximation.factor
        @ (approximation.factor.T @ approximation.solve(y[:, None], noise))[:, 0]
    )


K = lm.kernel(x, kernel)
exact = np.linalg.solve(K.columns(np.arange(len(x))) + noise * np.eye(len(x)), y)
exact_mean = K.matmul(exact[:, None])[:, 0]

for k in (5, 10, 15, 20):
    ours = lm.select(K, k)
    random = [lm.select(K, k, method="uniform", seed=seed) for seed in range(10)]
    off = np.sqrt(np.mean((predict(ours) - exact_mean) ** 2))
    off_random = np.mean([np.sqrt(np.mean((predict(s) - exact_mean) ** 2)) for s in random])
    print(f"k = {k:2d}: off the exact mean by {off:.4f}, with random points by {off_random:.4f}")

# %%
# Twelve points: the chosen ones spread over the line, the random ones are where the data are dense.

ours, random = lm.select(K, 12), lm.select(K, 12, method="uniform")
figure, axes = plt.subplots(2, 1, figsize=(7, 4.5), sharex=True)
for ax, selection, title in ((axes[0], ours, "chosen"), (axes[1], random, "random")):
    ax.plot(x, y, ".", color="0.8", markersize=2)
    ax.plot(x, exact_mean, color="0.3", lw=1, label="exact process")
    ax.plot(x, predict(selection), color="#D55E00", label="with 12 inducing points")
    ax.plot(x[selection.indices], np.full(12, -1.6), "|", color="#0072B2", markersize=14)
    ax.set_title(title)
axes[0].legend(loc="upper right")
figure.tight_layout()
