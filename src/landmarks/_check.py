"""Checks of user input: each error says what was expected, what was given and what to do."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._array import Array, as_float, device, has_double, host, is_array, is_single, namespace
from .errors import named, suggestion, warn_user
from .readers.frames import is_missing

if TYPE_CHECKING:
    from .operators.base import Operator

FILLS = {  # what each way of `missing=` does, in the order of the advice
    "drop": '"drop" (--missing drop) leaves out such rows',
    "impute": '"impute" fills in the mean of the column',
    "pairwise": '"pairwise" uses the known values',
}


def matrix(
    values: Any,
    name: str,
    **how: Any,
) -> Array:
    """A finite two-dimensional float array of the given library, or of NumPy for anything else.

    how : of the check of its values, as for `finite`.
    """
    if not is_array(values) or isinstance(values, np.ndarray):
        values = as_numpy(values, name)
    if values.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, got shape {tuple(values.shape)}; reshape a single "
            "column with reshape(-1, 1)"
        )
    if 0 in values.shape:
        raise ValueError(
            f"{name} must have at least one row and one column, got shape {tuple(values.shape)}"
        )
    if "complex" in str(values.dtype):
        raise ValueError(f"Complex data not supported: {name} is {values.dtype}")
    if not has_double(values):
        warn_user(
            f"{name} is on {device(values)}, which does not compute in float64; it is copied to "
            "the CPU, where a search takes longer than on a card that does"
        )
        values = values.cpu()
    values = as_float(values)
    finite(values, name, **how)
    return values


def as_numpy(values: Any, name: str) -> np.ndarray:
    """A NumPy array of float32 or float64 from an array of any library, or what NumPy converts."""
    values = host(values) if is_array(values) else values
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; fill them first, e.g. {name}.filled(value)")
    if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        values = values.to_numpy()
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            f"{name} must be a matrix of numbers, and its rows must be equally long ({error})"
        ) from None
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is {array.dtype}")
    if array.dtype.kind in "mM":
        raise ValueError(
            f"{name} must hold numbers, got dates ({array.dtype}); convert them to numbers first"
        )
    if array.dtype.kind in "SU" or _has_text(array):
        raise ValueError(
            f"{name} must hold numbers, got text ({array.dtype}); encode or drop the other columns"
        )
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        return array
    if array.dtype == object and array.ndim == 0:
        raise ValueError(
            f"{name} must hold numbers, got {described(values)}; give an array or a data frame"
        )
    if array.dtype == object:
        absent = np.reshape([is_missing(value) for value in array.ravel()], array.shape)
        array = np.where(absent, np.nan, array)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must hold numbers, got {array.dtype}; encode or drop the other columns "
            f"({error})"
        ) from error


def described(value: Any) -> str:
    """The type of a value, and the library that it comes from."""
    home = type(value).__module__.partition(".")[0]
    article = "an" if type(value).__name__[0] in "AEIOUaeiou" else "a"
    of = "" if home in ("builtins", "__main__") else f" of {home}"
    return f"{article} {type(value).__name__}{of}"


def _has_text(array: np.ndarray) -> bool:
    return array.dtype == object and any(isinstance(value, str | bytes) for value in array.ravel())


def finite(
    values: Any,
    name: str,
    *,
    offset: int | None = None,
    column: int = 0,
    names: tuple[str, ...] | None = None,
    missing: bool = False,
    fill: str | None = None,
    ways: Iterable[str] = tuple(FILLS),
    place: Callable[[int, int], str] | None = None,
) -> None:
    """Raise when a value of an array or a CSC matrix is NaN or infinite; say where the first is.

    offset : the number of the first row, when the values are a block of rows of X.
    column : the number of the first column. names : of these columns.
    fill : how missing values are filled where `missing=` does not help.
    missing : whether NaN may stand for missing values. ways : what `missing=` may be here.
    place : says where a row and a column are in a file.
    """
    entries = values.data if hasattr(values, "tocsc") else values
    xp = namespace(entries)
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(entries))) or bool(xp.all(xp.isfinite(entries))):
            return
    found = host(entries)
    bad = np.isinf(found) if missing else ~np.isfinite(found)
    if not bad.any():
        return
    where = first = tuple(int(i) for i in np.argwhere(bad)[0])
    if entries is not values:
        ends = np.searchsorted(values.indptr, first[0], side="right")
        where = int(values.indices[first[0]]), int(ends) - 1
    nan, count = math.isnan(found[first]), int(bad.sum())
    remedy = "remove or clip infinite values first"
    if nan:
        remedy = f"fill missing values first, e.g. with {fill or 'sklearn.impute.SimpleImputer'}"
    if nan and name == "X" and fill is None:
        remedy = (
            f"missing={', '.join(FILLS[way] for way in ways)}; or fill them first, "
            "e.g. with sklearn.impute.SimpleImputer"
        )
    if place is not None:
        kind = "missing (NaN; " if nan else "infinite ("
        raise ValueError(f"{place(*where)}: the value is {kind}{count} in all); {remedy}")
    kind = "NaN" if nan else "infinity"
    at = f"row {where[0] + (offset or 0)}"
    if len(where) > 1:
        at += f", column {where[1] + column}" + ("" if names is None else f" {names[where[1]]!r}")
    if offset is None:
        raise ValueError(f"Input {name} contains {kind} (first at {at}; {count} in all); {remedy}")
    raise ValueError(
        f"Input {name} contains {kind} in rows {offset} to {offset + len(bad) - 1} (first at {at}; "
        f"{count} there); {remedy}"
    )


def same_device(values: Any, reference: Array, name: str, whose: str) -> None:
    """Raise when the values are an array on another device than the reference."""
    moved = is_array(values) and not isinstance(values, np.ndarray)
    if moved and device(values) != device(reference):
        raise ValueError(
            f"{name} are on {device(values)}, but {whose} are on {device(reference)}; move them "
            "there first"
        )


def exponent(largest: float, reference: Array) -> int:
    """The even power of two by which K is divided to keep its cubes within range; usually 0."""
    if largest <= 0 or not math.isfinite(largest):
        return 0
    power = math.frexp(largest)[1]
    return 0 if abs(power) <= (20 if is_single(reference) else 100) else power + power % 2


def scaled(array: Array, power: int) -> Array:
    """The array divided by 2**power, in exact steps that never leave the range of floats."""
    while power:
        step = max(-900, min(900, power)) if not is_single(array) else max(-100, min(100, power))
        array = array * 2.0**-step
        power -= step
    return array


def subset_size(k: Any, n: int) -> int:
    """The subset size as an int from 1 to n; a number between 0 and 1 is a share of n."""
    if is_share(k):
        return share(k, n)
    if not is_whole(k):
        raise TypeError(
            f"k must be an integer between 1 and n = {n}, got {brief(k)}; it may also be a "
            'share such as 0.1, "auto", or a rule such as lm.Knee() or lm.MaxError(0.05)'
        )
    k = int(k)
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and n = {n}, got {k}")
    return k


def is_share(k: Any) -> bool:
    """Whether k is a number between 0 and 1, both excluded."""
    real = isinstance(k, numbers.Real) and not isinstance(k, numbers.Integral)
    return real and 0 < float(k) < 1


def share(part: float, n: int) -> int:
    """That share of n as an integer of at least 1; 0.29 of 100 is 29, despite rounding."""
    return max(1, int(float(part) * n + 1e-9 * n))


def is_number(value: Any) -> bool:
    """Whether this is a real number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any) -> bool:
    """Whether this is an integer; True and False are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def count(value: Any, name: str, least: int = 1) -> int:
    """A whole number that is large enough."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {brief(value)}")
    return int(value)


