"""The compiled search makes the moves of NumPy; one that cannot be used is left out with a word."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import landmarks as lm
from landmarks.residual.compiled import library as compiled

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((60, 4))
PLACES = np.sort(RNG.uniform(-1, 1, 60))
SMOOTH = np.polynomial.legendre.legvander(PLACES, 17).T
ROWS = RNG.standard_normal((18, 18)) @ (0.75 ** np.arange(18)[:, None] * SMOOTH)
FORMS = {
    "stored": lm.rbf(sigma=1.5)(POINTS, POINTS),  # whose residuals keep their digits
    "few rows": ROWS,  # smooth columns, whose residual is kept as a matrix
}
OBJECTIVES = {
    "trace": {},
    "frobenius": {"criterion": "frobenius"},
    "target": {"target": RNG.standard_normal((60, 3))},
    "noise": {"noise": 0.5},
    "logdet": {"criterion": "logdet", "noise": 0.5},
}
LIMITS = {"plain": {}, "include, exclude": {"include": [3, 40], "exclude": [7, 8]}}
METHODS = [
    "greedy",
    "auto",
    lm.Swap(start=np.array([2, 7, 55, 12, 30, 48, 25, 42])),
    lm.Iterated(rounds=8),
]


@pytest.mark.skipif(compiled.library() is None, reason="the search was not compiled")
@pytest.mark.parametrize("method", METHODS, ids=["greedy", "auto", "swap", "iterated"])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("form", FORMS)
def test_with_and_without_it_the_moves_are_the_same(form, objective, limits, method, monkeypatch):
    words = {**OBJECTIVES[objective], **LIMITS[limits], "method": method}
    if isinstance(method, lm.Swap) and limits != "plain":
        words["method"] = "swap"
    if form == "few rows" and "target" in words:
        words["target"] = ROWS @ words["target"]

    def chosen():
        A = lm.psd(FORMS[form]) if form == "stored" else lm.data(ROWS)
        return lm.select(A, 8, **words)

    ours = chosen()
    monkeypatch.setattr(compiled, "library", lambda: None)
    plain = chosen()
    assert sorted(ours.indices.tolist()) == sorted(plain.indices.tolist())
    assert ours.error() == pytest.approx(plain.error(), rel=1e-9)


def test_a_library_that_cannot_be_loaded_is_reported(tmp_path, monkeypatch):
    (tmp_path / "swaps.so").write_bytes(b"not a library")
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "library.py"))
    with pytest.warns(UserWarning, match="cannot be loaded, so NumPy is used.*install landmarks"):
        assert compiled.library.__wrapped__() is None


def test_a_library_with_another_choice_is_not_used(monkeypatch):
    if compiled.library() is None:
        pytest.skip("swaps.c was not compiled")

    class Longer(ctypes.Structure):
        _fields_ = [*compiled.Choice._fields_, ("further", ctypes.c_double)]

    monkeypatch.setattr(compiled, "Choice", Longer)
    with pytest.warns(UserWarning, match="than this version; install landmarks"):
        assert compiled.library.__wrapped__() is None


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("flags", [[], ["-DWIDE="]], ids=["wide", "plain"])
def test_the_sources_compile_without_a_warning(flags, tmp_path):
    source = Path(compiled.__file__).with_name("swaps.c")
    command = ["cc", "-O1", "-fopenmp-simd", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    target = tmp_path / "swaps.so"
    subprocess.run([*command, *flags, "-o", target, source, "-lm"], check=True)
    assert ctypes.CDLL(str(target)).size_of_choice() == ctypes.sizeof(compiled.Choice)
