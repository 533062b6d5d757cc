"""The command itself: help, version, unknown commands, interrupts."""

import pytest

import landmarks
from landmarks.cli import demo
from landmarks.cli.main import main


def test_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"landmarks {landmarks.__version__}\n"


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "demo" in capsys.readouterr().out


def test_an_unknown_command_is_refused_with_the_known_ones(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["frobnicate"])
    assert "choose from" in capsys.readouterr().err


def test_an_interrupt_ends_with_130(monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupted)
    assert main(["demo"]) == 130
