"""`landmarks info`: versions, devices, threads and the compiled search, as in a bug report."""

import argparse
import os
import platform
import sys
import warnings
from collections.abc import Iterator

from .. import __version__
from ..proof import counting
from ..report.sentences import installed
from ..residual.compiled import library
from .outcome import OK

PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "array-api-compat"),
    *("torch", "triton", "dask", "distributed", "pandas", "polars", "pyarrow"),
    *("h5py", "zarr", "matplotlib", "jinja2"),
)
NOT_COMPILED = (
    "landmarks was installed without it, as where there is no C compiler, and searches use NumPy; "
    "install a compiler (cc), then landmarks again"
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(arguments: argparse.Namespace) -> int:
    """Print the installed packages and the devices."""
    print("\n".join(_lines()))
    return OK


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


def _compiled_search() -> str:
    """Whether the compiled search and count of choices can be used, and the reason if not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if None not in (library.library(), counting.library()):
            return "yes"
    return f"no: {caught[-1].message if caught else NOT_COMPILED}"


def _lines() -> Iterator[str]:
    yield f"landmarks        {__version__}"
    yield f"python           {platform.python_version()} on {platform.platform()}"
    threads = [f"{name}={os.environ[name]}" for name in THREADS if name in os.environ]
    yield f"processors       {', '.join([str(_processors()), *threads])}"
    yield f"devices          {', '.join(_devices()) or 'no GPU that torch can use'}"
    yield f"compiled search  {_compiled_search()}"
    yield f"executable       {sys.executable}"
    yield "packages"
    yield from (f"  {name:18s} {installed(name) or 'not installed'}" for name in PACKAGES)
