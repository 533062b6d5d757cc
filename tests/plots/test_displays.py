"""The displays draw the numbers of the library."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.plots import ComparisonDisplay, CoverageDisplay, ErrorCurveDisplay, PathDisplay

pytest.importorskip("matplotlib", reason="needs matplotlib")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3)) @ RNG.standard_normal((3, 10)) + 0.1 * RNG.standard_normal(
    (30, 10)
)


def test_the_error_curve_is_that_of_path_and_of_the_spectrum():
    display = ErrorCurveDisplay.from_selection(lm.select(X, 4), ks=[1, 3, 6])
    np.testing.assert_allclose(display.greedy, lm.path(X, [1, 3, 6]).relative)
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    np.testing.assert_allclose(
        display.best, [squares[k:].sum() / squares.sum() for k in (1, 3, 6)], atol=1e-12
    )
    greedy, _, chosen = display.ax_.get_lines()
    np.testing.assert_allclose(greedy.get_ydata(), 100 * display.greedy)
    assert chosen.get_xdata() == [4]


def test_the_error_curve_leaves_out_what_was_excluded():
    s = lm.select(X, 4, exclude=[0, 1], method="greedy")
    curve = ErrorCurveDisplay.from_selection(s, ks=[2, 4]).greedy
    np.testing.assert_allclose(curve, lm.path(X, [2, 4], exclude=[0, 1]).relative)
    assert curve[1] == pytest.approx(s.relative_error())


def test_the_path_of_a_relaxation_is_drawn_and_its_absence_reported():
    selection = lm.select(X, 3, method="annealed")
    display = PathDisplay.from_selection(selection)
    assert len(display.ax_.get_lines()) == 10
    with pytest.raises(ValueError, match="has no path; use method='annealed' or 'continuous'"):
        PathDisplay.from_selection(lm.select(X, 3, method="greedy"))


def test_bars_for_one_size_have_the_best_first_and_curves_follow_several():
    selections = [lm.select(X, 3, method=method) for method in ("uniform", "greedy")]
    bars = ComparisonDisplay.from_selections(selections)
    assert [label.get_text() for label in bars.ax_.get_yticklabels()] == ["Greedy()", "Uniform()"]
    assert bars.ax_.patches[0].get_width() == pytest.approx(100 * selections[1].relative_error())
    curves = ComparisonDisplay.from_selections([lm.select(X, k, method="greedy") for k in (2, 4)])
    np.testing.assert_allclose(curves.ax_.get_lines()[0].get_xdata(), [2, 4])


def test_nothing_to_compare_is_reported():
    with pytest.raises(ValueError, match="nothing to compare"):
        ComparisonDisplay({})


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_landmarks_are_drawn_where_they_lie(dimension):
    points = RNG.standard_normal((60, dimension))
    selection = lm.select(lm.kernel(points, lm.rbf(sigma=2.0)), 5, method="greedy")
    display = CoverageDisplay.from_selection(selection)
    landmarks = display.ax_.collections[1].get_offsets()
    assert landmarks.shape == (5, 2)
    if dimension == 2:
        np.testing.assert_allclose(landmarks, points[selection.indices])


def test_coverage_of_columns_is_refused():
    with pytest.raises(TypeError, match="coverage needs the points of a kernel"):
        CoverageDisplay.from_selection(lm.select(X, 3))


def test_axes_that_are_given_are_drawn_on():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert ErrorCurveDisplay.from_selection(lm.select(X, 3), ax=ax).ax_ is ax
