"""Fixtures of all tests: the array libraries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from libraries import LIBRARIES, library

settings.register_profile("steady", deadline=None, derandomize=True)  # a loaded machine or an unlucky draw fails no test
settings.load_profile("steady")


@pytest.fixture(params=list(LIBRARIES))
def xp(request: pytest.FixtureRequest) -> Any:
    """NumPy, torch on the CPU and array-api-strict in turn."""
    return library(request.param)
