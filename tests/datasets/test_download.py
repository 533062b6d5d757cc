"""A download is complete, verified and kept, or it is an error and nothing is kept."""

import hashlib
import os
import socket
import stat
from dataclasses import replace

import numpy as np
import pytest

from landmarks.datasets import Source, fetch_dataset
from landmarks.datasets.catalogue import checksum
from landmarks.datasets.load import download, read_file
from landmarks.datasets.originals import separated
from landmarks.errors import ChecksumError, DownloadError

from .publisher import X, certificate, publisher, text, zipped  # noqa: F401  (fixtures)

WRITTEN = zipped("x.csv", text(X))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LANDMARKS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def source(publisher):  # noqa: F811
    address, files = publisher
    files["/x.zip"], files["/half.zip"] = WRITTEN, WRITTEN
    return Source(
        "tiny",
        "three rows",
        X.shape,
        "",
        f"{address}/x.zip",
        ("x.zip",),
        separated("x.csv"),
        checksum(X),
    )


def kept(cache):
    return sorted(path.name for path in cache.iterdir())


def test_a_data_set_is_fetched_checked_and_kept_for_its_owner_alone(source, cache):
    path = fetch_dataset(source)
    assert kept(cache) == ["tiny.npz"] and stat.S_IMODE(cache.stat().st_mode) == 0o700
    np.testing.assert_array_equal(read_file(source, path)[0], X)


def test_what_the_cache_holds_is_not_fetched_again_unless_asked_for(source, cache):
    path = fetch_dataset(source)
    gone = replace(source, url=source.url + ".gone")
    assert fetch_dataset(gone) == path
    with pytest.raises(
        DownloadError, match="answered 404 Not Found; without a network, put the file into a folder"
    ):
        fetch_dataset(gone, force=True)


def test_other_bytes_than_expected_are_refused(source, cache):
    assert download(source.url, hashlib.sha256(WRITTEN).hexdigest()) == WRITTEN
    with pytest.raises(ChecksumError, match="expected 0000000000000000…; nothing was kept"):
        fetch_dataset(replace(source, sha256="0" * 64))
    assert kept(cache) == []


def test_other_numbers_than_published_are_refused(source, cache):
    with pytest.raises(
        ChecksumError, match=r"does not hold the published tiny: X of shape \(3, 3\)"
    ):
        fetch_dataset(replace(source, content="0" * 64))
    assert kept(cache) == []


def test_half_a_download_is_refused(source, cache):
    with pytest.raises(
        DownloadError,
        match=f"broke off after {len(WRITTEN)} (of {2 * len(WRITTEN)} )?bytes; nothing was kept",
    ):
        fetch_dataset(replace(source, url=source.url.replace("x.zip", "half.zip")))
    assert kept(cache) == []


def test_a_connection_that_is_refused_is_reported(source, cache):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(
        DownloadError, match=r"could not be reached \(.*refused.*\); without a network"
    ):
        fetch_dataset(replace(source, url=f"https://127.0.0.1:{port}/x.zip"))
    assert kept(cache) == []


def test_an_untrusted_certificate_is_refused(source, cache, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(DownloadError, match="could not be reached .*CERTIFICATE_VERIFY_FAILED"):
        fetch_dataset(source)


def test_only_https_is_used():
    with pytest.raises(ValueError, match="over https only, got http://example.org/x"):
        download("http://example.org/x")


def test_more_than_the_limit_is_refused(source, cache, monkeypatch):
    monkeypatch.setattr("landmarks.datasets.load.LIMIT", 10)
    with pytest.raises(DownloadError, match="larger than the limit of 10 bytes"):
        fetch_dataset(source)


def test_a_cache_that_cannot_be_written_is_reported_before_anything_is_downloaded(
    source, tmp_path, monkeypatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LANDMARKS_CACHE", os.fspath(tmp_path / "file" / "cache"))
    with pytest.raises(
        PermissionError, match=r"cannot be written \(Not a directory\); set LANDMARKS_CACHE"
    ):
        fetch_dataset(source)


def test_a_full_disk_leaves_nothing_half_written(source, cache, monkeypatch):
    def full(*arguments, **settings):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez_compressed", full)
    with pytest.raises(OSError, match="No space left"):
        fetch_dataset(source)
    assert kept(cache) == []
