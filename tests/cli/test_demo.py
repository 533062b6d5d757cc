"""The demonstration prints true figures, without colour where colour is off."""

import io
import re

import pytest

from landmarks.cli import demo
from landmarks.cli.main import main
from landmarks.report.terminal import Terminal


@pytest.fixture(scope="module")
def lines():
    return list(demo.shown(Terminal(), seed=0))


def test_it_runs_without_error(capsys):
    assert main(["demo"]) == 0
    assert "worst texture" in capsys.readouterr().out


def test_each_of_the_chosen_is_named(lines):
    assert len(set(re.findall(r"pixel_\d_\d", " ".join(lines)))) == 20


def test_it_fits_a_narrow_terminal():
    drawn = [line for line in demo.shown(Terminal(columns=60), seed=0) if "█" in line]
    assert drawn and max(map(len, drawn)) <= 60


def test_the_choice_keeps_more_than_chance_and_less_than_any_directions(lines):
    kept = [line for line in lines if "█" in line and not re.match(r" +\d+  ", line[:6])]
    for example in (kept[:3], kept[3:]):
        chosen, random, best = (float(line.split()[-1].rstrip("%")) for line in example)
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
