"""The README: its numbers are those of the tables, its commands and files are there."""

import csv
import re
from pathlib import Path

from landmarks.cli.main import parser

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PEERS = {
    "scikit-learn's `Nystroem`": "scikit-learn Nystroem",
    "PySensors": "PySensors",
    "scikit-matter's CUR": "scikit-matter CUR",
    "SciPy's `interpolative`": "SciPy interpolative",
}


def measured(data, k, noun, peer):
    with (ROOT / "docs" / "results" / "peers.csv").open(encoding="utf-8") as file:
        found = [
            row
            for row in csv.DictReader(file)
            if (row["data"], row["k"], row["peer"], row["criterion"]) == (data, k, peer, "trace")
            and bool(row["sigma"]) == (noun == "landmarks")
        ]
    return f"{float(found[0]['factor']):.3f}, {float(found[0]['cpu_seconds']):.2f} s"


def test_the_comparison_with_others_has_the_numbers_of_the_table():
    section = TEXT[TEXT.index("## Why this rather than") :].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (\w+), (\d+) (\w+) \| (.+?) \| (.+?) \|$", section, re.M)
    assert len(rows) == len(PEERS)
    for words, data, k, noun, theirs, ours in rows:
        peer = next(name for start, name in PEERS.items() if words.startswith(start))
        assert theirs == measured(data, k, noun, peer)
        assert ours == measured(data, k, noun, "landmarks auto")


def test_every_command_that_is_shown_parses():
    commands = re.findall(r"^    landmarks (.*)$", TEXT, re.M)
    assert len(commands) >= 4
    for words in commands:
        assert parser().parse_args(words.split()).command


def test_every_file_that_is_linked_is_there():
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_extra_all_brings_no_cuda():
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    every = extras["optional-dependencies"]["all"][0]
    assert not re.search(r"torch|gpu|keops", every)
