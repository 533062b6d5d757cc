#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.10.14"]
# ///
"""The checks of the Makefile for those who use nox; on Windows too, and for each Python."""

from pathlib import Path

import nox

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv|virtualenv"
CODE = ["src", "tests", "docs", "benchmarks", "examples", "fuzz", "hatch_build.py", "noxfile.py"]


@nox.session
def lint(session: nox.Session) -> None:
    """Format, lint, types and the order of imports."""
    session.install("--editable", ".[dev]")
    session.run("ruff", "format", "--check", *CODE)
    session.run("ruff", "check", *CODE)
    session.run("mypy")
    session.run("lint-imports")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """The quick tests; arguments after `--` go to pytest."""
    session.install("--editable", ".[test]")
    chosen = session.posargs or ["-n", "auto", "-m", "not slow and not thorough"]
    session.run("pytest", *chosen, env={"OMP_NUM_THREADS": "1"})


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation and run its examples."""
    session.install("--editable", ".[docs]")
    session.run("python", "docs/paper_map.py", "--check")
    session.run("sphinx-build", "-W", "--keep-going", "-q", "docs", "docs/_build/html")


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """A source distribution and a wheel, checked as an index would."""
    session.install("build", "twine", "check-wheel-contents")
    folder = Path(session.create_tmp())
    session.run("python", "-m", "build", "--outdir", str(folder))
    session.run("twine", "check", "--strict", *map(str, folder.glob("*")))
    session.run("check-wheel-contents", *map(str, folder.glob("*.whl")))


if __name__ == "__main__":
    nox.main()
