"""The array libraries that the tests run on."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

LIBRARIES = {
    "numpy": "array_api_compat.numpy",
    "torch": "array_api_compat.torch",
    "strict": "array_api_strict",
}


def library(name: str) -> Any:
    """The array namespace of that name; the test is skipped where it is not installed."""
    try:
        return importlib.import_module(LIBRARIES[name])
    except ImportError as error:
        pytest.skip(f"{name} arrays cannot be tested: {error}")
