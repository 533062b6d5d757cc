"""The paper's data: read from a folder or a download, checked against the published numbers.

Downloads are from a publisher on this machine: an https server with its own certificate.
"""

import gzip
import http.server
import io
import shutil
import socket
import ssl
import stat
import struct
import subprocess
import threading
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.preprocessing import scale

from paper.data import (
    SOURCES,
    Source,
    available,
    checksum,
    download,
    fetch,
    load,
    member,
    read,
    separated,
    standardise,
    workbook,
)

X = np.array([[1.5, 2.0, 0.1], [np.nan, -4.25, 3e5], [0.0, 7.0, 1 / 3]])


@pytest.fixture(autouse=True)
def cache(request, tmp_path, monkeypatch):
    """A cache that is empty, and no folder of data, except where real data are compared."""
    if "original" not in request.node.name:
        monkeypatch.setenv("LANDMARKS_CACHE", str(tmp_path / "cache"))
        monkeypatch.delenv("LANDMARKS_DATA", raising=False)
    return tmp_path / "cache"


def zipped(name, content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "about the data")
        archive.writestr(f"folder/{name}", content)
    return stream.getvalue()


def text(X, delimiter=",", missing="?", after=(), header=""):
    cells = [[missing if np.isnan(x) else repr(float(x)) for x in row] + list(after) for row in X]
    return (header + "\r\n".join(delimiter.join(row) for row in cells) + "\r\n").encode()


def sheet(X, headers):
    from openpyxl import Workbook

    book = Workbook()
    for row in [*headers, *X.tolist()]:
        book.active.append(row)
    book.create_sheet("Descriptions").append(["about the columns"])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def idx(pixels):
    return gzip.compress(struct.pack(">4I", 0x803, *pixels.shape) + pixels.tobytes(), mtime=0)


TINY = Source(
    "tiny",
    X.shape,
    "",
    "https://localhost/x.zip",
    ("x.zip", "x.csv"),
    separated("x.csv"),
    checksum(X),
)


class TestFolder:
    @pytest.fixture(autouse=True)
    def known(self, monkeypatch):
        monkeypatch.setitem(SOURCES, "tiny", TINY)

    def test_an_unknown_name_gets_the_known_ones(self):
        with pytest.raises(
            ValueError, match="'iris'; the names are digits, breast_cancer, wine, r"
        ):
            load("iris")

    def test_a_data_set_that_is_not_here_says_how_to_get_it(self):
        with pytest.raises(
            FileNotFoundError,
            match="run `python -m paper fetch`, or set LANDMARKS_DATA or --data-dir to a folder "
            "with protein.npz or physico",
        ):
            load("protein")
        assert not available("protein") and available("wine")

    @pytest.mark.parametrize(
        ("file", "content"), [("x.zip", zipped("x.csv", text(X))), ("x.csv", text(X))]
    )
    def test_it_may_hold_the_original_or_the_file_inside_it(self, tmp_path, file, content):
        (tmp_path / file).write_bytes(content)
        np.testing.assert_array_equal(load("tiny", tmp_path), X)

    def test_it_may_hold_npz_files(self, tmp_path, monkeypatch):
        np.savez(tmp_path / "tiny.npz", X=X)
        monkeypatch.setenv("LANDMARKS_DATA", str(tmp_path))
        np.testing.assert_array_equal(load("tiny"), X)

    def test_other_numbers_are_refused(self, tmp_path):
        np.savez(tmp_path / "tiny.npz", X=X + 1)
        with pytest.raises(ValueError, match="tiny.npz does not hold the published tiny"):
            load("tiny", tmp_path)


def test_the_checksum_of_the_numbers_sees_one_digit_and_the_shape_but_no_layout():
    other = X.copy()
    other[0, 0] = np.nextafter(other[0, 0], 2)
    assert checksum(np.asfortranarray(X)) == checksum(X) != checksum(other)
    assert checksum(X.reshape(1, 9)) != checksum(X)


def test_missing_values_take_the_mean_and_constant_columns_go():
    found = standardise(
        np.array([[1.0, 0.1, np.nan, 4], [3.0, 0.1, 1.0, 5], [np.nan, 0.1, 3.0, 9]])
    )
    np.testing.assert_allclose(found, scale([[1.0, 2, 4], [3, 1, 5], [2, 3, 9]]), atol=1e-15)


class Answers(http.server.BaseHTTPRequestHandler):
    """Whole files, and one that breaks off."""

    def do_GET(self):
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header(
            "Content-Length", str(len(content) * (2 if self.path.startswith("/half") else 1))
        )
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A self-signed certificate for 127.0.0.1, as one file with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    place = tmp_path_factory.mktemp("certificate")
    key, pem = place / "key.pem", place / "cert.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run([*command.split(), "-keyout", key, "-out", pem], check=True, capture_output=True)
    return pem, key


@pytest.fixture
def publisher(certificate, monkeypatch):
    """The address of a running https server, and the files that it serves by path."""
    pem, key = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.files = {}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}", server.files
    server.shutdown()
    server.server_close()


