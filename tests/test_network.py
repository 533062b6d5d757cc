"""Nothing but an explicit download opens a connection: a fresh interpreter has no sockets."""

import socket
import subprocess
import sys

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
from landmarks.datasets import load_dataset
X = load_dataset("wine").standardised()
for method in ("auto", "greedy", "annealed", "rpcholesky"):
    path = os.path.join(tempfile.mkdtemp(), "run.npz")
    lm.select(X, 3, method=method).save(path)
    lm.load(path).error()
lm.ColumnSelector(3, random_state=0, center=True).fit(X)
lm.Nystroem(n_components=5, random_state=0).fit(X)
from landmarks.cli.main import main
sys.exit(main(["demo"]))
"""


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
