"""`landmarks completion`: completions for bash, zsh and fish, made from the parser."""

import argparse
from collections.abc import Iterator

from .outcome import OK


def run(arguments: argparse.Namespace) -> int:
    """Print the completion."""
    from .main import COMMANDS, parser

    choices = [action.choices for action in parser()._actions if action.dest == "command"]
    commands = dict(choices[0] or {})
    for line in {"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](commands, COMMANDS):
        print(line)
    return OK


Commands = dict[str, argparse.ArgumentParser]


def bash(commands: Commands, summaries: dict[str, str]) -> Iterator[str]:
    """A function for bash: the options of the command, the values of an option, else files."""
    yield "_landmarks() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield "    COMPREPLY=()"
    top = " ".join([*commands, "--help", "--version"])
    yield f'    [ "$COMP_CWORD" -eq 1 ] && {{ {_reply(top)}; return; }}'
    yield '    case "${COMP_WORDS[1]} $before" in'
    for name, command in commands.items():
        for action in command._actions:
            for option in action.option_strings if action.choices else ():
                yield f'        "{name} {option}") {_reply(_words(action))}; return ;;'
    yield "    esac"
    yield '    case "${COMP_WORDS[1]}" in'
    for name, command in commands.items():
        offered: list[str] = []  # options, and the values of positional arguments
        for action in command._actions:
            offered += action.option_strings or [_words(action)]
        yield f"        {name}) {_reply(' '.join(filter(None, offered)))} ;;"
    yield "    esac"
    yield '    [ "${word:0:1}" = "-" ] || COMPREPLY+=($(compgen -f -- "$word"))'
    yield "}"
    yield "complete -o filenames -F _landmarks landmarks"


def _reply(words: str) -> str:
    """The bash command that offers those of the words that begin as the user typed."""
    return f'COMPREPLY=($(compgen -W "{words}" -- "$word"))'


def zsh(commands: Commands, summaries: dict[str, str]) -> Iterator[str]:
    """A function for zsh, with the help of each option."""
    yield "#compdef landmarks"
    yield "_landmarks() {"
    yield "  local -a commands"
    described = (_quoted(f"{name}:{summary}") for name, summary in summaries.items())
    yield f"  commands=({' '.join(described)})"
    yield "  if (( CURRENT == 2 )); then _describe command commands; return; fi"
    yield "  shift words; (( CURRENT-- ))"
    yield '  case "$words[1]" in'
    for name, command in commands.items():
        yield f"    {name}) _arguments {' '.join(_zsh_arguments(command))} ;;"
    yield "  esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = "_landmarks" ]; then _landmarks "$@"'
    yield "else compdef _landmarks landmarks; fi"


def _zsh_arguments(command: argparse.ArgumentParser) -> Iterator[str]:
    for action in command._actions:
        listed = f"({_words(action)})" if action.choices else "_files"
        if not action.option_strings:
            yield _quoted(f"{'1' if action.choices else '*'}:{action.dest}:{listed}")
        values = f":{'value' if action.choices else 'file'}:{listed}"
        for option in action.option_strings:
            yield _quoted(f"{option}[{_plain(action.help)}]{'' if action.nargs == 0 else values}")


def fish(commands: Commands, summaries: dict[str, str]) -> Iterator[str]:
    """Lines for fish, with the help of each option."""
    for name, summary in summaries.items():
        yield f"complete -c landmarks -f -n __fish_use_subcommand -a {name} -d {_quoted(summary)}"
    for name, command in commands.items():
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        for action in command._actions:
            if action.choices and not action.option_strings:
                yield f"complete -c landmarks {seen} -f -a {_quoted(_words(action))}"
            for option in (option for option in action.option_strings if option.startswith("--")):
                described = f"-d {_quoted(_plain(action.help))}"
                yield f"complete -c landmarks {seen} -l {option[2:]}{_fish(action)} {described}"


def _fish(action: argparse.Action) -> str:
    """What follows an option: its values, a file, or nothing."""
    if action.choices:
        return f" -x -a {_quoted(_words(action))}"
    return "" if action.nargs == 0 else " -r"


def _words(action: argparse.Action) -> str:
    return " ".join(map(str, action.choices or ()))


def _plain(text: str | None) -> str:
    """Help without the signs that shells give a meaning to."""
    return "".join(" " if sign in "[]:'\"`$\\" else sign for sign in (text or ""))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
