"""docs/cli.md lists every exit code and format, and names only options that exist."""

from pathlib import Path

from landmarks.cli import outcome
from landmarks.cli.main import parser
from landmarks.readers.table import ENDINGS, FORMATS

TEXT = (Path(__file__).parent.parent.parent / "docs" / "cli.md").read_text(encoding="utf-8")


def test_every_command_that_is_shown_is_one():
    shown = [
        line.split("#")[0].split(">")[0].split()[1:]
        for line in TEXT.splitlines()
        if line.startswith("    landmarks ")
    ]
    assert len(shown) == 6
    for arguments in shown:
        assert parser().parse_args(arguments).command == arguments[0]


def test_every_option_that_is_named_is_one():
    options = {
        option
        for command in parser()._subparsers._group_actions[0].choices.values()
        for option in command._option_string_actions
    }
    named = {
        word.strip("`.,;()|") for word in TEXT.replace("`", " ").split() if word.startswith("--")
    }
    assert named <= options


def test_exit_codes_and_formats_are_all_listed():
    assert all(
        f"| {code} |" in TEXT
        for code in (outcome.OK, outcome.USAGE, outcome.BAD_DATA, outcome.NO_OUTPUT, 130)
    )
    assert set(ENDINGS.values()) == set(FORMATS)
    assert all(f"`.{name}`" in TEXT for name in FORMATS)
