"""`python -m paper`: what it writes, and its messages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paper.__main__ import main, parser
from paper.data import available

ROOT = Path(__file__).parents[2]


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """No data: an empty cache, and no folder."""
    monkeypatch.setenv("LANDMARKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LANDMARKS_DATA", raising=False)
    return str(tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("figure3 --quick", "residential was not found: run `python -m paper fetch`"),
        ("figure4 --only iris", "figure4 has no data set iris"),
        ("figure4 --jobs 0", "jobs must be at least 1, got 0"),
        ("figure2 --draw-only", "figure2.csv does not exist; run `python -m paper figure2` first"),
        ("fetch --only iris", "unknown data set 'iris'; the names are"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(empty, capsys, words, sentence):
    assert main([*words.split(), "--out", empty]) == 1
    said = capsys.readouterr().err
    assert "paper: " in said and sentence in said and "Traceback" not in said
    assert not list(Path(empty).glob("*.csv"))


def test_a_folder_that_cannot_be_made_is_reported(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["figure3", "--quick", "--out", str(tmp_path / "file" / "out")]) == 1
    assert "paper: " in capsys.readouterr().err


def test_the_data_are_listed_and_a_wrong_copy_is_found(empty, tmp_path, capsys):
    assert main(["data"]) == 0
    assert "protein      45730 × 9    CC BY 4.0     not found; https" in capsys.readouterr().out
    np.savez(tmp_path / "htru2.npz", X=np.eye(3))
    assert main(["data", "--data-dir", str(tmp_path)]) == 1
    assert "htru2.npz does not hold the published htru2: X of" in capsys.readouterr().out


def test_without_a_network_fetching_fails_with_a_sentence_and_keeps_nothing(empty, tmp_path):
    nowhere = {"https_proxy": "http://127.0.0.1:9", "no_proxy": "", "PYTHONPATH": "src"}
    command = [sys.executable, "-m", "paper", "fetch", "--only", "htru2"]
    done = subprocess.run(
        command, env=os.environ | nowhere, cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr
    assert done.stderr.startswith("paper: https://archive.ics.uci.edu/static/public/372/htru2.zip")
    assert "--data-dir or LANDMARKS_DATA" in done.stderr
    assert list((tmp_path / "cache").iterdir()) == []


def test_every_command_that_the_documents_show_is_one():
    pages = [
        ROOT / "README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs/results").glob("*.md"),
    ]
    text = "".join(page.read_text(encoding="utf-8") for page in pages).replace("\\\n", "")
    shown = re.findall(r"python -m paper (\w[^`#\n]*)", text)
    assert len(shown) >= 12
    assert [parser().parse_args(words.split()).what for words in shown]


@pytest.mark.slow
@pytest.mark.skipif(not available("residential"), reason="needs LANDMARKS_DATA/residential.npz")
def test_a_quick_figure_is_run_summarised_and_drawn(tmp_path, capsys):
    words = ["figure2", "--quick", "--only", "residential", "--out", str(tmp_path)]
    assert main(words) == 0
    endings = [line.rsplit(".")[-1] for line in capsys.readouterr().out.split()]
    assert endings == ["csv", "md", "png", "svg", "png", "svg"]
