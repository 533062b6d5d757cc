"""What `why` and files say of constraints on places."""

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm

from ..target.plain import posterior
from .test_constraints import CASES, N, all_allowed, satisfies

LINE = np.arange(6.0)
X = np.diag([6.0, 5.0, 4.0, 3.0, 2.0, 1.0])


def test_a_place_too_near_to_a_chosen_one_is_kept_out_by_name():
    s = lm.select(X, 2, constraints=[lm.MinDistance(LINE, 2.0)])
    assert sorted(s.indices.tolist()) == [0, 2]
    dropped = s.why().dropped
    reasons = dict(zip(dropped["index"], dropped["kept_out"], strict=True))
    assert reasons[3] == "closer than 2 to 2"
    assert reasons[1] in ("closer than 2 to 0", "closer than 2 to 2")
    assert reasons[4] is None and reasons[5] is None


def test_a_full_region_keeps_out_and_reasons_add_up():
    regions = lm.Regions(list("aabbbb"), at_most={"a": 1})
    s = lm.select(X, 2, constraints=[lm.MinDistance(LINE, 2.0), regions])
    dropped = s.why().dropped
    reasons = dict(zip(dropped["index"], dropped["kept_out"], strict=True))
    assert reasons[1].endswith("; region 'a' has its 1 already")
    assert "kept_out" not in lm.select(X, 2).why().dropped.columns


def test_substitutes_are_the_cheapest_that_the_constraints_allow():
    for number, (data, constraints) in enumerate(CASES):
        if not all_allowed(number, 3):
            continue
        s = lm.select(data, 3, constraints=constraints)
        operator, S = lm.data(data), s.indices.tolist()
        total = s.total()
        for place, row in enumerate(s.why(each=1).chosen.rows):
            others = [[*S[:place], j, *S[place + 1 :]] for j in set(range(N)) - set(S)]
            costs = [
                (selection_error(operator, np.asarray(other), "trace") - s.error()) / total
                for other in others
                if satisfies(constraints, other)
            ]
            found = row.get("cost_1")
            assert found == (pytest.approx(min(costs), abs=1e-9) if costs else None)


def test_substitutes_with_noise_are_allowed_too():
    for number, (data, constraints) in enumerate(CASES):
        if not all_allowed(number, 3):
            continue
        noise = np.full(N, 0.1)
        s = lm.select(data, 3, noise=noise, constraints=constraints, scale=False)
        error, S = posterior(data.T @ data, noise), s.indices.tolist()
        reasons = s.why(each=1)
        assert len(reasons.dropped["kept_out"]) == N
        for place, row in enumerate(reasons.chosen.rows):
            others = [[*S[:place], j, *S[place + 1 :]] for j in set(range(N)) - set(S)]
            costs = [error(other) - s.error() for other in others if satisfies(constraints, other)]
            found = row.get("cost_1")
            if not costs:
                assert found is None
            else:
                assert found * s.total() == pytest.approx(min(costs), abs=1e-8)


def test_a_page_says_what_keeps_a_place_out(tmp_path):
    pytest.importorskip("jinja2", reason="needs Jinja2")
    s = lm.select(X, 2, constraints=[lm.MinDistance(LINE, 2.0)])
    s.report(tmp_path / "page.html", coordinates=LINE)
    assert "closer than 2 to 2" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("labels", [list("aabbbb"), [1, 1, 2, 2, 2, 2], LINE < 2])
def test_a_file_keeps_the_constraints(tmp_path, labels):
    first = labels[0] if not isinstance(labels, np.ndarray) else True
    constraints = [lm.MinDistance(LINE, 2.0), lm.Regions(labels, at_most={first: 1})]
    s = lm.select(X, 2, constraints=constraints)
    s.save(tmp_path / "run.npz")
    read = lm.load(tmp_path / "run.npz", data=X)
    assert [c.fingerprint() for c in read.constraints[:1]] == [constraints[0].fingerprint()]
    assert read.constraints[1].labels.tolist() == np.asarray(labels).tolist()
    assert read.constraints[1].at_most == {first: 1}
    assert repr(read.why()) == repr(s.why())
    again = lm.select(X, 2, constraints=read.constraints)
    assert again.indices.tolist() == s.indices.tolist()


def test_a_file_with_a_wrong_region_is_refused(tmp_path):
    regions = lm.Regions(list("aab"), exactly={"a": 1})
    lm.select(np.eye(3), 2, constraints=[regions]).save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as arrays:
        wrong = dict(arrays) | {"constraint_0": np.array([0, 0, 7])}
    np.savez(tmp_path / "run.npz", **wrong)
    with pytest.raises(ValueError, match="damaged: the numbers of regions must be below 2"):
        lm.load(tmp_path / "run.npz")
