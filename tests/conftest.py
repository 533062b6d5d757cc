"""Fixtures of all tests: the array libraries."""

from __future__ import annotations

from typing import Any

import pytest
from libraries import LIBRARIES, library


@pytest.fixture(params=list(LIBRARIES))
def xp(request: pytest.FixtureRequest) -> Any:
    """NumPy, torch on the CPU and array-api-strict in turn."""
    return library(request.param)
