"""How far a computed error is from the exact one, in units of what rounding explains."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from properties.strategies import Form, Sample

import landmarks as lm
from landmarks.errors import RankWarning

THRESHOLD = 30.0  # LAPACK's, for the ratios of its own tests


def chosen(A: Any, k: int, method: Any, **options: Any) -> lm.Selection:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RankWarning)
        warnings.filterwarnings("ignore", message="the landmarks represent no other point")
        return lm.select(A, k, method=method, **options)


def condition(form: Form, sample: Sample, independent: list[int]) -> float:
    """How much the chosen columns amplify rounding: the condition of X_S, or of K_SS."""
    if not independent:
        return 1.0
    if form.matrix is None:
        return float(np.linalg.cond(sample.X[:, independent].astype(np.float64)))
    K = form.matrix(sample).astype(np.float64)
    return float(np.linalg.cond(K[np.ix_(independent, independent)] / K.max()))


def ratio(form: Form, sample: Sample, s: lm.Selection, criterion: str) -> float:
    """The error of the error, in units of machine epsilon times size times condition."""
    reference = form.reference(sample, criterion)
    total = reference.total()
    exact = float(reference.error(s.indices) / total) if total else 0.0
    # what rounds is X − P_S X, or K − K̂
    power = 0.5 if form.matrix is None or criterion == "frobenius" else 1.0
    away = abs(s.relative_error(criterion) ** power - exact**power)
    size = sum(sample.X.shape) * max(1, len(s.indices)) ** 0.5
    amplified = condition(form, sample, reference.independent(s.indices))
    return float(away) / (float(np.finfo(sample.X.dtype).eps) * size * amplified)
