"""Data sets by name, from a folder, checked; and made-up ones whose best choice is known."""

import itertools

import numpy as np
import pytest

import landmarks as lm
from landmarks.datasets import (
    SOURCES,
    Source,
    available,
    blocks,
    load_dataset,
    planted,
    standardise,
)
from landmarks.datasets.catalogue import checksum
from landmarks.datasets.originals import separated
from landmarks.errors import ChecksumError

from .publisher import X, text, zipped


@pytest.fixture(autouse=True)
def nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("LANDMARKS_CACHE", str(tmp_path / "no cache"))
    monkeypatch.delenv("LANDMARKS_DATA", raising=False)


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(
        SOURCES,
        "tiny",
        Source(
            "tiny",
            "",
            X.shape,
            "",
            "https://localhost/",
            ("x.zip", "x.csv"),
            separated("x.csv"),
            checksum(X),
        ),
    )


def test_an_unknown_name_gets_the_known_ones():
    with pytest.raises(
        ValueError,
        match="unknown data set 'iris'; the names are digits, breast_cancer, wine, planted, "
        "blocks, residential",
    ):
        load_dataset("iris")


def test_a_data_set_that_is_not_here_says_how_to_get_it():
    with pytest.raises(
        FileNotFoundError,
        match="run `landmarks data fetch protein`, or set LANDMARKS_DATA or data_dir to a "
        "folder with protein.npz",
    ):
        load_dataset("protein")


@pytest.mark.parametrize(
    ("file", "content"), [("x.zip", zipped("x.csv", text(X))), ("x.csv", text(X))]
)
def test_a_folder_may_hold_the_original_or_the_file_inside_it(tiny, tmp_path, file, content):
    (tmp_path / file).write_bytes(content)
    np.testing.assert_array_equal(load_dataset("tiny", tmp_path).X, X)


def test_a_folder_may_hold_npz_files(tiny, tmp_path):
    np.savez(tmp_path / "tiny.npz", X=X, feature_names=np.array(["a", "b", "c"]))
    assert load_dataset("tiny", tmp_path).names == ("a", "b", "c")


def test_other_numbers_are_refused(tiny, tmp_path):
    np.savez(tmp_path / "tiny.npz", X=X + 1)
    with pytest.raises(ChecksumError, match="tiny.npz does not hold the published tiny"):
        load_dataset("tiny", tmp_path)


def test_half_an_npz_file_is_refused(tiny, tmp_path):
    np.savez(tmp_path / "tiny.npz", X=X)
    half = (tmp_path / "tiny.npz").read_bytes()[:100]
    (tmp_path / "tiny.npz").write_bytes(half)
    with pytest.raises(ValueError, match="tiny.npz is not a complete npz file with an array X"):
        load_dataset("tiny", tmp_path)


def test_the_checksum_of_the_numbers_sees_one_digit_and_the_shape_but_no_layout():
    other = X.copy()
    other[0, 0] = np.nextafter(other[0, 0], 2)
    assert checksum(np.asfortranarray(X)) == checksum(X) != checksum(other)
    assert checksum(X.reshape(1, 9)) != checksum(X)


def test_made_up_data_are_available_without_a_folder():
    assert set(available()) >= {"digits", "planted", "blocks"}
    assert load_dataset("planted").X.shape == (60, 40)


@pytest.mark.parametrize("known", [planted(20, 9, 3, seed=1), blocks(size=4, k=2, seed=2)])
def test_the_known_choice_is_the_best_of_all(known):
    def error(S):
        return np.sum(
            (known.X - known.X[:, S] @ np.linalg.lstsq(known.X[:, S], known.X, rcond=None)[0]) ** 2
        )

    best = min(
        itertools.combinations(range(known.X.shape[1]), len(known.best)),
        key=lambda S: error(list(S)),
    )
    assert best == known.best and error(list(best)) == pytest.approx(known.error, rel=1e-9)


@pytest.mark.parametrize("known", [planted(), blocks()])
def test_the_default_finds_the_known_choice(known):
    assert tuple(sorted(lm.select(known.X, len(known.best)).indices.tolist())) == known.best


def test_planted_sizes_must_fit():
    with pytest.raises(ValueError, match="0 < k < n <= m must hold, got k = 5, n = 4, m = 60"):
        planted(n=4)


def test_missing_values_take_the_mean_and_constant_columns_go():
    found, kept = standardise(np.array([[1.0, 5.0, np.nan], [3.0, 5.0, 1.0], [np.nan, 5.0, 3.0]]))
    assert kept.tolist() == [0, 2] and found[2, 0] == 0.0 == found[0, 1]
    np.testing.assert_allclose(found.std(axis=0), 1.0)
