"""`landmarks data`: exit codes and messages."""

import os
import subprocess
import sys

import numpy as np
import pytest

from landmarks.cli.main import main


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LANDMARKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LANDMARKS_DATA", raising=False)
    return tmp_path / "cache"


def test_the_list_names_every_data_set(capsys):
    assert main(["data", "list"]) == 0
    printed = capsys.readouterr().out
    assert (
        "protein         45730 × 9    CC BY 4.0     not found; `landmarks data fetch protein` "
        "downloads https://archive.ics.uci.edu/" in printed
    )
    assert "wine              178 × 13                 in scikit-learn" in printed


def test_an_unknown_name_is_an_error(capsys):
    assert main(["data", "fetch", "iris"]) == 3
    assert "landmarks: unknown data set 'iris'; the names are" in capsys.readouterr().err


def test_without_a_network_fetching_fails_with_a_sentence_and_keeps_nothing(cache):
    nowhere = os.environ | {
        "https_proxy": "http://127.0.0.1:9",
        "no_proxy": "",
        "PYTHONPATH": "src",
    }
    done = subprocess.run(
        [sys.executable, "-m", "landmarks", "data", "fetch", "htru2"],
        env=nowhere,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3 and done.stdout == "" and list(cache.iterdir()) == []
    assert done.stderr.startswith(
        "landmarks: https://archive.ics.uci.edu/static/public/372/htru2.zip could not be reached"
    )
    assert "--data-dir or LANDMARKS_DATA" in done.stderr and "Traceback" not in done.stderr


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LANDMARKS_CACHE", str(tmp_path / "file"))
    assert main(["data", "fetch", "htru2"]) == 3
    assert "cannot be written" in capsys.readouterr().err


def test_a_wrong_copy_is_found(tmp_path, capsys):
    np.savez(tmp_path / "htru2.npz", X=np.eye(3))
    assert main(["data", "check", "--data-dir", str(tmp_path)]) == 3
    printed = capsys.readouterr().out
    assert (
        "htru2.npz does not hold the published htru2: X of shape (3, 3)" in printed
        and "protein: not found" in printed
    )


def test_what_was_asked_for_by_name_must_be_there(capsys):
    assert main(["data", "check", "protein"]) == 3
    assert main(["data", "check"]) == 0
