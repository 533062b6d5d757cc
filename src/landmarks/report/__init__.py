"""A selection told to people: the headline numbers, and one page that holds everything and can be passed on."""

from .page import Origin, page
from .summary import Summary, spectrum_is_cheap, summarise
from .write import write

__all__ = ["Origin", "Summary", "page", "spectrum_is_cheap", "summarise", "write"]
