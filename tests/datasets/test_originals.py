"""The readers return the numbers of files in the formats of the publishers."""

import io
import zipfile

import numpy as np
import pytest

from landmarks.datasets import SOURCES, available, load_dataset
from landmarks.datasets.catalogue import checksum
from landmarks.datasets.originals import images, member, separated, workbook

from . import publisher
from .publisher import X

KNOWN = X[[0, 2]]
IDX = publisher.idx(np.zeros((2, 2, 2), np.uint8))


def test_text_with_missing_values_is_read_from_an_archive_and_as_it_is():
    written = publisher.text(X, after=["8"])
    for content in (written, publisher.zipped("arrhythmia.data", written)):
        read, names = separated("arrhythmia.data", columns=slice(3))(content)
        np.testing.assert_array_equal(read, X)
        assert names == ("0", "1", "2")


def test_text_separated_by_blanks_has_its_missing_values_as_nan():
    np.testing.assert_array_equal(
        separated("secom.data", delimiter=None)(publisher.text(X, " ", "NaN"))[0], X
    )


def test_text_with_names_on_top_leaves_the_target_out():
    written = publisher.text(KNOWN, header="RMSD,F1,F2\r\n")
    read, names = separated("CASP.csv", names=True, columns=slice(1, 10))(written)
    assert names == ("F1", "F2") and np.array_equal(read, KNOWN[:, 1:])


def test_a_workbook_has_its_names_above_its_numbers():
    pytest.importorskip("openpyxl")
    written = publisher.workbook(KNOWN, [["PROJECT", None, None], ["A", "B", "C"]])
    for content in (written, publisher.zipped("Data.xlsx", written)):
        read, names = workbook(columns=2)(content)
        assert names == ("A", "B") and np.array_equal(read, KNOWN[:, :2])


def test_images_are_read_from_the_first_on():
    pixels = np.arange(24, dtype=np.uint8).reshape(3, 4, 2)
    read, names = images(2)(publisher.idx(pixels))
    assert np.array_equal(read, pixels[:2].reshape(2, 8)) and names[3] == "row 1, column 1"


@pytest.mark.parametrize(
    ("read", "content", "sentence"),
    [
        (images(1), b"too short", "begins with 16 bytes, got 9"),
        (images(1), IDX[:-9], "broke off after 2. bytes"),
        (images(1), IDX[:-9] + b"123456789", "gzip file is damaged"),
        (images(1), b"0" * 32, "not an idx file of images"),
        (separated("x.csv"), b"", "has no rows"),
        (separated("x.csv"), b"1,2\n3\n", "got 1 columns instead of 2"),
        (
            separated("x.csv"),
            publisher.zipped("other.csv", "1"),
            "holds no file that ends in x.csv, but readme.txt, folder/other.csv",
        ),
    ],
)
def test_a_file_of_another_kind_is_reported(read, content, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(content)


def test_a_member_that_would_unpack_to_more_than_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr("landmarks.datasets.originals.LIMIT", 1000)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", "0" * 5000)
    with pytest.raises(
        ValueError, match="x.csv would unpack to 5000 bytes, more than the limit of 1000"
    ):
        member(stream.getvalue(), "x.csv")


def original(name, X):
    """The published file of a data set, written again from its numbers."""
    if name == "residential":
        return publisher.zipped(
            "Residential-Building-Data-Set.xlsx",
            publisher.workbook(
                X, [["PROJECT DATES"] + [None] * 108, [f"V-{j}" for j in range(109)]]
            ),
        )
    if name == "powerplant":
        return publisher.zipped(
            "CCPP/Folds5x2_pp.xlsx",
            publisher.workbook(np.column_stack([X, X[:, 0]]), [["AT", "V", "AP", "RH", "PE"]]),
        )
    if name == "arrhythmia":
        return publisher.zipped("arrhythmia.data", publisher.text(X, after=["1"]))
    if name == "secom":
        return publisher.zipped("secom.data", publisher.text(X, " ", "NaN"))
    if name == "htru2":
        return publisher.zipped("HTRU_2.csv", publisher.text(X, after=["0"]))
    if name == "protein":
        header = ",".join(["RMSD", *(f"F{j}" for j in range(1, 10))]) + "\r\n"
        return publisher.zipped(
            "CASP.csv", publisher.text(np.column_stack([X[:, 0], X]), header=header)
        )
    return publisher.idx(X.astype(np.uint8).reshape(-1, 28, 28))


@pytest.mark.parametrize("name", ["residential", "arrhythmia", "htru2", "mnist1k"])
def test_the_original_of_a_data_set_gives_the_published_numbers(name):
    compare(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["secom", "powerplant", "protein"])
def test_the_original_of_a_larger_data_set_gives_the_published_numbers(name):
    compare(name)


def compare(name):
    if name not in available():
        pytest.skip(f"LANDMARKS_DATA names no folder with {name}.npz")
    pytest.importorskip("openpyxl")
    X = load_dataset(name).X
    assert checksum(SOURCES[name].read(original(name, X))[0]) == SOURCES[name].content
