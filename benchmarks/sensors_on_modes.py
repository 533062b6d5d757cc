"""Sensors on modes: the reconstruction of unseen images and fields, ours and those of PySensors.

    OMP_NUM_THREADS=1 python benchmarks/sensors_on_modes.py       # needs python-sensors and pillow

Digits, patches of a photograph (both of scikit-learn) and the temperature fields in the wheel of
python-sensors; the basis is an SVD with so many modes. SSPOR fits two thirds of the rows and
reconstructs the rest from so many sensors, fewer than modes, as many, or more. The figures are the
root mean square errors by least squares, as of `SSPOR.score`; "over QR" is ours over QR's.
QR's sensors beyond the modes are random, so QR and CCQR have the mean of ten seeds there.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pysensors
from pysensors import basis, optimizers
from sklearn.datasets import load_digits, load_sample_image

from landmarks.adapters.pysensors import LandmarkSensors

SEEDS = 10
SIZES = [(10, 6), (10, 10), (10, 15), (10, 30), (20, 12), (20, 20), (20, 30), (20, 60)]


def fields() -> np.ndarray:
    """The 49 temperature fields at every 20th place."""
    place = Path(pysensors.__file__).parents[1] / "examples" / "data" / "simulation_example_data"
    read = [
        np.loadtxt(f, delimiter=",", skiprows=1, usecols=0) for f in sorted(place.glob("*.csv"))
    ]
    return np.asarray(read)[:, ::20]


def patches() -> np.ndarray:
    """Patches of 16 × 16 pixels of a photograph in grey."""
    image = load_sample_image("china.jpg").mean(axis=2)
    high, wide = (size // 16 * 16 for size in image.shape)
    cut = image[:high, :wide].reshape(high // 16, 16, wide // 16, 16)
    return cut.transpose(0, 2, 1, 3).reshape(-1, 256)


def score(X: np.ndarray, optimizer: object, modes: int, sensors: int, seed: int) -> float:
    order = np.random.default_rng(0).permutation(len(X))
    train, test = X[order[: 2 * len(X) // 3]], X[order[2 * len(X) // 3 :]]
    kind = basis.SVD(n_basis_modes=modes, random_state=0)
    model = pysensors.SSPOR(basis=kind, optimizer=optimizer, n_sensors=sensors)
    model.fit(train, quiet=True, seed=seed)
    seen = test[:, model.get_selected_sensors()]  # `score` refuses TPGR, which ranks no others
    return float(np.sqrt(np.mean((model.predict(seen, method="unregularized") - test) ** 2)))


def main() -> int:
    argparse.ArgumentParser(description=__doc__.split("\n\n")[0]).parse_args()
    warnings.simplefilter("ignore")
    worst = 0.0
    print("| data | modes | sensors | landmarks | QR | CCQR | TPGR | over QR |")
    print("|---|---|---|---|---|---|---|---|")
    data = {"digits": load_digits().data, "photograph": patches(), "temperatures": fields()}
    for name, X in data.items():
        for modes, sensors in SIZES:
            rules = {
                "ours": lambda k=sensors: LandmarkSensors(n_sensors=k),
                "QR": optimizers.QR,
                "CCQR": optimizers.CCQR,
                "TPGR": lambda k=sensors: optimizers.TPGR(n_sensors=k),
            }
            found = {
                rule: np.mean(
                    [
                        score(X, make(), modes, sensors, seed)
                        for seed in range(SEEDS if "Q" in rule and sensors > modes else 1)
                    ]
                )
                for rule, make in rules.items()
            }
            ratio = found["ours"] / found["QR"]
            worst = max(worst, ratio)
            figures = " | ".join(f"{value:.4g}" for value in found.values())
            print(f"| {name} | {modes} | {sensors} | {figures} | {ratio:.3f} |", flush=True)
    print(f"\nThe largest ratio to QR is {worst:.3f}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
