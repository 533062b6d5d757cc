"""Nested values become JSON and arrays, and come back the same on every array library."""

import json

import numpy as np
import pytest

from landmarks._array import host, like
from landmarks.runs.state import Arrays, flatten, restore


def there_and_back(value, reference=None):
    arrays = Arrays()
    flat = json.loads(json.dumps(flatten(value, arrays, copy=True)))
    return restore(flat, Arrays(arrays.stored, reference))


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2**100, 0.1, np.inf, "ü", (1, "a"), [1, (2, 3)], {3: 1.5, "x": [None]}, [], ()],
)
def test_plain_values_come_back_as_they_were(value):
    assert there_and_back(value) == value
    assert type(there_and_back(value)) is type(value)


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_keep_their_digits_dtype_and_layout(order):
    array = np.asarray(np.random.default_rng(0).random((3, 4)), dtype=np.float32, order=order)
    back = there_and_back({"a": array})["a"]
    assert back.dtype == array.dtype and back.flags.f_contiguous == array.flags.f_contiguous
    assert back.tobytes("A") == array.tobytes("A")


def test_arrays_of_every_library_come_back_in_it(xp):
    reference = xp.zeros(0, dtype=xp.float32)
    array = like([True, False], reference, dtype=xp.bool)
    back = there_and_back((array,), reference)[0]
    assert type(back) is type(array) and back.dtype == array.dtype
    assert np.array_equal(host(back), host(array))


def test_objects_are_refused():
    with pytest.raises(TypeError, match="numbers, text and arrays, got object"):
        flatten(object(), Arrays(), copy=True)
