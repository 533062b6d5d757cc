"""A selection told to people: the headline numbers, and one page that holds everything and can be passed on."""

from .page import Origin, page
from .summary import Summary, summarise
from .write import write

__all__ = ["Origin", "Summary", "page", "summarise", "write"]
