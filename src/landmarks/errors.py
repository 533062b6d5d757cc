"""The errors and warnings of landmarks, and suggestions for misspelt names in their messages."""

import sys
import warnings
from collections.abc import Iterable, Sequence


class NotPSDError(ValueError):
    """The matrix has a clearly negative eigenvalue, so it is not a Gram or kernel matrix."""


class UnsupportedError(TypeError):
    """A method was asked for something that it, or the operator it was given, cannot do."""


class FormatError(ValueError):
    """A file cannot be read: it is damaged, too large, of another kind, or lacks something."""


class UnknownColumnError(FormatError):
    """A column was asked for that the file does not have."""


class WorkersLostError(ConnectionError):
    """A cluster lost its workers or its scheduler, or paused its workers, for too long."""


class Stopped(RuntimeError):
    """A callback stopped the run before it had made any choice."""


class RankWarning(UserWarning):
    """k exceeds the numerical rank: the columns beyond it add nothing."""


class ScaleWarning(UserWarning):
    """Much larger columns than the others, or means far from zero, decide the choice."""


class ConstantWarning(UserWarning):
    """Some columns hold the same value in every row, so centred they are zero."""


class SymmetryWarning(UserWarning):
    """The data look like a kernel matrix, which should be passed as `psd(K)`."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit before it reached its tolerance."""


def warn_user(sentence: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's program that called the package, or scikit-learn's for it."""
    frame, level = sys._getframe(1), 2
    ours = ("landmarks", "sklearn", "contextlib")
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ours:
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level)


def named(words: Sequence[str], of: int | None = None) -> str:
    """The first five words, and how many more there are; `of` is their number in all."""
    rest = (len(words) if of is None else of) - len(words[:5])
    return ", ".join(words[:5]) + (f" and {rest} more" if rest else "")


def suggestion(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: the known words nearest to it, if any."""
    from difflib import get_close_matches

    lower = {str(name).lower(): str(name) for name in known}
    close = get_close_matches(word.lower(), lower, n=2, cutoff=0.7)
    if not close:
        return ""
    return f"; did you mean {' or '.join(repr(lower[name][:40]) for name in close)}?"
