"""The command itself: help, version, unknown commands, interrupts."""

import subprocess
import sys

import pytest

import landmarks
from landmarks.cli.main import main

from .program import ENVIRONMENT


def test_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"landmarks {landmarks.__version__}\n"


def test_python_m_landmarks_is_the_command(capfd):
    words = ["select", "no-such-file.csv", "-k", "3"]
    code = main(words)
    said = capfd.readouterr()
    command = [sys.executable, "-m", "landmarks", *words]
    found = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    assert (found.returncode, found.stdout, found.stderr) == (code, said.out, said.err)
    assert code == 3 and found.stderr.startswith("landmarks: ")
