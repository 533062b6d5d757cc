"""Faults 52 to 55: files that are damaged, or made to do harm."""

import gzip
import io
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import FormatError
from landmarks.readers.table import read

X = np.random.default_rng(0).standard_normal((8, 5))


class Harm:
    """A pickle that makes a folder when it is read."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run.npz"
    lm.select(X, 2, method="greedy").save(path)
    return path


def header(shape, descr="'<f8'", order="False", data=b""):
    """An npy file whose header says so, whatever follows."""
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    padded = text + " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode() + data


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def peak_of_refusing(reader, *arguments, **options):
    """The most memory that it takes to refuse a file, in bytes."""
    tracemalloc.start()
    try:
        with pytest.raises(FormatError):
            reader(*arguments, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_fault_52_a_pickle_is_refused_and_not_run(tmp_path, run):
    harm = tmp_path / "harm"
    for dumped in (pickle.dumps(Harm(harm)), zipped(**{"record.npy": pickle.dumps(Harm(harm))})):
        run.write_bytes(dumped)
        with pytest.raises(FormatError):
            lm.load(run)
        with pytest.raises(FormatError):
            read(run)
    assert not harm.exists()


def test_fault_52_a_joblib_file_is_refused_and_not_run(tmp_path):
    joblib = pytest.importorskip("joblib")
    joblib.dump([Harm(tmp_path / "harm"), X], tmp_path / "model.npz")
    for reader in (lm.load, read):
        with pytest.raises(FormatError):
            reader(tmp_path / "model.npz")
    assert not (tmp_path / "harm").exists()


def test_fault_52_an_array_of_objects_is_refused_and_not_run(tmp_path, run):
    np.savez(run, indices=np.array([Harm(tmp_path / "harm")], dtype=object))
    for reader in (lm.load, read):
        with pytest.raises(FormatError, match="objects"):
            reader(run)
    assert not (tmp_path / "harm").exists()


def test_fault_53_a_bomb_is_refused_before_it_unpacks(run):
    bomb = zipped(**{"indices.npy": header("(25000000,)", data=bytes(200_000_000))})
    assert len(bomb) < 200_000
    run.write_bytes(bomb)
    for reader in (lm.load, read):
        assert peak_of_refusing(reader, run, max_bytes=2**26) < 2**20


def test_fault_53_packed_text_is_refused_at_the_limit():
    packed = io.BytesIO(gzip.compress(b"a,b\n" + b"1,2\n" * 5_000_000, 1))
    assert peak_of_refusing(read, packed, max_bytes=2**20) < 4 * 2**20


def test_fault_53_a_packed_table_is_refused_by_its_metadata(tmp_path):
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    pq.write_table(
        pa.table({"a": np.zeros(2_000_000)}), tmp_path / "table.parquet", compression="zstd"
    )
    assert (tmp_path / "table.parquet").stat().st_size < 100_000
    with pytest.raises(FormatError, match="limit"):
        read(tmp_path / "table.parquet", max_bytes=2**20)


UNREAD = "header cannot be read"
WRONG = {
    "huge": (header(f"({10**15},)"), "more than the limit"),
    "huge product": (header(f"({2**40}, {2**40})"), "more than the limit"),
    "negative": (header("(-1, 5)", data=bytes(40)), "claims the shape"),
    "negative twice": (header("(-2, -3)", data=bytes(48)), "claims the shape"),
    "cut short": (header("(4, 5)", data=bytes(100)), "cut short"),
    "a call": (header("(__import__('os').mkdir('harm'), 5)", data=bytes(40)), UNREAD),
    "a call as type": (
        header("(1, 5)", descr="__import__('os').mkdir('harm')", data=bytes(40)),
        UNREAD,
    ),
    "objects": (header("(1, 5)", descr="'|O'", data=pickle.dumps([1] * 5)), "Python objects"),
    "nested": (header("(" * 3000 + ")" * 3000), UNREAD),
    "no header": (b"\x93NUMPY\x01\x00\xff\xff", UNREAD),
    "magic alone": (b"\x93NUMPY", UNREAD),
    "version": (b"\x93NUMPY\x09\x09" + bytes(80), UNREAD),
}


@pytest.mark.parametrize(("data", "message"), WRONG.values(), ids=WRONG)
def test_fault_54_headers_that_lie_are_refused_and_run_nothing(
    tmp_path, monkeypatch, run, data, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match=message):
        read(io.BytesIO(data))
    assert peak_of_refusing(read, io.BytesIO(data)) < 2**22
    run.write_bytes(zipped(**{"record.npy": data, "indices.npy": data}))
    assert peak_of_refusing(lm.load, run) < 2**22
    assert not (tmp_path / "harm").exists()


def test_fault_54_the_order_of_a_fortran_array_is_kept():
    file = io.BytesIO()
    np.save(file, np.asfortranarray(X))
    file.seek(0)
    np.testing.assert_array_equal(read(file).values, X)


@pytest.mark.parametrize(
    "name",
    ["../outside.npy", "/tmp/landmarks-outside.npy", "a/../../outside.npy", "..\\outside.npy"],
)
def test_fault_55_members_that_point_elsewhere_are_never_written(tmp_path, monkeypatch, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    (inside / "run.npz").write_bytes(zipped(**{name: header("(1, 5)", data=bytes(40))}))
    with pytest.raises(FormatError, match="unknown entries"):
        lm.load("run.npz")
    read("run.npz")  # one array, under whatever name
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["inside", "run.npz"]
    assert not os.path.exists("/tmp/landmarks-outside.npy")


def test_fault_55_a_symbolic_link_in_an_archive_is_not_followed(tmp_path, run):
    (tmp_path / "secret.npy").write_bytes(header("(1, 5)", data=bytes(40)))
    link = zipfile.ZipInfo("X.npy")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(run, "w") as archive:
        archive.writestr(link, str(tmp_path / "secret.npy"))
    for reader in (lm.load, read):
        with pytest.raises(FormatError):
            reader(run)


def test_fault_55_saving_over_a_symbolic_link_leaves_what_it_points_to(tmp_path):
    (tmp_path / "other").write_text("kept")
    (tmp_path / "run.npz").symlink_to(tmp_path / "other")
    lm.select(X, 2, method="greedy").save(tmp_path / "run.npz")
    assert (tmp_path / "other").read_text() == "kept"
