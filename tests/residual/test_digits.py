"""Products with fewer digits: used while they are enough, and left where they are not."""

from types import SimpleNamespace

import numpy as np
import pytest
from errors_of import plain, selection_error

import landmarks as lm
from landmarks import problem
from landmarks.methods.greedy import greedy
from landmarks.methods.greedy.greedy import ErrorGains, pursue
from landmarks.operators import forms, kernel
from landmarks.operators.forms import in_double
from landmarks.operators.kernel import KernelOperator
from landmarks.residual.residual import Residual

POINTS = np.random.default_rng(0).standard_normal((400, 3)).astype(np.float32)


def paired(sigma):
    """The kernel in float64, with its float32 form at hand as on a graphics card."""
    single = lm.kernel(POINTS, lm.rbf(sigma))
    wide = in_double(single)
    wide.in_single = single
    forms._ready.add(wide)  # a large one is searched as it is
    return wide


@pytest.mark.parametrize("sigma", [0.3, 1.0, 3.0, 10.0])
def test_fault_102_greedy_chooses_as_well_as_with_all_digits(sigma):
    wide = paired(sigma)
    residual = Residual(plain(wide), 40)
    gains = ErrorGains(residual)
    assert gains.rough
    rough = pursue(lm.Problem(wide, 40), residual, gains).indices
    wide.in_single = None
    residual = Residual(plain(wide), 40)
    exact = pursue(lm.Problem(wide, 40), residual, ErrorGains(residual)).indices
    ratio = selection_error(wide, rough, "trace") / selection_error(wide, exact, "trace")
    assert ratio < 1 + 1e-6 or rough.tolist() == exact.tolist()


@pytest.mark.parametrize("sigma", [0.5, 3.0])
def test_nuclear_scores_choose_as_well_as_with_all_digits(sigma):
    def error(rough):
        wide.in_single = rough
        runs = (lm.select(wide, 40, method="nuclear", seed=seed) for seed in range(4))
        return np.mean([selection_error(wide, run.indices, "trace") for run in runs])

    wide = paired(sigma)
    assert error(wide.in_single) < 1.02 * error(None)  # seeds alone differ by 2 %


@pytest.mark.parametrize("method", ["greedy", "swap", "auto", "annealed", "nuclear", "rpcholesky"])
def test_a_search_of_float32_points_says_that_it_worked_in_double_and_why(method):
    K = lm.kernel(POINTS, lm.rbf(1.0))
    for _ in range(2):  # the second call finds the form of the first
        assert lm.select(K, 5, method=method).ledger.precision == problem.PROMOTED


def test_a_method_that_takes_the_data_as_they_are_says_so():
    assert lm.select(POINTS, 2, method="uniform").ledger.precision == "float32: as the data"
    assert lm.select(POINTS.astype(np.float64), 2).ledger.precision == "float64"


def test_fault_102_products_in_single_precision_are_used_and_counted():
    s = lm.select(paired(1.0), 40, method=greedy.Greedy())
    counted = int(s.ledger.precision.split()[1])
    assert 0 < counted <= s.ledger.products
    assert s.ledger.precision == problem.IN_SINGLE.format(
        in_single=counted, products=s.ledger.products
    )


def test_trials_say_the_precision():
    s = lm.select(lm.kernel(POINTS, lm.rbf(1.0)), 5)
    assert {trial.precision for trial in s.trials} == {problem.PROMOTED}
    assert s.ledger.precision in str(s.summary())


@pytest.mark.parametrize("fast", [True, False])
def test_fault_102_where_double_is_slow_greedy_multiplies_in_single_at_any_size(monkeypatch, fast):
    monkeypatch.setattr(kernel, "fast_in_double", lambda points: fast)
    dense = SimpleNamespace(  # in place of the products of a card
        ERRORS=kernel.fused.ERRORS,
        DOUBLE_ERROR=kernel.fused.DOUBLE_ERROR,
        available=lambda points: False,
        prepare=lambda points, h: points,
        product=lambda h, x, y, block, **_: h(x, y) @ block,
        squared_row_sums=lambda h, x, y: np.sum(h(x, y) ** 2, axis=1),
    )
    monkeypatch.setattr(kernel, "fused", dense)
    K = KernelOperator(POINTS, lm.rbf(1.0), engine="fused", memory=2**16)
    wide = in_double(K)
    forms._ready.add(wide)
    s = lm.select(wide, 40, method="greedy")
    assert s.ledger.precision.endswith("whose error is accounted for") is not fast
    in_memory = lm.select(lm.kernel(POINTS.astype(float), lm.rbf(1.0)), 40, method="greedy")
    assert s.error() < in_memory.error() * 1.001


def test_fault_102_a_device_without_double_is_left_with_one_sentence(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("landmarks._check.has_double", lambda array: False)
    with pytest.warns(UserWarning, match="does not compute in float64; it is copied to the CPU"):
        s = lm.select(torch.from_numpy(POINTS.copy()), 2)
    assert len(s) == 2
