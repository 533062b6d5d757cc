"""Pictures show the numbers of the library."""

import numpy as np
import pytest

import landmarks as lm

figure = pytest.importorskip("matplotlib.figure", reason="needs matplotlib")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3)) @ RNG.standard_normal((3, 10)) + 0.1 * RNG.standard_normal(
    (30, 10)
)


def test_the_error_curve_is_that_of_path_and_of_the_spectrum():
    greedy, best, chosen = lm.select(X, 4).plot().get_lines()
    np.testing.assert_allclose(greedy.get_ydata(), 100 * lm.path(X, 10).relative)
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    tails = [100 * squares[k:].sum() / squares.sum() for k in range(1, 11)]
    np.testing.assert_allclose(best.get_ydata(), tails, atol=1e-10)
    assert chosen.get_xdata() == [4]


def test_the_error_curve_leaves_out_what_was_excluded():
    s = lm.select(X, 4, exclude=[0, 1], method="greedy")
    curve = s.plot().get_lines()[0].get_ydata()
    np.testing.assert_allclose(curve, 100 * lm.path(X, 8, exclude=[0, 1]).relative)
    assert curve[3] == pytest.approx(100 * s.relative_error())


def test_the_path_of_a_relaxation_is_drawn():
    drawn = lm.select(X, 3, method="annealed").path.plot()
    assert len(drawn.get_lines()) == 10
    assert {line.get_color() for line in drawn.get_lines()} == {"0.7", "tab:blue"}


def test_bars_for_one_size_have_the_best_first_and_curves_follow_several():
    found = lm.compare(X, 3, methods=["uniform", "greedy"])
    bars = found.plot()
    assert [label.get_text() for label in bars.get_yticklabels()] == ["greedy", "uniform"]
    assert bars.patches[0].get_width() == pytest.approx(100 * found.best.relative_error())
    curves = lm.compare(X, [2, 4], methods=["greedy"]).plot()
    np.testing.assert_allclose(curves.get_lines()[0].get_xdata(), [2, 4])
    low, high = curves.get_ylim()
    assert 0 < low < min(curves.get_lines()[0].get_ydata()) < high


def test_nothing_to_compare_is_reported():
    with pytest.raises(ValueError, match="nothing to compare"):
        lm.compare(X, 3, methods=["kmeans"]).plot()


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_landmarks_are_drawn_where_they_lie(dimension):
    points = RNG.standard_normal((60, dimension))
    selection = lm.select(lm.kernel(points, lm.rbf(sigma=2.0)), 5, method="greedy")
    landmarks = selection.plot().collections[1].get_offsets()
    assert landmarks.shape == (5, 2)
    if dimension == 2:
        np.testing.assert_allclose(landmarks, points[selection.indices])


def test_axes_that_are_given_are_drawn_on():
    ax = figure.Figure().subplots()
    assert lm.select(X, 3).plot(ax).ax_ is ax
