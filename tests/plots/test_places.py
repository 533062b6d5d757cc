"""The map of chosen places."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.plots.coverage import errors_at_places

Figure = pytest.importorskip("matplotlib.figure", reason="needs matplotlib").Figure

PLACES = np.random.default_rng(0).random((60, 2))
FIELDS = np.sin(np.arange(1, 9)[:, None] * PLACES.sum(axis=1))


def test_errors_at_the_places_are_those_of_the_reconstruction():
    s = lm.select(FIELDS, 4)
    rebuilt = s.reconstruction().rebuild(FIELDS[:, s.indices])
    expected = np.sqrt(np.mean((FIELDS - rebuilt) ** 2, axis=0))
    np.testing.assert_allclose(errors_at_places(s), expected, atol=1e-9)


def test_errors_at_the_points_of_a_kernel_add_up_to_its_error():
    s = lm.select(lm.kernel(PLACES, lm.rbf(0.3)), 5)
    assert np.sum(errors_at_places(s) ** 2) == pytest.approx(s.error("trace"), rel=1e-9)


@pytest.mark.parametrize("coordinates", [PLACES, PLACES[:, 0], PLACES[:, :1].tolist()])
def test_a_selection_draws_its_map(coordinates):
    s = lm.select(FIELDS, 4)
    drawn = s.plot(coordinates=coordinates)
    places = np.asarray(coordinates).reshape(60, -1)
    chosen = drawn.collections[-1].get_offsets()
    np.testing.assert_allclose(chosen[:, : places.shape[1]], places[s.indices])
    assert [text.get_text() for text in drawn.texts] == ["1", "2", "3", "4"]


def test_a_place_with_two_sensors_has_both_numbers():
    s = lm.select(lm.psd(np.diag([9.0, 0.001])), 3, noise=1.0, repeats=True)
    drawn = s.plot(coordinates=[[0.0, 0.0], [1.0, 1.0]])
    assert [text.get_text() for text in drawn.texts] == ["1, 2, 3"]


def test_excluded_places_are_crosses():
    drawn = lm.select(FIELDS, 4, exclude=[7, 9]).plot(coordinates=PLACES)
    np.testing.assert_allclose(drawn.collections[1].get_offsets(), PLACES[[7, 9]])


def test_coordinates_of_other_candidates_are_refused():
    with pytest.raises(ValueError, match="one or two numbers for each of the n = 60 candidates"):
        lm.select(FIELDS, 4).plot(coordinates=PLACES[:5])


def test_the_field_stands_next_to_the_error():
    s = lm.select(FIELDS, 4)

    def fields(drawn):
        return [ax.collections[0].get_array() for ax in drawn.figure_.axes if ax.get_title()]

    strength, errors = fields(s.plot(coordinates=PLACES))
    np.testing.assert_allclose(strength, np.sqrt(np.mean(FIELDS**2, axis=0)))
    np.testing.assert_allclose(errors, errors_at_places(s))
    given = s.plot(coordinates=PLACES, field=FIELDS[2])
    np.testing.assert_allclose(fields(given)[0], FIELDS[2])
    assert len(fields(s.plot(Figure().subplots(), coordinates=PLACES))) == 1


def test_with_noise_the_map_shows_the_posterior_deviation():
    K = lm.kernel(PLACES, lm.rbf(0.3))
    s = lm.select(K, 5, noise=0.1)
    np.testing.assert_allclose(errors_at_places(s), np.sqrt(s.posterior_variance()))


def test_with_a_target_the_map_is_in_the_units_of_the_places():
    target = np.cos(np.arange(8)[:, None] + np.arange(6) ** 2)
    s = lm.select(FIELDS * 2.0**200, 4, target=target, scale=False)
    plain = errors_at_places(lm.select(FIELDS, 4, target=target, scale=False))
    np.testing.assert_allclose(errors_at_places(s), plain * 2.0**200, atol=2.0**160)
