"""The program as a user starts it: the installed script or the module, in a pipe or a terminal."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

from landmarks.cli.main import main

SOURCES = str(Path(__file__).parent.parent.parent / "src")
SCRIPT = Path(sys.executable).with_name("landmarks")
PROGRAM = [str(SCRIPT)] if SCRIPT.is_file() else [sys.executable, "-m", "landmarks"]
ENVIRONMENT = os.environ | {
    "PYTHONPATH": SOURCES,
    "OMP_NUM_THREADS": "1",
    "TERM": "xterm-256color",
    "COLUMNS": "100",
    "LINES": "40",
}
ENVIRONMENT.pop("NO_COLOR", None)


def called(capsys, *arguments):
    """Call the command in this process; returns the exit code, the output and the messages."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def run(*arguments, input=None, **options):
    """Run in a pipe; returns the completed process with bytes."""
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        input=input,
        capture_output=True,
        env=ENVIRONMENT,
        timeout=120,
        **options,
    )


def start(*arguments, **options):
    """Start in a pipe."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        **options,
    )


def in_terminal(*arguments):
    """Run in a pseudo-terminal; returns the exit code and what a person would see."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=ENVIRONMENT,
        close_fds=True,
    )
    os.close(follower)
    shown = b""
    while True:
        ready, _, _ = select.select([leader], [], [], 60)
        try:
            part = os.read(leader, 65536) if ready else b""
        except OSError:  # Linux says so when the other end is closed
            part = b""
        if not part:
            break
        shown += part
    os.close(leader)
    return process.wait(timeout=60), shown.decode()
