"""A selection told to people: the headline numbers, and one page that holds everything and can be passed on."""

from .summary import Summary, summarise

__all__ = ["Summary", "summarise"]
