"""Units hold what the problem says of groups, costs and limits."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.methods.groups.units import Units

from .made import COSTS, GROUPS, N, made


def test_units_hold_the_columns_costs_and_limits_of_the_problem():
    operator = lm.data(made(0))
    units = Units.of(
        lm.Problem(
            operator, 0, groups=GROUPS, costs=COSTS, budget_cost=6.0, include=(4, 7), exclude=(1,)
        )
    )
    assert [members.tolist() for members in units.members] == [
        [0, 2],
        [1],
        [3, 5],
        [4, 7],
        [6],
        [8],
    ]
    np.testing.assert_allclose(units.costs, [1.5, 3.0, 4.5, 2.3, 1.0, 2.2])
    assert np.flatnonzero(units.fixed).tolist() == [3] and np.flatnonzero(
        ~units.allowed
    ).tolist() == [1]
    assert units.most == 6 and units.budget == pytest.approx(6.0) and units.uneven
    assert units.columns([2, 0]).tolist() == [3, 5, 0, 2] and units.columns([]).tolist() == []
    assert np.flatnonzero(units.fitting([3])).tolist() == [0, 4, 5]
    assert np.flatnonzero(units.fitting([3, 0])).tolist() == [
        4,
        5,
    ]  # the last of them to the last penny
    single = Units.of(lm.Problem(operator, 2))
    assert (
        single.most == 2
        and single.budget == np.inf
        and not single.uneven
        and single.costs.tolist() == [1.0] * N
    )
    assert single.fitting([0]).sum() == 8 and single.fitting([0, 1]).sum() == 0


def test_equal_costs_are_even():
    assert not Units.of(
        lm.Problem(lm.data(made(0)), 0, costs=np.full(N, 2.0), budget_cost=5.0)
    ).uneven
