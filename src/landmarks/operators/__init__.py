"""Operators: positive semidefinite matrices known by products, diagonal, columns and restriction."""

from .base import Ledger, Operator, densify, squared_diagonal, storable
from .convert import as_operator
from .data import data
from .dense import psd
from .function import function
from .kernel import kernel
from .toeplitz import toeplitz

__all__ = [
    "Ledger",
    "Operator",
    "as_operator",
    "data",
    "densify",
    "function",
    "kernel",
    "psd",
    "squared_diagonal",
    "storable",
    "toeplitz",
]
