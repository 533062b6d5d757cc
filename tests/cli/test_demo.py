"""The demonstration prints true figures, without colour where colour is off."""

import io
import re

import pytest

from landmarks.cli import demo
from landmarks.cli.main import main
from landmarks.report.terminal import Terminal


@pytest.fixture(scope="module")
def lines():
    return list(demo.digits(Terminal(), seed=0))


def test_it_runs_without_error(capsys):
    assert main(["demo"]) == 0
    assert "worst texture" in capsys.readouterr().out


def test_each_of_the_twenty_places_is_on_the_map_and_in_the_list(lines):
    picture = " ".join(line[:34] for line in lines[2:10])
    assert sorted(map(int, re.findall(r"\d+", picture))) == list(range(1, 21))
    assert len(re.findall(r"row \d, column \d", " ".join(lines))) == 20


def test_it_fits_a_narrow_terminal():
    lines = list(demo.digits(Terminal(columns=60), seed=0))
    assert max(map(len, lines[1:])) <= 60
    assert len(re.findall(r"row \d, column \d", " ".join(lines))) == 20


def test_the_choice_keeps_more_than_chance_and_less_than_any_directions(lines):
    chosen, random, best = (
        float(re.search(r"([\d.]+)%", line)[1]) for line in lines if line.endswith("%")
    )
    assert random < chosen < best < 100


def test_colour_needs_a_terminal_and_can_be_switched_off(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    stream.isatty = lambda: True
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Terminal.of(stream).bold("x") != "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Terminal.of(stream).bold("x") == "x"


def test_a_stream_of_ascii_gets_ascii():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    terminal = Terminal.of(stream)
    assert (terminal.bar(0.5, width=4) + terminal.shade(0.5)).isascii()
