"""`landmarks info`: versions, devices, threads and the compiled search, as in a bug report."""

import argparse
import json
import os
import platform
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from .. import __version__
from ..proof import counting
from ..report.sentences import installed
from ..residual.compiled import library
from .outcome import OK

NEEDED = ("numpy", "scipy", "scikit-learn", "array-api-compat")
OPTIONAL = (
    *("torch", "triton", "pykeops", "dask", "distributed", "pandas", "polars", "pyarrow"),
    *("h5py", "zarr", "matplotlib", "jinja2"),
)
NOT_COMPILED = (
    "landmarks was installed without it, as where there is no C compiler, and searches use NumPy; "
    "install a compiler (cc), then landmarks again"
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
    """Versions, devices, threads and whether searches are compiled."""
    return {
        "schema": "landmarks/info/1",
        "landmarks": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: installed(name) for name in NEEDED + OPTIONAL},
        "devices": _devices(),
        "compiled_search": _compiled_search(),
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


def _compiled_search() -> dict[str, Any]:
    """Whether the compiled search and count of choices can be used, and the reason if not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        available = None not in (library.library(), counting.library())
    reasons = [str(warning.message) for warning in caught] or [NOT_COMPILED]
    return {"available": available, "reason": None if available else reasons[-1]}


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    yield f"landmarks        {facts['landmarks']}"
    yield f"python           {facts['python']} on {facts['platform']}"
    yield f"processors       {facts['threads']['cpus']}" + "".join(
        f", {name}={value}" for name, value in facts["threads"].items() if name != "cpus"
    )
    yield f"devices          {', '.join(facts['devices']) or 'no GPU that torch can use'}"
    reason = facts["compiled_search"]["reason"]
    yield f"compiled search  {'yes' if reason is None else f'no: {reason}'}"
    yield "packages"
    yield from (
        f"  {name:18s} {version or 'not installed'}" for name, version in facts["packages"].items()
    )
