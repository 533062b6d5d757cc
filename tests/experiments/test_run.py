"""A tiny version of each figure runs, can be continued, and says why something was not run."""

from dataclasses import replace

import numpy as np
import pytest

import landmarks as lm
from landmarks.datasets import load_dataset
from landmarks.experiments import reproduce
from landmarks.experiments.run import complete, restricted
from landmarks.experiments.settings import read_settings
from landmarks.experiments.table import read_rows
from landmarks.runs.runner import watching

from .tiny import tiny


@pytest.mark.parametrize("name", ["figure2", "figure3", "figure4"])
def test_every_method_of_a_figure_gives_rows_that_no_choice_can_undercut(name, tmp_path):
    figure = tiny(name, rows=40)
    rows = read_rows(complete(figure, tmp_path, "cpu", None))
    assert {row.label for row in rows} == {entry.label for entry in figure.entries} and not any(
        row.skip for row in rows
    )
    assert all(
        row.value > 0
        and row.seconds > 0
        and "landmarks" in row.versions
        and row.device.startswith("cpu")
        for row in rows
    )
    assert all(row.factor >= 1 - 1e-9 for row in rows if row.factor)
    best = {k: min(row.value for row in rows if row.k == k) for k in (3, 5)}
    assert all(row.value <= best[row.k] * 1.02 for row in rows if row.label == "auto")


def test_a_row_holds_what_select_finds(tmp_path):
    figure = tiny("figure3", trials=2, only=["uniform"])
    rows = {
        (row.label, row.k, row.seed): row
        for row in read_rows(complete(figure, tmp_path, "cpu", None))
    }
    expected = lm.select(load_dataset("wine").standardised(), 3, method="uniform", seed=1)
    assert rows["uniform", 3, 1].value == pytest.approx(expected.error(), rel=1e-7)
    assert rows["uniform", 3, 1].factor == pytest.approx(expected.factor(), rel=1e-7)


def test_a_run_that_is_stopped_keeps_its_rows_and_goes_on(tmp_path):
    figure = tiny("figure3", trials=3, only=["uniform", "leverage scores", "greedy"])

    def stop(progress):
        if progress.phase == "figure3" and progress.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), watching(stop):
        complete(figure, tmp_path, "cpu", None)
    before = (tmp_path / "figure3-quick.csv").read_bytes()
    assert len(read_rows(tmp_path / "figure3-quick.csv")) >= 5
    after = complete(figure, tmp_path, "cpu", None).read_bytes()
    assert after.startswith(before) and len(after) > len(before)
    assert complete(figure, tmp_path, "cpu", "no such folder").read_bytes() == after


def test_what_cannot_be_run_is_a_row_with_its_reason_and_is_tried_again(tmp_path):
    figure = tiny("figure4", rows=40, only=["uniform", "greedy"])
    asked = replace(figure, panels=(replace(figure.panels[0], needs="cuda"),))
    rows = read_rows(complete(asked, tmp_path, "cpu", None))
    assert {row.skip for row in rows} == {"n = 40 is run on a graphics card only: --device cuda"}
    assert all(row.value for row in read_rows(complete(figure, tmp_path, "cpu", None)))


def test_a_method_that_takes_too_long_above_a_size_says_so(tmp_path):
    figure = tiny("figure4", rows=40, only=["k-DPP"])
    few = replace(figure, entries=(replace(figure.entries[0], at_most=10),))
    rows = read_rows(complete(few, tmp_path, "cpu", None))
    assert {row.skip for row in rows} == {
        "a k-DPP takes the eigenvectors of the stored matrix, not run above n = 10"
    }


def test_the_paths_of_the_first_figure_end_at_zero_or_are_kept(tmp_path):
    figure = tiny("figure1")
    rows = read_rows(complete(figure, tmp_path, "cpu", None))
    assert [row.label for row in rows] == ["GD 10", "SGD 10", "GD 1000", "SGD 1000"]
    lines = (tmp_path / "figure1-quick-gd-10.csv").read_text().splitlines()
    assert len(lines[0].split(",")) == 6 and np.allclose(
        [float(t) for t in lines[1].split(",")[1:]], 0.5
    )


def test_a_data_set_that_the_figure_has_not_is_reported():
    with pytest.raises(
        ValueError, match="figure4 has no data set wine; it has powerplant, htru2, protein"
    ):
        restricted(read_settings("figure4"), ["wine"])


def test_a_device_that_is_not_there_is_reported(tmp_path):
    with pytest.raises((ValueError, ImportError), match="device must be|needs torch"):
        reproduce("figure4", tmp_path, device="tpu")


def test_processes_side_by_side_give_the_same_rows(tmp_path):
    figure = tiny("figure3", trials=2, only=["uniform", "greedy"])
    values = [
        {
            row.key: row.value
            for row in read_rows(complete(figure, tmp_path / name, "cpu", None, jobs))
        }
        for name, jobs in made(tmp_path)
    ]
    assert values[0] == values[1]


def made(tmp_path):
    for name, jobs in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        yield name, jobs
