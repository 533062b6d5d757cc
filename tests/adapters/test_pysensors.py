"""The optimizer for PySensors: its rankings, and its place in SSPOR."""

import numpy as np
import pytest
import scipy
from errors_of import selection_error

import landmarks as lm
from landmarks.adapters.pysensors import LandmarkSensors, after_exchanges


def fields():
    """Snapshots of a smooth field, one row each: 20 at 60 places."""
    x, rng = np.linspace(0, 1, 60), np.random.default_rng(0)
    return sum(
        rng.standard_normal((20, 1)) * np.cos(p * np.pi * x) / (1 + p) ** 2 for p in range(9)
    )


def test_the_ranking_begins_with_the_best_choice_and_holds_every_place_once():
    X = fields()
    sensors = LandmarkSensors(n_sensors=4).fit(X.T).get_sensors()
    assert set(sensors[:4]) == set(lm.select(X, 4).indices)
    assert sorted(sensors) == list(range(60))


def test_after_the_choice_the_ranking_goes_on_greedily():
    X = fields()
    sensors = LandmarkSensors(n_sensors=3, method="swap").fit(X.T).get_sensors()
    chosen = lm.select(X, 6, method="greedy", include=sensors[:3]).indices
    assert sensors[:6].tolist() == chosen.tolist()


def test_singular_values_turn_modes_back_into_data():
    X = fields()
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    of_modes = LandmarkSensors(n_sensors=4).fit(Vt[:9].T, singular_values=s[:9]).get_sensors()
    assert set(of_modes[:4]) == set(lm.select(X, 4).indices)


def test_complex_modes_count_with_both_parts():
    X = fields()
    real = LandmarkSensors(n_sensors=4).fit(np.concatenate([X[:10], X[10:]]).T).get_sensors()
    both = LandmarkSensors(n_sensors=4).fit((X[:10] + 1j * X[10:]).T).get_sensors()
    assert set(real[:4]) == set(both[:4])


def test_costs_move_sensors_to_cheaper_places():
    X = fields()
    dear = LandmarkSensors(n_sensors=4).fit(X.T).get_sensors()[:4]
    costs = np.zeros(60)
    costs[dear] = 100.0
    cheap = LandmarkSensors(sensor_costs=costs).fit(X.T).get_sensors()[:4]
    assert not set(dear) & set(cheap)


@pytest.mark.parametrize(("option", "count"), [("max_n", 1), ("exact_n", 2), ("exact_n", 0)])
def test_options_of_gqr_are_regions(option, count):
    places = np.arange(20, 50)
    sensors = LandmarkSensors(n_sensors=5).fit(
        fields().T, idx_constrained=places, n_const_sensors=count, constraint_option=option
    )
    inside = len(set(sensors.get_sensors()[:5]) & set(places))
    assert inside <= count if option == "max_n" else inside == count


def test_an_option_that_we_do_not_have_says_what_to_do():
    with pytest.raises(ValueError, match=r"constraints=\[lm.MinDistance"):
        LandmarkSensors().fit(fields().T, constraint_option="distance")


def test_sspor_reconstructs_better_than_with_its_own_optimizer():
    pysensors = pytest.importorskip("pysensors", reason="needs python-sensors")
    X = fields()
    ours = pysensors.SSPOR(
        basis=pysensors.basis.Identity(), optimizer=LandmarkSensors(n_sensors=4), n_sensors=4
    ).fit(X, quiet=True)
    theirs = pysensors.SSPOR(basis=pysensors.basis.Identity(), n_sensors=4).fit(X, quiet=True)
    error = [
        selection_error(lm.data(X), model.get_selected_sensors(), "trace")
        for model in (ours, theirs)
    ]
    assert error[0] < error[1]
    assert ours.predict(X[:, ours.get_selected_sensors()], method="unregularized").shape == X.shape


def test_as_many_sensors_as_modes_amplify_noise_less_than_qr_pivots():
    V = np.linalg.qr(np.vander(np.linspace(0, 1, 201), 10))[0].T
    pivots = scipy.linalg.qr(V, pivoting=True)[2][:10]
    ours = LandmarkSensors().fit(V.T).get_sensors()[:10]
    noise = [np.linalg.norm(np.linalg.solve(V[:, S], V)) for S in (ours, pivots)]
    assert noise[0] < noise[1]


def test_no_exchange_lowers_the_noise_further():
    V = np.random.default_rng(0).standard_normal((4, 30))
    chosen = LandmarkSensors().fit(V.T).get_sensors()[:4]
    W = np.linalg.solve(V[:, chosen], V)
    noise, least = np.empty((4, 30)), np.sum(W * W)
    for i, j in np.ndindex(4, 30):
        other = chosen.copy()
        other[i] = j
        there = j in np.delete(chosen, i)
        noise[i, j] = np.inf if there else np.sum(np.linalg.solve(V[:, other], V) ** 2)
    assert np.min(noise) >= (1 - 1e-5) * least
    allowed = np.isfinite(noise)
    np.testing.assert_allclose(after_exchanges(W)[allowed], noise[allowed], rtol=1e-8)
