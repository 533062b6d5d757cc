"""Fixtures of all tests: the array libraries."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from hypothesis import settings
from libraries import LIBRARIES, library

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a run in the background ignores Ctrl-C; tests press it

settings.register_profile(
    "steady", deadline=None, derandomize=True
)  # a loaded machine or an unlucky draw fails no test
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def every_report(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Callbacks hear every report, so that tests can count them; `throttled` tests do without."""
    if "throttled" not in request.keywords:
        monkeypatch.setattr("landmarks.runs.progress.BURST", 1e9)


@pytest.fixture(params=list(LIBRARIES))
def xp(request: pytest.FixtureRequest) -> Any:
    """NumPy, torch on the CPU and array-api-strict in turn."""
    return library(request.param)
