"""Draws in proportion to weights, on the host: one seed gives one draw on every array library."""

import numpy as np


def draw(weights: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Independent indices with probability in proportion to weight; never one of weight zero."""
    cumulative = np.cumsum(weights)
    drawn = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    return np.minimum(drawn, np.flatnonzero(weights)[-1])  # rounding may reach past the end


def draw_order(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All indices in the order of successive draws without replacement, those of weight zero last.

    Efraimidis and Spirakis, Information Processing Letters 97 (2006): sort by exponential variables
    over weights.
    """
    waits = np.full(len(weights), np.inf)
    np.divide(rng.exponential(size=len(weights)), weights, out=waits, where=weights > 0)
    return np.argsort(waits, kind="stable")
