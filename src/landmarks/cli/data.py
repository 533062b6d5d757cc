"""`landmarks data`: list, fetch and check the data sets."""

import argparse

from ..datasets.catalogue import SOURCES
from ..datasets.load import (
    EMBEDDED,
    PAPER,
    fetch_dataset,
    find,
    load_dataset,
    read_file,
    source_of,
)
from ..datasets.synthetic import SYNTHETIC
from .outcome import BAD_DATA


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    return {"list": listed, "fetch": fetched, "check": checked}[arguments.action](arguments)


def listed(arguments: argparse.Namespace) -> int:
    """Print one line for each data set."""
    print(f"{'name':<14} {'shape':>12}  {'licence':<13} where")
    for name in (*EMBEDDED, *SYNTHETIC):
        shape = load_dataset(name).X.shape
        print(
            f"{name:<14} {shape[0]:>6} × {shape[1]:<3}  {'':<13} "
            f"{'in scikit-learn' if name in EMBEDDED else 'synthetic, best choice known'}"
        )
    for source in SOURCES.values():
        where = (
            find(source.name, arguments.data_dir)
            or f"not found; `landmarks data fetch {source.name}` downloads {source.url}"
        )
        print(
            f"{source.name:<14} {source.shape[0]:>6} × {source.shape[1]:<3}  {source.licence:<13} "
            f"{where}"
        )
    return 0


def fetched(arguments: argparse.Namespace) -> int:
    """Download what is asked for."""
    for source in [source_of(name) for name in arguments.names or PAPER]:
        print(f"{source.name}: {fetch_dataset(source, force=arguments.force)}", flush=True)
    return 0


def checked(arguments: argparse.Namespace) -> int:
    """Check the local copies; those asked for by name must exist."""
    wrong = 0
    for source in [source_of(name) for name in arguments.names or PAPER]:
        path = find(source.name, arguments.data_dir)
        if path is None:
            wrong += bool(arguments.names)
            print(f"{source.name}: not found")
            continue
        try:
            read_file(source, path)
            print(f"{source.name}: {path} holds the published numbers")
        except ValueError as error:
            wrong += 1
            print(f"{source.name}: {error}")
    return BAD_DATA if wrong else 0
