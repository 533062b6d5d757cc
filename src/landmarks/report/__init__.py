"""A selection in words: headline numbers, a table for the screen, and one HTML page to share."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .html_page import Origin, page, write
    from .overview import summarise

__all__ = ["Origin", "page", "summarise", "write"]

_MODULES = {
    "Origin": "html_page",
    "page": "html_page",
    "summarise": "overview",
    "write": "html_page",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """What is in here on first use: the words for a screen need no array library."""
        if name in _MODULES:
            return getattr(import_module(f".{_MODULES[name]}", __name__), name)
        raise AttributeError(f"module 'landmarks.report' has no attribute {name!r}")
