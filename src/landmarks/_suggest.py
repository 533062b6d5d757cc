"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable


def suggestion(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: the known words nearest to it, if any."""
    from difflib import get_close_matches

    lower = {str(name).lower(): str(name) for name in known}
    close = get_close_matches(word.lower(), lower, n=2, cutoff=0.7)
    if not close:
        return ""
    return f"; did you mean {' or '.join(repr(lower[name][:40]) for name in close)}?"
