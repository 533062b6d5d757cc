"""`landmarks select --coordinates --min-distance`."""

import numpy as np
import pytest

from .test_select import X, file, record, run

__all__ = ["file"]  # a fixture


@pytest.fixture
def places(tmp_path):
    path = tmp_path / "places.csv"
    path.write_text("x,y\n" + "\n".join(f"{j % 4},{j // 4}" for j in range(8)))
    return path


def test_chosen_places_keep_their_distance_and_the_report_has_maps(capsys, file, places, tmp_path):
    page = tmp_path / "page.html"
    options = ["-k", 3, "--coordinates", places, "--min-distance", 1.2, "--report", page]
    found = record(capsys, "select", file, *options)
    at = np.array([(j % 4, j // 4) for j in found["indices"]])
    apart = np.linalg.norm(at[:, None] - at, axis=2) + 9 * np.eye(3)
    assert apart.min() >= 1.2
    assert found["settings"]["min_distance"] == 1.2
    assert '<section id="places">' in page.read_text()


def test_coordinates_of_all_columns_serve_those_that_are_left(capsys, file, places):
    options = ["-k", 2, "--drop", "gene 1", "--coordinates", places, "--min-distance", 2.5]
    found = record(capsys, "select", file, *options)
    assert 1 not in found["indices"]
    a, b = (np.array([j % 4, j // 4]) for j in found["indices"])
    assert np.linalg.norm(a - b) >= 2.5


def test_three_coordinates_give_distances_but_no_map(capsys, file, tmp_path):
    path, page = tmp_path / "places.csv", tmp_path / "page.html"
    path.write_text("x,y,z\n" + "\n".join(f"{j},0,0" for j in range(8)))
    options = ["-k", 2, "--coordinates", path, "--min-distance", 3, "--report", page]
    found = record(capsys, "select", file, *options)
    assert abs(np.subtract(*found["indices"])) >= 3
    assert '<section id="places">' not in page.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--min-distance", "1"], "--min-distance needs --coordinates FILE"),
        (["--coordinates", "few.csv"], "has 2 lines, but there are 8 columns"),
        (["--coordinates", "none.csv"], "--coordinates none.csv:"),
        (["--coordinates", "all.csv", "--min-distance", "99"], "no choice of k = 2 places"),
    ],
)
def test_wrong_use_is_answered(capsys, file, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.csv").write_text("x\n1\n2\n")
    (tmp_path / "all.csv").write_text("x\n" + "\n".join(map(str, range(len(X[0])))))
    code, _, err = run(capsys, "select", file, "-k", 2, *options)
    assert code != 0
    assert words in err
