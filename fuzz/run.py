"""Fuzz one reader with coverage guidance: `python fuzz/run.py TARGET [arguments of libFuzzer]`; `tools/fuzz` runs all."""

import sys
import warnings

import atheris

PARTS = ["landmarks.readers", "landmarks.datasets", "landmarks.methods", "landmarks.operators", "landmarks.journal", "landmarks._tree"]

with atheris.instrument_imports(include=[*PARTS, "numpy.lib", "zipfile", "gzip", "scipy.io", "h5py"]):
    from targets import TARGETS

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()
