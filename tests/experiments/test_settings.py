"""The settings of the figures hold what the paper says."""

import pytest

from landmarks.datasets import SOURCES
from landmarks.experiments import FIGURES, read_settings


def test_the_figures_have_the_panels_of_the_paper():
    shown = {
        name: [(panel.dataset, panel.sigma) for panel in read_settings(name).panels]
        for name in FIGURES[1:]
    }
    assert shown == {
        "figure2": [
            ("residential", 1.0),
            ("residential", 5.0),
            ("mnist1k", 10.0),
            ("mnist1k", 20.0),
        ],
        "figure3": [
            ("residential", None),
            ("mnist1k", None),
            ("arrhythmia", None),
            ("secom", None),
        ],
        "figure4": [("powerplant", 0.5), ("htru2", 0.5), ("protein", 0.5)],
    }


def test_the_trials_are_those_of_the_paper():
    assert [read_settings(name).trials for name in FIGURES[1:]] == [50, 50, 10]
    assert (
        dict(read_settings("figure1").options)["n_probes"] == 5
        and 10.0 in read_settings("figure1").options["penalties"]
    )


@pytest.mark.parametrize("name", FIGURES[1:])
@pytest.mark.parametrize("quick", [True, False])
def test_every_method_of_a_figure_can_be_made(name, quick):
    figure = read_settings(name, quick=quick)
    labels = [entry.label for entry in figure.entries]
    assert {
        "continuous",
        "uniform",
        "leverage scores",
        "k-DPP",
        "greedy",
        "annealed",
        "auto",
        "swap from greedy",
        "nuclear scores",
    } <= set(labels)
    assert len(set(labels)) == len(labels) and all(entry.method() for entry in figure.entries)
    assert all(
        max(panel.k) < min(SOURCES[panel.dataset].shape) or panel.sigma for panel in figure.panels
    )
    assert all(label in labels for panel in figure.panels for label in panel.trials)


def test_an_unknown_figure_is_reported():
    with pytest.raises(
        ValueError, match="unknown figure 'figure5'; the figures are figure1, figure2"
    ):
        read_settings("figure5")