WRITTEN = zipped("x.csv", text(X))


class TestDownload:
    """A download is complete, verified and kept, or it is an error and nothing is kept."""

    @pytest.fixture
    def source(self, publisher):
        address, files = publisher
        files["/x.zip"], files["/half.zip"] = WRITTEN, WRITTEN
        return replace(TINY, url=f"{address}/x.zip")

    def test_it_is_checked_and_kept_for_its_owner_alone(self, source, cache):
        path = fetch(source)
        assert list(cache.iterdir()) == [path] and stat.S_IMODE(cache.stat().st_mode) == 0o700
        np.testing.assert_array_equal(read(source, path), X)

    def test_what_the_cache_holds_is_not_fetched_again(self, source):
        path = fetch(source)
        assert fetch(replace(source, url=source.url + ".gone")) == path

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"sha256": "0" * 64}, "expected 0000000000000000…; nothing was kept"),
            ({"content": "0" * 64}, r"does not hold the published tiny: X of shape \(3, 3\)"),
        ],
    )
    def test_fault_59_other_bytes_or_numbers_than_published_are_refused(
        self, source, cache, change, sentence
    ):
        with pytest.raises(ValueError, match=sentence):
            fetch(replace(source, **change))
        assert list(cache.iterdir()) == []

    def test_a_page_that_is_gone_is_reported(self, source, cache):
        with pytest.raises(OSError, match=r"could not be fetched \(Not Found\); without a network"):
            fetch(replace(source, url=source.url + ".gone"))
        assert list(cache.iterdir()) == []

    def test_a_connection_that_is_refused_is_reported(self, source, cache):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with pytest.raises(OSError, match=r"could not be fetched \(.*refused.*\); without a netw"):
            fetch(replace(source, url=f"https://127.0.0.1:{port}/x.zip"))
        assert list(cache.iterdir()) == []

    def test_an_untrusted_certificate_is_refused(self, source, monkeypatch):
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(OSError, match="could not be fetched .*CERTIFICATE_VERIFY_FAILED"):
            fetch(source)

    def test_more_than_the_limit_is_refused(self, source, monkeypatch):
        monkeypatch.setattr("paper.data.LIMIT", 10)
        with pytest.raises(OSError, match="at most 10 are read"):
            download(source.url)

    def test_a_full_disk_leaves_nothing_half_written(self, source, cache, monkeypatch):
        def full(*arguments, **settings):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("numpy.savez_compressed", full)
        with pytest.raises(OSError, match="No space left"):
            fetch(source)
        assert list(cache.iterdir()) == []


KNOWN = X[[0, 2]]


def test_text_with_missing_values_is_read_from_an_archive_and_as_it_is():
    written = text(X, after=["8"])
    for content in (written, zipped("arrhythmia.data", written)):
        found = separated("arrhythmia.data", columns=slice(3))(content)
        np.testing.assert_array_equal(found, X)


def test_a_workbook_is_read_from_its_first_row_of_numbers_on():
    pytest.importorskip("openpyxl")
    written = sheet(KNOWN, [["PROJECT", None, None], ["A", "B", "C"]])
    for content in (written, zipped("Data.xlsx", written)):
        assert np.array_equal(workbook(columns=2)(content), KNOWN[:, :2])


def test_a_member_that_would_unpack_to_more_than_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr("paper.data.LIMIT", 1000)
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
        return zipped(
            "Residential-Building-Data-Set.xlsx",
            sheet(X, [["PROJECT DATES"] + [None] * 108, [f"V-{j}" for j in range(109)]]),
        )
    if name == "powerplant":
        return zipped(
            "CCPP/Folds5x2_pp.xlsx",
            sheet(np.column_stack([X, X[:, 0]]), [["AT", "V", "AP", "RH", "PE"]]),
        )
    if name == "arrhythmia":
        return zipped("arrhythmia.data", text(X, after=["1"]))
    if name == "secom":
        return zipped("secom.data", text(X, " ", "NaN"))
    if name == "htru2":
        return zipped("HTRU_2.csv", text(X, after=["0"]))
    if name == "protein":
        header = ",".join(["RMSD", *(f"F{j}" for j in range(1, 10))]) + "\r\n"
        return zipped("CASP.csv", text(np.column_stack([X[:, 0], X]), header=header))
    return idx(X.astype(np.uint8).reshape(-1, 28, 28))


@pytest.mark.parametrize("name", ["residential", "arrhythmia", "htru2", "mnist1k"])
def test_the_original_of_a_data_set_gives_the_published_numbers(name):
    compare(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["secom", "powerplant", "protein"])
def test_the_original_of_a_larger_data_set_gives_the_published_numbers(name):
    compare(name)


def compare(name):
    if not available(name):
        pytest.skip(f"LANDMARKS_DATA names no folder with {name}.npz")
    pytest.importorskip("openpyxl")
    X = load(name)
    assert checksum(SOURCES[name].read(original(name, X))) == SOURCES[name].content
