"""Fuzz one reader with coverage guidance; `tools/fuzz` runs all of them.

python fuzz/run.py TARGET [arguments of libFuzzer]
"""

import contextlib
import sys
import warnings
from importlib import import_module

import atheris

# imported before, these are not instrumented, which would take minutes
for name in (
    "scipy.fft",
    "scipy.io",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.special",
    "sklearn.datasets",
    "pyarrow.parquet",
    "h5py",
    "zarr",
):
    with contextlib.suppress(ImportError):
        import_module(name)

with atheris.instrument_imports(include=["landmarks"]):
    from targets import TARGETS

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()
