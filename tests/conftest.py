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


#: the longer tests, which `make test` leaves to `make thorough` and CI: files, or single tests that
#: take more than five seconds (`pytest --durations=20` lists them)
THOROUGH = (
    "tests/cli/test_program.py",
    "tests/contracts/test_methods.py::test_a_method_is_no_worse_than_uniform_on_average[Auto",
    "tests/contracts/test_methods.py::test_a_method_is_no_worse_than_uniform_on_average[Con",
    "tests/contracts/test_operators.py",
    "tests/docs/test_pages.py::test_the_example_runs",
    "tests/docs/test_readme.py::test_the_number_on_digits_is_that_of_the_present_code",
    "tests/docs/test_recipes.py",
    "tests/sklearn/test_scikit_learn_checks.py",
    "tests/paper/test_figures.py",
    "tests/faults/test_interrupts.py",
    "tests/faults/test_kernels.py::test_fault_31",
    "tests/faults/test_load.py",
    "tests/faults/test_reproducibility.py::test_fault_36",
    "tests/faults/test_wrong_choices.py::test_fault_68",
    "tests/faults/test_wrong_choices.py::test_fault_74",
    "tests/faults/test_wrong_choices.py::test_fault_79",
    "tests/faults/test_wrong_choices.py::test_faults_64_65_67",
    "tests/how_many/test_how_many.py::test_an_error_of_zero_takes_the_rank",
    "tests/methods/search/test_swap.py::test_every_operator_and_library_gives_the_same_choice",
    "tests/methods/search/test_swap.py::test_swaps_in_single_precision",
    "tests/methods/test_auto.py::test_digits_that_were_never_there_are_not_trusted",
    "tests/methods/test_guarantee.py::test_auto_stays_within_it",
    "tests/methods/relaxation/test_continuous.py::test_exact_and_stochastic_gradients_end",
    "tests/operators/dask/",
    "tests/operators/rows/test_out_of_core.py::test_memory_stays_below",
    "tests/properties/",
    "tests/placement/test_constraints.py::test_no_allowed_swap_lowers_the_error[iterated]",
    "tests/proof/",
    "tests/report/",
    "tests/sklearn/test_nystroem.py::TestTarget::test_a_pipeline_with_half_the_landmarks",
    "tests/checkpoint/",
    "tests/test_cluster.py",
    "tests/test_gallery.py",
    "tests/test_network.py::test_no_connection_is_opened",
    "tests/test_real_data.py",
    "tests/typing/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the longer tests."""
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker(pytest.mark.thorough)
