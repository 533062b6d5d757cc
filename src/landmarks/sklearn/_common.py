"""What both estimators share: seeds, weights, callbacks, and pickles without the training data."""

import dataclasses
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from ..readers.frames import is_frame, not_numbers

try:
    CallbackSupport = importlib.import_module("sklearn.callback").CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9 has no callbacks
    CallbackSupport = type("CallbackSupport", (), {})


@contextmanager
def fit_task(estimator: Any, X: Any, y: Any) -> Iterator[None]:
    """One fit, announced to the callbacks that were set, if this scikit-learn has them."""
    if not hasattr(estimator, "_init_callback_context"):
        yield
        return
    context = estimator._init_callback_context()
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    yield
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


def seed(random_state: Any) -> int | None:
    """The seed of a random state; NumPy's global state is neither read nor changed."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return None if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """The weights of the rows in float64, or None if all rows count the same."""
    if sample_weight is None:
        return None
    checked = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.any(checked < 0):
        raise ValueError("Negative values in data passed to `sample_weight`.")
    if not np.any(checked):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return checked


def without_data(state: dict[str, Any]) -> dict[str, Any]:
    """The state of an estimator whose selection no longer holds the data it was made from."""
    selection = state.get("selection_")
    return (
        state
        if selection is None
        else {**state, "selection_": dataclasses.replace(selection, operator=None)}
    )


def validated_table(
    estimator: Any, X: Any, finite: bool | str, ensure_min_samples: int, reset: bool
) -> Any:
    """X as scikit-learn checks it; for columns of text and dates the error lists all of them."""
    try:
        return validate_data(
            estimator,
            X,
            accept_sparse=("csr", "csc"),
            dtype=[np.float64, np.float32],
            ensure_all_finite=finite,
            ensure_min_samples=ensure_min_samples,
            reset=reset,
        )
    except (ValueError, TypeError):
        _refuse_text(X)
        raise


def _refuse_text(X: Any) -> None:
    """Raise for a data frame with columns that hold no numbers, and list all of them."""
    others = not_numbers(X) if is_frame(X) else []
    if others:
        listed = ", ".join(f"{label!r} ({kind})" for _, label, kind in others)
        raise ValueError(
            f"X must hold numbers, but these columns do not: {listed}; leave them out with "
            'X.select_dtypes("number"), or encode them as numbers, e.g. with OneHotEncoder'
        )
