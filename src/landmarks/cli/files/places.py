"""The file with the positions of the candidates, for maps in the report and minimum distances."""

import argparse
from typing import Any

import numpy as np

from ...errors import FormatError
from ...readers.read import read
from ..outcome import BAD_DATA, USAGE, Failure
from .source import Source


def coordinates(chosen_from: Source, arguments: argparse.Namespace) -> np.ndarray | None:
    """The coordinates of the candidates, None unless there are any."""
    if arguments.coordinates is None:
        return None
    try:
        values = np.asarray(read(arguments.coordinates).values, dtype=np.float64)
    except (FormatError, OSError) as error:
        raise Failure(BAD_DATA, f"--coordinates {arguments.coordinates}: {error}") from error
    numbers = [chosen_from.number(j) for j in range(chosen_from.operator.n)]
    if len(values) == len(numbers):
        return values
    if len(values) > max(numbers):  # also of candidates that were left out
        return values[numbers]
    raise Failure(
        USAGE,
        f"--coordinates has {len(values)} lines, but there are "
        f"{chosen_from.words.counted(len(numbers))}; give a line for each",
    )


def on_a_map(chosen_from: Source, arguments: argparse.Namespace) -> np.ndarray | None:
    """The coordinates for the maps of the report, which have one or two of them."""
    places = coordinates(chosen_from, arguments)
    return None if places is None or places.shape[1] > 2 else places


def constraints(chosen_from: Source, arguments: argparse.Namespace) -> tuple[Any, ...]:
    """The constraints on places that the arguments ask for."""
    if arguments.min_distance is None:
        return ()
    from ...placement.minimum_distance import MinDistance  # here: SciPy's trees load slowly

    places = coordinates(chosen_from, arguments)
    if places is None:
        raise ValueError("--min-distance needs --coordinates FILE: where the candidates are")
    return (MinDistance(places, arguments.min_distance),)
