"""A publisher on this machine: an https server with its own certificate, and original files."""

import gzip
import http.server
import io
import shutil
import ssl
import struct
import subprocess
import threading
import zipfile

import numpy as np
import pytest

X = np.array([[1.5, 2.0, 0.1], [np.nan, -4.25, 3e5], [0.0, 7.0, 1 / 3]])


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


def zipped(name, content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "about the data")
        archive.writestr(f"folder/{name}", content)
    return stream.getvalue()


def text(X, delimiter=",", missing="?", after=(), header=""):
    cells = [[missing if np.isnan(x) else repr(float(x)) for x in row] + list(after) for row in X]
    return (header + "\r\n".join(delimiter.join(row) for row in cells) + "\r\n").encode()


def workbook(X, headers):
    from openpyxl import Workbook

    book = Workbook()
    for row in [*headers, *X.tolist()]:
        book.active.append(row)
    book.create_sheet("Descriptions").append(["about the columns"])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def idx(images):
    return gzip.compress(struct.pack(">4I", 0x803, *images.shape) + images.tobytes(), mtime=0)
