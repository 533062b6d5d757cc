"""The package opens no connection: a fresh interpreter has no sockets, and no file downloads."""

import ast
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import landmarks as lm

PROGRAM = """
import socket, sys, tempfile, os
class Refused(socket.socket):
    def __init__(self, family=-1, *rest, **named):
        if family != getattr(socket, "AF_UNIX", None):
            raise AssertionError("a socket was opened")
        super().__init__(family, *rest, **named)
socket.socket = Refused
socket.getaddrinfo = lambda *address, **named: sys.exit("a name was looked up")
import numpy as np
import landmarks as lm
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
X = scale(load_wine().data)
for method in ("auto", "greedy", "annealed", "rpcholesky"):
    path = os.path.join(tempfile.mkdtemp(), "run.npz")
    lm.select(X, 3, method=method).save(path)
    lm.load(path).error()
lm.ColumnSelector(3, random_state=0, center=True).fit(X)
lm.Nystroem(n_components=5, random_state=0).fit(X)
from landmarks.cli.main import main
sys.exit(main(["demo"]))
"""


@pytest.mark.thorough
def test_no_connection_is_opened():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, timeout=300)


def test_a_selection_asks_for_no_connection(monkeypatch, tmp_path):
    """The same in this process, for what most people do."""

    def refused(*address, **named):
        pytest.fail("a connection was asked for")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    lm.select(np.eye(6), 2).save(tmp_path / "run.npz")
    assert lm.load(tmp_path / "run.npz").k == 2


def test_no_file_of_the_package_imports_what_downloads():
    """Only dask, which the user starts, has connections."""
    loud = {"aiohttp", "ftplib", "http", "httpx", "requests", "smtplib", "socket", "ssl", "urllib"}
    files = sorted(Path(lm.__file__).parent.rglob("*.py"))
    imported = {
        (file.name, name.partition(".")[0])
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
    }
    assert len(files) > 100 and {pair for pair in imported if pair[1] in loud} == set()
