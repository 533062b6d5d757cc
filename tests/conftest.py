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


#: the longer tests, which `make test` leaves to `make thorough` and CI
THOROUGH = (
    "tests/cli/test_program.py",
    "tests/contracts/test_operators.py",
    "tests/docs/test_recipes.py",
    "tests/sklearn/test_scikit_learn_checks.py",
    "tests/experiments/",
    "tests/faults/test_interrupts.py",
    "tests/faults/test_load.py",
    "tests/operators/dask/",
    "tests/properties/",
    "tests/proof/",
    "tests/report/",
    "tests/test_checkpoint.py",
    "tests/test_cluster.py",
    "tests/test_gallery.py",
    "tests/test_real_data.py",
    "tests/typing/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the longer tests."""
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker(pytest.mark.thorough)
