"""Draw docs/images/logdet.svg: the same points, chosen by the trace and by the log determinant.

python docs/logdet_picture.py
"""

from pathlib import Path

import matplotlib
import numpy as np

import landmarks as lm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

K, WORDS = 8, {"trace": "trace: rebuild the others", "logdet": "log det: be independent"}


def main() -> None:
    rng = np.random.default_rng(3)
    clusters = [rng.normal(c, 0.16, (70, 2)) for c in ((0.3, 0.4), (1.0, 1.0), (1.5, 0.3))]
    points = np.vstack([*clusters, rng.uniform((-0.7, -0.6), (2.3, 1.8), (14, 2))])
    kernel = lm.kernel(points, lm.rbf(0.35))
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharex=True, sharey=True)
    for ax, criterion in zip(axes, WORDS, strict=True):
        s = lm.select(kernel, K, criterion=criterion)
        kept = 1 - s.relative_error("trace")
        chosen = kernel.columns(s.indices)[s.indices]
        volume = np.linalg.slogdet(chosen)[1]
        print(criterion, f"{kept:.1%} of the trace, log det {volume:.2f}")
        ax.scatter(*points.T, s=10, color="0.65", linewidths=0)
        ax.scatter(*points[s.indices].T, s=60, facecolors="none", edgecolors="C3", linewidths=1.8)
        ax.set_title(WORDS[criterion], fontsize=11)
        ax.set_aspect("equal")
        ax.set_xticks([])
        ax.set_yticks([])
    figure.tight_layout()
    with matplotlib.rc_context({"svg.hashsalt": "landmarks"}):
        path = Path(__file__).parent / "images" / "logdet.svg"
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
