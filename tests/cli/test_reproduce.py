"""`landmarks reproduce`: what it writes, and its messages."""

import pytest

from landmarks.cli.main import main
from landmarks.cli.reproduce import FIGURES
from landmarks.datasets import available
from landmarks.experiments import FIGURES as KNOWN


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.setenv("LANDMARKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LANDMARKS_DATA", raising=False)
    return tmp_path / "out"


def test_the_command_offers_the_figures_there_are():
    assert FIGURES == KNOWN


def test_missing_data_are_reported_and_leave_no_table(empty, capsys):
    assert main(["reproduce", "figure3", "--quick", "--out", str(empty)]) == 3
    assert (
        "landmarks: residential was not found: run `landmarks data fetch residential`"
        in capsys.readouterr().err
    )
    assert list(empty.iterdir()) == []


def test_an_unknown_data_set_is_reported(empty, capsys):
    assert main(["reproduce", "figure4", "--only", "iris", "--out", str(empty)]) == 3
    assert "figure4 has no data set iris" in capsys.readouterr().err


def test_drawing_alone_needs_tables(empty, capsys):
    assert main(["reproduce", "figure2", "--draw-only", "--out", str(empty)]) == 3
    assert (
        "figure2.csv does not exist; run `landmarks reproduce figure2` first"
        in capsys.readouterr().err
    )


def test_an_out_folder_that_cannot_be_made_is_reported(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["reproduce", "figure3", "--quick", "--out", str(tmp_path / "file" / "out")]) == 3
    assert "landmarks: " in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(
    "residential" not in available(), reason="LANDMARKS_DATA names no folder with residential.npz"
)
def test_a_quick_figure_is_run_summarised_and_drawn(tmp_path, capsys):
    assert (
        main(["reproduce", "figure2", "--quick", "--only", "residential", "--out", str(tmp_path)])
        == 0
    )
    assert [line.rsplit(".")[-1] for line in capsys.readouterr().out.split()] == [
        "csv",
        "md",
        "png",
        "svg",
        "png",
        "svg",
    ]