def positive(value: Any, name: str) -> float:
    """A finite number above 0."""
    if not is_number(value) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a positive number, got {brief(value)}")
    return float(value)


def brief(value: Any) -> str:
    """What was given, for a message: one line, cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:80]}…"


def seconds(budget: Any, otherwise: str = "") -> float:
    """A time limit above 0, which may be infinite; `otherwise` names what else may be given."""
    if not is_number(budget) or not budget > 0:
        raise ValueError(
            f"budget must be a positive number of seconds{otherwise}, got {brief(budget)}"
        )
    return float(budget)


def seed(value: Any) -> int | None:
    """A whole number of at least 0, or None."""
    if value is not None and (not is_whole(value) or value < 0):
        raise ValueError(
            f"seed must be a whole number of at least 0, or None for a random one, "
            f"got {brief(value)}"
        )
    return None if value is None else int(value)


def boolean(value: Any, name: str) -> bool:
    """True or False; anything else is an error."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {brief(value)}")
    return bool(value)


def choice(value: Any, allowed: tuple[str, ...], name: str) -> str:
    """One of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        close = suggestion(value, allowed) if isinstance(value, str) else ""
        listed = ", ".join(map(repr, allowed))
        raise ValueError(f"{name} must be one of {listed}, got {brief(value)}{close}")
    return value


def known(
    unknown: Iterable[str], function: Callable[..., Any], of_data: Collection[str] = ()
) -> None:
    """Raise when there are arguments that the function does not have, and say what was meant.

    of_data : arguments that `data` has, with which the call can be written.
    """
    if (name := next(iter(unknown), None)) is None:
        return
    arguments = [a for a in inspect.signature(function).parameters if a != "unknown"]
    close = suggestion(name, arguments)
    if name in ("standardize", "standardise") and "center" in arguments:
        close = "; center=True, scale=True gives every column mean 0 and variance 1"
    elif name in of_data:
        close = f"; pass lm.data(A, {name}=…) instead of A"
    raise TypeError(f"{function.__name__} has no argument {name!r}{close}")


def labelled(operator: Operator, columns: Sequence[int] | np.ndarray) -> str:
    """The first columns by name, or by index where they have no names, and how many more."""
    names = operator.names
    return named([str(j) if names is None else repr(names[j])[:60] for j in columns])
