"""A state is captured with all of its attributes, and put back in place."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from landmarks.runs.state import State, capture, put_back


@dataclass
class Inner(State):
    picks: list = field(default_factory=list)


@dataclass(frozen=True)
class Point(State):
    x: float


class Outer(State):
    def __init__(self):
        self.given = object()
        self.step = 3
        self.inner = Inner([1, 2])
        self.also = self.inner
        self.point = Point(0.5)
        self.made_again = 0

    def restored(self):
        self.made_again += 1


def test_what_a_state_holds_is_put_back_in_place():
    outer = Outer()
    inner, captured = outer.inner, capture(outer)
    inner.picks.append(9)
    outer.step = 7
    outer.point = Point(2.5)
    assert put_back(outer, captured) is outer
    assert outer.inner is inner and outer.also is inner and inner.picks == [1, 2]
    assert outer.step == 3 and outer.point == Point(0.5)
    assert outer.made_again == 1


def test_inputs_are_not_captured_and_a_state_that_occurs_twice_is_captured_once():
    captured = capture(Outer())
    assert set(captured) == {"step", "inner", "point", "made_again"}


def test_arrays_are_captured_as_they_are():
    inner = Inner([np.zeros(2)])
    assert capture(inner)["picks"][0] is inner.picks[0]


def test_a_state_with_more_attributes_than_were_captured_is_refused():
    captured = capture(Outer())
    del captured["step"]
    with pytest.raises(KeyError, match="step of Outer was not saved"):
        put_back(Outer(), captured)


def test_a_state_that_was_saved_as_a_number_is_refused():
    captured = capture(Outer())
    captured["inner"] = 3
    with pytest.raises(TypeError, match="inner of Outer was saved in another form"):
        put_back(Outer(), captured)
