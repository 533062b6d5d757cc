"""Checkpoints of other runs, of other data or damaged ones are refused and left alone."""

import json

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import FormatError
from landmarks.runs import archive

from .crashes import K, X, facts

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"k": 7}, "with k = 8, but this run has 7"),
        (
            {"method": lm.Iterated(rounds=9)},
            r"with method = 'Iterated\(\)', but this run has 'Iterated\(rounds=9\)'",
        ),
        ({"seed": 1}, "with seed = 0, but this run has 1"),
        ({"criterion": "frobenius"}, "with criterion = 'trace', but this run has 'frobenius'"),
        ({"include": [1]}, r"with include = \[\], but this run has \[1\]"),
        ({"target": X[:, :2]}, "belongs to a run with objective"),
        ({"budget": 5}, "with budget = None, but this run has 5.0"),
        ({"A": X + 1e-12}, "belongs to a run on other data"),
        ({"A": X.astype(np.float32)}, "belongs to a run on other data"),
        ({"A": lm.psd(K)}, "belongs to a run on other data"),
    ],
)
def test_fault_46_the_checkpoint_of_another_run_is_refused_and_left_alone(
    change, sentence, unfinished
):
    before = unfinished.read_bytes()
    with pytest.raises(ValueError, match=sentence):
        lm.select(**{"A": X, "k": 8, "method": "iterated", "checkpoint": unfinished} | change)
    assert unfinished.read_bytes() == before


def test_black_boxes_are_distinguished_by_a_product(path):
    def select(matrix):
        return lm.select(
            lm.function(lambda V: matrix @ V, n=40), 4, method="nuclear", checkpoint=path
        )

    first = select(K)
    assert facts(select(K * (1 + 1e-9))) == facts(first)
    with pytest.raises(ValueError, match="belongs to a run on other data"):
        select(K * (1 + 1e-4))


def test_a_truncated_checkpoint_is_refused_and_left_alone(unfinished):
    whole = unfinished.read_bytes()
    for length in [
        0,
        1,
        100,
        *np.random.default_rng(0).integers(0, len(whole), size=20).tolist(),
        len(whole) - 1,
    ]:
        unfinished.write_bytes(whole[:length])
        with pytest.raises(FormatError, match="not a readable npz file"):
            lm.select(X, 8, method="iterated", checkpoint=unfinished)
        assert unfinished.read_bytes() == whole[:length]


def test_a_checkpoint_with_a_changed_byte_is_refused_or_means_the_same(unfinished):
    whole, expected = unfinished.read_bytes(), facts(lm.select(X, 8, method="iterated"))
    for place in np.random.default_rng(1).integers(0, len(whole), size=60):
        broken = bytearray(whole)
        broken[place] ^= 0x11
        unfinished.write_bytes(bytes(broken))
        try:  # a few bytes of a zip file say nothing, such as the times of its members
            assert facts(lm.select(X, 8, method="iterated", checkpoint=unfinished)) == expected
        except FormatError:
            assert unfinished.read_bytes() == bytes(broken)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"version": 2}, "has checkpoint version 2, this program reads version 1"),
        ({"format": "other"}, "not a checkpoint"),
        ({"run": 3}, "damaged"),
    ],
)
def test_a_newer_or_edited_checkpoint_is_refused(change, sentence, unfinished):
    record, arrays = archive.read(unfinished, max_bytes=2**30, allowed=lambda name: True)
    archive.write(unfinished, record | change, arrays)
    before = unfinished.read_bytes()
    with pytest.raises(FormatError, match=sentence):
        lm.select(X, 8, method="iterated", checkpoint=unfinished)
    assert unfinished.read_bytes() == before


def test_a_saved_selection_is_not_a_checkpoint(path):
    lm.select(X, 3).save(path)
    with pytest.raises(FormatError):
        lm.select(X, 3, checkpoint=path)
    assert len(lm.load(path)) == 3


def test_a_file_that_claims_more_than_it_holds_is_refused_before_anything_is_allocated(path):
    header = json.dumps({"format": "landmarks-checkpoint", "version": 1}).encode()
    archive.write(path, {}, {"a0": np.zeros(3)})
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"(3,)", b"(9,)"))
    with pytest.raises(FormatError):
        lm.select(X, 3, checkpoint=path)
    assert header not in path.read_bytes()


@pytest.mark.parametrize(
    "checkpoint, kind", [(3, TypeError), (True, TypeError), (b"run", TypeError)]
)
def test_anything_but_a_path_is_refused(checkpoint, kind):
    with pytest.raises(kind, match="checkpoint must be a path or a Checkpoint"):
        lm.select(X, 3, checkpoint=checkpoint)
