"""Faults 61 to 80: wrong choices and silent answers that version 0.1 gave."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm
from landmarks.errors import NotPSDError, RankWarning
from tests.residual import reference


def rng(seed=0):
    return np.random.default_rng(seed)


def test_fault_61_a_proof_holds_on_graded_columns():
    """Lengths 9e4 : 1, the long columns excluded: the proved choice is that of enumeration."""
    from itertools import combinations

    X = rng(3).standard_normal((9, 8)) * np.geomspace(9e4, 1, 8)
    found = lm.select(X, 3, method="exact", exclude=[0, 1], scale=False)
    best = min(combinations(range(2, 8), 3), key=lambda S: reference.error(X, S))
    assert found.proved and set(found.indices.tolist()) == set(best)
    assert found.lower_bound() <= reference.error(X, best) * (1 + 1e-9)


def test_fault_62_an_offset_in_single_precision_hides_no_rank():
    X = (rng().standard_normal((200, 12)) @ rng(1).standard_normal((12, 12)) + 5000).astype("f4")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RankWarning)
        chosen = lm.select(X, 7, scale=False).indices
    wide = X.astype(float)
    exact = reference.swap(wide, reference.greedy(wide, 7))
    assert reference.error(wide, chosen) <= 1.02 * reference.error(wide, exact)


def test_fault_63_annealed_is_not_above_greedy_on_clusters():
    centres = np.repeat(rng().standard_normal((120, 10)), 20, axis=1)
    X = centres + 0.1 * rng(1).standard_normal((120, 200))
    errors = {m: lm.select(X, 10, method=m).error() for m in ("annealed", "greedy", "uniform")}
    assert errors["annealed"] <= errors["greedy"] < errors["uniform"] / 5


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["greedy", "swap", "annealed", "nuclear"])
def test_faults_64_65_67_float32_points_give_the_choice_of_float64(method):
    """Above the size that is stored; the points are exact numbers in both dtypes."""
    x = rng().standard_normal((3200, 3)).astype("float32")
    h = lm.rbf(sigma=3.0)
    single, double = (lm.select(lm.kernel(p, h), 25, method=method) for p in (x, x.astype(float)))
    exact = lm.kernel(x.astype(float), h)
    errors = [selection_error(exact, s.indices, "trace") for s in (single, double)]
    assert errors[0] == pytest.approx(errors[1], rel=0.01)


def test_fault_66_an_operator_states_the_error_of_its_products():
    x = rng().standard_normal((30, 2))
    for dtype, bound in (("float32", 1e-5), ("float64", 1e-13)):
        operator = lm.kernel(x.astype(dtype), lm.rbf())
        assert np.finfo(dtype).eps <= operator.product_error <= bound


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["swap", "auto", lm.RPCholesky()], ids=repr)
def test_fault_68_a_run_with_a_target_resumes_to_the_same_choice(method, tmp_path):
    X = rng(3).standard_normal((60, 40)) @ rng(4).standard_normal((40, 40))

    def run(stop, path):
        calls = iter(range(1, 10**6))

        def callback(progress):
            if next(calls) == stop:
                raise RuntimeError("crash")

        checkpoint = lm.Checkpoint(path, interval=0)
        return lm.select(
            X, lm.MaxError(0.1), method=method, callback=callback, checkpoint=checkpoint
        )

    whole = run(None, tmp_path / "whole.npz")
    for stop in (3, 20, 45, 61, 85):
        path = tmp_path / f"{stop}.npz"
        with pytest.raises(RuntimeError, match="crash"):
            run(stop, path)
        resumed = run(None, path)
        assert resumed.indices.tolist() == whole.indices.tolist()
        assert resumed.ledger.products == whole.ledger.products


@pytest.mark.parametrize(
    "method", ["annealed", "continuous", "auto", "swap", "greedy", "exact", "rpcholesky"]
)
def test_fault_69_dependent_columns_that_are_included_are_chosen(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        chosen = lm.select(np.ones((5, 4)), 3, method=method, include=[2, 3], scale=False).indices
    assert {2, 3} <= set(chosen.tolist()) and len(chosen) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: lm.toeplitz([1.0, 0.9, *[0.0] * 10]),
        lambda: lm.kernel(rng().standard_normal((30, 3)), lambda x, y: np.tanh(x @ y.T - 1)),
    ],
    ids=["toeplitz", "tanh"],
)
@pytest.mark.parametrize("method", ["auto", "greedy"])
def test_fault_70_an_indefinite_matrix_is_refused(make, method):
    with pytest.raises(NotPSDError, match="must be positive semidefinite"):
        lm.select(make(), 4, method=method)


@pytest.mark.parametrize("method", ["greedy", "annealed", "rpcholesky", "pivoted_qr", "uniform"])
def test_fault_70_nothing_is_said_of_an_indefinite_product(method):
    """Whose random products all look right; the error was 0, and the bound above the error."""
    K = np.array([[1.0, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]])
    with pytest.raises(NotPSDError, match="must be positive semidefinite"):
        lm.select(lm.function(lambda V: K @ V, n=3), 2, method=method).error()
    with pytest.raises(NotPSDError, match=r"eigenvalues are from -0.273 to 2.27"):
        lm.select(lm.function(lambda V: K @ V, n=3), 1, method=method).lower_bound()


def test_fault_72_few_rows_need_no_pass_over_all_pairs_of_columns():
    s = lm.select(rng().standard_normal((20, 4000)), 5, method="greedy")
    assert s.ledger.entries < 4000**2 / 10


def test_fault_73_a_target_in_float32_is_reached():
    X = rng(1).standard_normal((100, 60)) @ np.diag(10.0 ** -np.linspace(0, 4, 60))
    s = lm.select(X.astype("float32"), lm.MaxError(1e-5), scale=False)
    assert s.relative_error() <= 1e-5 * (1 + 1e-6)


@pytest.mark.thorough
def test_fault_74_the_bound_of_a_float32_kernel_is_not_above_its_error():
    x = rng().standard_normal((3100, 2)).astype("float32")
    s = lm.select(lm.kernel(x, lm.rbf(sigma=2.0)), 20, criterion="frobenius", method="greedy")
    exact = lm.kernel(x.astype(float), lm.rbf(sigma=2.0))
    assert s.lower_bound("frobenius") <= selection_error(exact, s.indices, "frobenius")


@pytest.mark.parametrize("method", ["swap", "iterated", "greedy"])
def test_fault_75_a_product_of_float32_digits_is_searched_within_them(method):
    x = rng().standard_normal((200, 3))
    K = np.asarray(lm.rbf(2.0)(x, x))
    single = K.astype("float32")
    box = lm.function(lambda B: (single @ B.astype("float32")).astype("float64"), n=200)
    found, exact = (lm.select(A, 15, method=method) for A in (box, lm.psd(K)))
    assert selection_error(lm.psd(K), found.indices, "trace") <= 1.05 * exact.error()


def test_fault_76_columns_of_very_different_scales_have_the_right_error():
    scales = 10.0 ** rng(2).uniform(-6, 6, 20)
    X = rng().standard_normal((50, 20)) * scales
    s = lm.select(lm.psd(X.T @ X), 8)
    rounding = 1e-13 * np.sum(X * X)  # of K: 0.1 was off by a fifth of the trace
    assert s.error() == pytest.approx(reference.error(X, s.indices), abs=rounding)


def test_fault_78_targets_of_any_size_serve_nystroem():
    x = rng().standard_normal((40, 3))
    y = rng(1).standard_normal(40)
    features = [lm.Nystroem(n_components=5).fit(x, y * size).transform(x) for size in (1.0, 1e200)]
    np.testing.assert_allclose(features[1], features[0])


@pytest.mark.thorough
def test_fault_79_the_number_of_threads_changes_no_choice_in_float32():
    program = (
        "import numpy as np, landmarks as lm; x = "
        "np.random.default_rng(0).standard_normal((400, 3));"
        "A = lm.kernel(x.astype('f4'), lm.rbf(sigma=2.0));"
        "print([lm.select(A, 30, method=m).indices.tolist() for m in ('greedy', 'swap', "
        "'annealed')])"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert runs[0] == runs[1]


def test_fault_80_threads_that_share_an_operator_count_their_own_use():
    operator = lm.psd(np.cov(rng().standard_normal((40, 100)).T))
    lm.select(operator, 10, method="swap")  # reads what later runs share
    alone = lm.select(operator, 10, method="swap").ledger
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(lm.select(operator, 10, method="swap").ledger))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {(f.products, f.columns) for f in found} == {(alone.products, alone.columns)}
