"""Fixtures of all tests: the array libraries."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from hypothesis import settings
from libraries import LIBRARIES, library

# a run in the background ignores Ctrl-C, which tests press
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# a loaded machine or an unlucky draw must not fail a test
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def every_report(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Callbacks get every report, so that tests can count them; not in `throttled` tests."""
    if "throttled" not in request.keywords:
        monkeypatch.setattr("landmarks.runs.runner.BURST", 1e9)


@pytest.fixture(params=list(LIBRARIES))
def xp(request: pytest.FixtureRequest) -> Any:
    """NumPy, torch on the CPU and array-api-strict in turn."""
    return library(request.param)
