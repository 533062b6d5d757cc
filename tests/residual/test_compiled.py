"""The compiled search: the same moves as NumPy, and states equal to those computed from K."""

import ctypes
import shutil
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.methods.search.iterated import disturb
from landmarks.methods.search.landscape import Landscape
from landmarks.methods.search.local_search import descend
from landmarks.methods.search.merged import eliminated
from landmarks.objectives import as_objective
from landmarks.problem import Problem
from landmarks.residual.compiled import library as compiled
from landmarks.residual.exchange import Exchange

CRITERIA = ["trace", "frobenius"]
needs_library = pytest.mark.skipif(
    compiled.library() is None, reason="swaps.c was not compiled: no C compiler at installation"
)


def stored(n=60, seed=0):
    """A kernel matrix whose residuals keep their digits."""
    points = np.random.default_rng(seed).standard_normal((n, 4))
    return lm.psd(lm.rbf(sigma=1.5)(points, points))


def few_rows(n=60, seed=0):
    """Smooth columns, whose residual is kept as a matrix."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-1, 1, n))
    smooth = np.polynomial.legendre.legvander(x, 17).T
    return lm.data(rng.standard_normal((18, 18)) @ (0.75 ** np.arange(18)[:, None] * smooth))


SPREAD = np.array([2, 7, 55, 12, 30, 48, 25, 42, 17, 59, 36, 9, 50])
OPERATORS = {"stored": stored, "few rows": few_rows}


def landscape(make, criterion, k=8, moves=10**6, **given):
    return Landscape.of(Problem(make(), k, criterion, **given), as_objective(criterion), moves)


def assert_as_loaded(state, diagonals=1e-6):
    """What the state holds is what its members give when they are loaded from K.

    A state loads afresh when its drift is above 1e-6, so that much of it may be rounding.
    """
    fresh = Exchange(state.base, len(state.members))
    fresh.load(state.chosen)
    here, there = np.argsort(state.members), np.argsort(fresh.members)
    scale = np.max(np.abs(fresh.H))
    assert np.allclose(
        state.H[np.ix_(here, here)], fresh.H[np.ix_(there, there)], atol=1e-6 * scale
    )
    for rows, expected in zip(state.rows, fresh.rows, strict=True):
        scale = np.max(np.abs(expected))
        assert np.allclose(rows[here], expected[there], atol=1e-6 * scale)
    for p, (diagonal, expected) in enumerate(zip(state.diagonals, fresh.diagonals, strict=True)):
        assert np.allclose(
            diagonal, expected, atol=diagonals * np.sum(fresh.diagonals[0]) ** (p + 1)
        )


@needs_library
@pytest.mark.parametrize("make", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("given", [{}, {"include": (3, 40), "exclude": (7, 8)}])
def test_a_descent_makes_the_swaps_of_numpy(make, criterion, given):
    of = landscape(make, criterion, **given)
    start = of.state(SPREAD[:8])
    ours, plain = start.copy(), start.copy()
    made = of.compiled.descend(ours, 10**6)
    assert made == descend(replace(of, compiled=None), plain) > 0
    assert sorted(ours.chosen) == sorted(plain.chosen)
    assert ours.error == pytest.approx(plain.error, rel=1e-9)
    assert_as_loaded(ours)


@needs_library
@pytest.mark.parametrize("criterion", CRITERIA)
def test_without_powers_of_K_it_makes_products(criterion):
    without = landscape(stored, criterion, moves=0)
    assert (without.base.stored_powers is None) == (criterion == "trace")
    found = [of.state(np.arange(8)) for of in (without, landscape(stored, criterion))]
    ledger = without.base.operator.ledger
    before = ledger.products
    swaps = without.compiled.descend(found[0], 10**6)
    assert ledger.products - before == swaps  # for diag K³ there is K²
    landscape(stored, criterion).compiled.descend(found[1], 10**6)
    assert found[0].chosen.tolist() == found[1].chosen.tolist()


@needs_library
@pytest.mark.parametrize("make", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_disturbance_ends_in_a_state_that_is_right_and_a_local_optimum(make, criterion):
    of = landscape(make, criterion, k=12, include=(5,), exclude=(20,))
    state = of.state(SPREAD[:12])
    of.compiled.descend(state, 10**6)
    for place in (1, 6):
        for count in (1, 4, 11):  # eleven and their replacements are more than can wait
            trial = state.copy()
            assert of.compiled.disturb(trial, place, count, 10**6) >= 0
            assert 5 in trial.chosen and 20 not in trial.chosen
            assert len(set(trial.chosen.tolist())) == 12
            if trial.stale(of.drift):  # drops brought back far more than is left now
                trial.load(trial.chosen)
                of.compiled.descend(trial, 10**6)
            # drops bring back 10⁴ times what is left, which takes digits of the diagonals along
            assert_as_loaded(trial, diagonals=1e-4)
            assert descend(replace(of, compiled=None), trial.copy()) == 0


@needs_library
@pytest.mark.parametrize("make", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("count", [1, 4])
def test_a_disturbance_is_that_of_numpy(make, criterion, count):
    """Eleven drops would leave gains in doubt, which only NumPy computes from C itself."""
    of = landscape(make, criterion, k=12, include=(5,), exclude=(20,))
    ours, plain = of.state(SPREAD[:12]), of.state(SPREAD[:12])
    of.compiled.disturb(ours, 3, count, 0)
    disturb(replace(of, compiled=None), plain, 3, count)
    assert ours.members.tolist() == plain.members.tolist()
    for p, (one, other) in enumerate(zip(ours.diagonals, plain.diagonals, strict=True)):
        # both subtract what the drops brought back, and round it in another order
        assert np.allclose(one, other, atol=1e-13 * ours.swollen ** (p + 1))


def test_a_library_that_cannot_be_loaded_is_reported(tmp_path, monkeypatch):
    (tmp_path / "swaps.so").write_bytes(b"not a library")
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "library.py"))
    with pytest.warns(UserWarning, match="cannot be loaded, so NumPy is used.*install landmarks"):
        assert compiled.library.__wrapped__() is None


@needs_library
def test_what_was_dropped_does_not_come_back_at_once():
    of = landscape(stored, "trace")
    state = of.state(np.arange(8))
    trial = state.copy()
    of.compiled.disturb(trial, 2, 8, 0)  # all are dropped, and no swap is made
    assert not set(trial.chosen) & set(state.chosen)


@needs_library
@pytest.mark.parametrize("make", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_free_places_are_filled_as_greedy_does(make, criterion):
    of = landscape(make, criterion)
    state = Exchange(of.base, 8)
    of.compiled.fill(state)
    expected = lm.select(make(), 8, method=lm.Greedy(gain=criterion), criterion=criterion)
    assert state.members.tolist() == expected.indices.tolist()
    assert_as_loaded(state)


@needs_library
@pytest.mark.parametrize("make", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_elimination_drops_what_numpy_drops(make, criterion):
    of = landscape(make, criterion, k=5, include=(9,))
    union = SPREAD[3:]
    expected = eliminated(replace(of, compiled=None), union)
    assert sorted(eliminated(of, union)) == sorted(expected)


@pytest.mark.parametrize("make", OPERATORS.values(), ids=OPERATORS)
def test_neighbours_are_eliminated_although_their_digits_are_gone(make):
    of = landscape(make, "frobenius", k=5, include=(9,))
    for one in (of, replace(of, compiled=None)):
        left = eliminated(one, np.arange(2, 12))
        assert len(left) == 5 and 9 in left


@needs_library
def test_a_rank_that_is_reached_leaves_places_free():
    X = np.random.default_rng(0).standard_normal((3, 20))
    of = Landscape.of(Problem(lm.data(X), 6), as_objective("trace"))
    state = Exchange(of.base, 6)
    of.compiled.fill(state)
    assert len(state.chosen) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        assert len(lm.select(X, 6, method="iterated").indices) == 6


@pytest.mark.parametrize("criterion", CRITERIA)
def test_without_the_library_the_search_is_as_good(criterion, monkeypatch):
    expected = lm.select(stored(), 8, method="swap", criterion=criterion)
    monkeypatch.setattr(compiled, "library", lambda: None)
    found = lm.select(stored(), 8, method="swap", criterion=criterion)
    assert sorted(found.indices) == sorted(expected.indices)
    assert lm.select(stored(), 8, criterion=criterion).error() <= found.error() * (1 + 1e-9)


def test_a_kernel_on_products_is_not_compiled():
    products = Landscape.of(Problem(lm.toeplitz(0.5 ** np.arange(50)), 5))
    assert not compiled.compilable(products.base)


def test_a_library_with_another_choice_is_not_used(monkeypatch):
    if compiled.library() is None:
        pytest.skip("swaps.c was not compiled")

    class Longer(ctypes.Structure):
        _fields_ = [*compiled.Choice._fields_, ("further", ctypes.c_double)]

    monkeypatch.setattr(compiled, "Choice", Longer)
    with pytest.warns(UserWarning, match="another Choice than library.py; install landmarks"):
        assert compiled.library.__wrapped__() is None


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("flags", [[], ["-DWIDE="]], ids=["wide", "plain"])
def test_the_sources_compile_without_a_warning(flags, tmp_path):
    source = Path(compiled.__file__).with_name("swaps.c")
    command = ["cc", "-O1", "-fopenmp-simd", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    target = tmp_path / "swaps.so"
    subprocess.run([*command, *flags, "-o", target, source, "-lm"], check=True)
    assert ctypes.CDLL(str(target)).size_of_choice() == ctypes.sizeof(compiled.Choice)
