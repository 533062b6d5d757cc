"""The names that the examples of all docstrings assume, as those of NumPy and SciPy do."""

from typing import Any

import numpy as np
import pytest

import landmarks as lm


@pytest.fixture(autouse=True)
def usual_names(doctest_namespace: dict[str, Any]) -> None:
    """`np` and `lm`."""
    doctest_namespace.update(np=np, lm=lm)
