"""`landmarks info`: what a bug report should contain: versions, devices, threads."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator
from typing import Any

from .. import __version__
from ..report.sentences import installed
from .outcome import OK

NEEDED = ("numpy", "scipy", "scikit-learn", "array-api-compat")
OPTIONAL = (
    *("torch", "triton", "pykeops", "dask", "distributed", "pandas", "polars", "pyarrow"),
    *("h5py", "zarr", "matplotlib", "jinja2", "rich"),
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(arguments: argparse.Namespace) -> int:
    """Print the installed packages and the devices."""
    facts = gathered()
    if arguments.json:
        print(json.dumps(facts, indent=2))
    else:
        print("\n".join(_lines(facts)))
    return OK


def gathered() -> dict[str, Any]:
    """Versions, devices and threads."""
    return {
        "schema": "landmarks/info/1",
        "landmarks": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: installed(name) for name in NEEDED + OPTIONAL},
        "devices": _devices(),
        "threads": {"cpus": _processors()}
        | {name: os.environ[name] for name in THREADS if name in os.environ},
        "executable": sys.executable,
    }


def _processors() -> int | None:
    """The processors that this process may use, where the system says so."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _devices() -> list[str]:
    """The GPUs that torch sees; torch is asked only where it is installed."""
    if installed("torch") is None:
        return []
    try:
        import torch
    except (ImportError, OSError):
        return []
    if not torch.cuda.is_available():
        return []
    return [f"cuda:{i} {torch.cuda.get_device_name(i)}" for i in range(torch.cuda.device_count())]


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    yield f"landmarks     {facts['landmarks']}"
    yield f"python        {facts['python']} on {facts['platform']}"
    yield f"processors    {facts['threads']['cpus']}" + "".join(
        f", {name}={value}" for name, value in facts["threads"].items() if name != "cpus"
    )
    yield f"devices       {', '.join(facts['devices']) or 'no GPU that torch can use'}"
    yield "packages"
    yield from (
        f"  {name:18s} {version or 'not installed'}" for name, version in facts["packages"].items()
    )
