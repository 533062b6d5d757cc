"""The residual of a kernel matrix in shards on the workers: what a method asks it, it asks them.

This machine holds the picks with their points and their k × k triangle, a few sums of each shard,
and nothing of length n. The shards are lazy values that the workers store, so that dask makes a
lost one again from its points and the picks. Their heights depend on n alone, and sums over them
are added in one order: a choice is the same for all chunks and any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._array import represented
from ...runs.runner import Step, run
from ...runs.state import State
from ..pair import Pair
from ..parts import drawn_parts
from . import shards as _shards
from .client import compute, computed, constant, keep, lazy, tree
from .shards import Block, Looked, Sums

if TYPE_CHECKING:
    from ...problem import Problem
    from .kernel import DaskKernel


class Held:
    """The lazy shards, and what is known of them here; no checkpoint takes this for numbers.

    sums : of each shard, None until they are asked for.
    seen : what was looked at last.
    """

    def __init__(self, shards: Sequence[Any]):
        self.shards = list(shards)
        self.sums: list[Sums] | None = None
        self.seen: Looked | None = None


class Parted(State):
    """C = K − F Fᵀ after some picks, in shards; answers what `residual.Residual` answers.

    picks : in order of choice.
    events : all that was done to the shards; from these and the points they can be made again.
    """

    def __init__(self, kernel: DaskKernel, capacity: int, exclude: Sequence[int] = ()):
        self.operator = kernel
        self.pair = Pair(kernel, kernel.n)
        self.picks: list[int] = []
        self.events: list[dict[str, Any]] = []
        self.unit = represented(capacity)
        self.size = self.off = 0.0  # of the entries of CZ, and what they may be off by
        self._key: tuple[int, int] | None = None  # of the probes, and how many there are
        closed = constant(np.asarray(sorted(exclude), dtype=np.int64))
        self._held = Held(
            [
                lazy(_shards.begun, points, start, rule, self.unit, closed)
                for (points, start), rule in zip(kernel.stored, kernel.rules, strict=True)
            ]
        )
        self.whole = self.trace

    # What the workers hold

    def _sums(self) -> list[Sums]:
        """The sums of each shard, once the workers have made and stored the shards."""
        if self._held.sums is None:
            self._held.shards = keep(self._held.shards)
            self._held.sums = computed(self._each(_shards.sums))
        return self._held.sums

    @property
    def trace(self) -> float:
        """tr C."""
        return float(sum(part.trace for part in self._sums()))

    def _each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """The lazy call of the function for each shard."""
        return [lazy(function, shard, *arguments) for shard in self._held.shards]

    def _by_rule(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """The same, with the rule of each shard as the last argument."""
        pairs = zip(self._held.shards, self.operator.rules, strict=True)
        return [lazy(function, shard, *arguments, rule) for shard, rule in pairs]

    # What methods ask

    def open_to(self, problem: Problem) -> None:
        """Nothing of length n: the shards know which rows may not be picked."""

    def share_of(self, problem: Problem) -> Callable[[], float | None] | None:
        """What is reported as the error: the share that is left, if the trace is minimised."""
        return self.relative_error if problem.objective.additive else None

    def relative_error(self) -> float | None:
        """The trace that is left as a share of the total."""
        return self.trace / self.whole if self.whole > 0 else None

    def draw(self, allowed: None, size: int, rng: np.random.Generator) -> Any:
        """Independent rows in proportion to their weight, and these weights; None if all are 0."""
        weights = np.asarray([part.weight for part in self._sums()])
        if not np.any(weights):
            return None
        where, targets = drawn_parts(weights, size, rng)
        found = np.empty(size, dtype=np.int64)
        wanted = np.unique(where)
        calls = [lazy(_shards.drawn, self._held.shards[i], targets[where == i]) for i in wanted]
        for i, indices in zip(wanted, computed(calls), strict=True):
            found[where == i] = indices
        return found, self._look(found).diagonal[self._places(found)]

    def highest(self, count: int, kind: str) -> tuple[np.ndarray, float]:
        """The rows with the highest scores, and the highest score of any other."""
        self._sums()
        joined = partial(_shards.highest_of, count=count + 1)
        best = tree(joined, self._each(_shards.highest, count + 1, kind))
        values, indices = compute(best)
        return indices[:count], float(values[count]) if len(values) > count else 0.0

    def heaviest(self, allowed: None, count: int) -> np.ndarray:
        """The rows of which most is left."""
        return self.highest(count, "weights")[0]

    def nearest(self, centres: np.ndarray, power: int) -> np.ndarray:
        """For each centre the nearest row that may be picked and is not represented; or none."""
        self._sums()
        near = self._by_rule(_shards.nearest, constant(centres), power)
        distances, indices = compute(tree(_shards.nearest_of, near))
        return indices if np.all(np.isfinite(distances)) else indices[:0]

    def _look(self, indices: np.ndarray) -> Looked:
        """What the shards know of these rows."""
        indices = np.unique(indices)
        held = self._held
        if held.seen is None or not np.all(np.isin(indices, held.seen.indices)):
            self._sums()
            numbers = np.unique(indices // self.operator.height)
            calls = [lazy(_shards.looked, held.shards[i], indices) for i in numbers]
            held.seen = Looked.joined(computed(calls))
        return held.seen

    def _places(self, indices: np.ndarray) -> np.ndarray:
        """Where the rows are in what was looked at last; these are in increasing order."""
        return np.searchsorted(self._look(indices).indices, indices)

    def principal(self, indices: np.ndarray) -> np.ndarray:
        """C at the indices."""
        seen, places = self._look(indices), self._places(indices)
        rows = seen.rows[places]
        return self.operator.local_values(seen.points[places]) - rows @ rows.T

    def floor_at(self, indices: np.ndarray) -> np.ndarray:
        """The residuals up to which these rows count as represented."""
        return self.unit * self._look(indices).whole[self._places(indices)]

    def probed_at(self, indices: np.ndarray) -> np.ndarray:
        """The rows of CZ."""
        return self._look(indices).CZ[self._places(indices)]

    def pick(self, j: int) -> None:
        """Choose row j; one that is represented already adds nothing."""
        index = np.asarray([j])
        C = self.principal(index)
        if float(C[0, 0]) > float(self.floor_at(index)[0]):
            self.pick_block(index, np.sqrt(C))
            return
        self.clear(index)
        self.picks.append(int(j))

    def pick_block(self, indices: np.ndarray, L: np.ndarray) -> None:
        """Choose independent rows at once, with L the Cholesky factor of C at them."""
        seen, places = self._look(indices), self._places(indices)
        self.append(Block(indices, seen.points[places], seen.rows[places], np.tril(L)))

    def append(self, block: Block) -> None:
        """Append picks to the factor on the workers."""
        self.operator.ledger.add(
            columns=len(block.indices), entries=self.operator.n * len(block.indices)
        )
        self.events.append({"kind": "picks", **block._asdict()})
        self.picks += [int(j) for j in block.indices]
        self._make(self.events[-1])

    def clear(self, indices: np.ndarray) -> None:
        """Count rows as represented."""
        if len(indices) == 0:
            return
        self.events.append({"kind": "clear", "indices": np.asarray(indices)})
        self._make(self.events[-1])

    def _make(self, event: dict[str, Any]) -> None:
        """Do to the shards what the event says."""
        kind = event["kind"]
        if kind == "clear":
            self._held = Held(self._each(_shards.cleared, constant(event["indices"])))
        if kind == "picks":
            block = constant(Block(*(event[name] for name in Block._fields)))
            shards = self._by_rule(_shards.with_picks, block)
            if self._key is not None:
                parts = [lazy(_shards.last_times_signs, shard, *self._key) for shard in shards]
                VZ = tree(sum, parts)
                shards = [lazy(_shards.last_taken_out, shard, VZ) for shard in shards]
            self._held = Held(shards)
        if kind == "probes":
            self._probed()

    def restored(self) -> None:
        """Do again what had been done when the run was interrupted."""
        for event in self.events:
            self._make(event)

    # Probes

    def probe(self, key: int, count: int, deadline: float | None = None) -> bool:
        """Let the shards hold CZ for random signs Z with that key; False if it was stopped."""
        self._key = key, count
        found = self._probed(deadline)
        self.off = max(self.off, self.operator.product_error * self.size)
        self._held = Held(self._each(_shards.with_off, self.off))
        return found

    def refresh(self) -> None:
        """Compute CZ from its definition if half of its digits are gone."""
        left = self._root_mean_square()
        if left * left < self.off * self.size:
            self.events.append({"kind": "probes"})
            self._probed()

    def _probed(self, deadline: float | None = None) -> bool:
        """CZ = KZ − F FᵀZ: the points of all shards pass by each shard."""
        kernel, (key, count) = self.operator, self._key or (0, 0)
        kernel.ledger.add(products=count, entries=kernel.n**2)
        self._held = Held(self._each(_shards.without_probes, count))
        ended = run("products", self._passes(key, count), deadline=deadline)
        if ended and self.picks:
            FZ = tree(sum, self._each(_shards.all_times_signs, key, count))
            self._held = Held(self._each(_shards.all_taken_out, FZ))
        self.size = self._root_mean_square()
        self.off = np.finfo(np.float64).eps * self.size
        self._held = Held(self._each(_shards.with_off, self.off))
        return ended

    def forget_probes(self) -> None:
        """Free the memory that CZ takes on the workers."""
        self._key = None
        self._held = Held(self._each(_shards.forgotten))
        self._sums()

    def _passes(self, key: int, count: int) -> Iterator[Step]:
        """Add to CZ the product with one group of points after another."""
        groups = self.operator.groups
        for g, group in enumerate(groups):
            points, starts = zip(*(self.operator.stored[i] for i in group), strict=True)
            other = lazy(_shards.passing, list(points), list(starts))
            self._held = Held(self._by_rule(_shards.with_product, other, key, count))
            self._sums()  # one group at a time, or the workers would hold all points
            yield Step(g + 1, len(groups))

    def _root_mean_square(self) -> float:
        """The root mean square of the entries of CZ."""
        entries = self.operator.n * (self._key or (0, 1))[1]
        return float(np.sqrt(sum(part.squares for part in self._sums()) / entries))

    # What results ask

    @property
    def order(self) -> np.ndarray:
        """The picks that the columns of F belong to."""
        parts = [event["indices"] for event in self.events if event["kind"] == "picks"]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    @property
    def L(self) -> np.ndarray:
        """The rows of F at these picks: the Cholesky factor of K there."""
        parts = [event for event in self.events if event["kind"] == "picks"]
        L = np.zeros((len(self.order),) * 2)
        start = 0
        for event in parts:
            stop = start + len(event["indices"])
            L[start:stop, :start] = event["rows"]
            L[start:stop, start:stop] = event["L"]
            start = stop
        return L

    def squared_norm(self) -> float:
        """‖C‖²_F, from every kernel value once."""
        self._sums()
        shards, kernel = self._held.shards, self.operator
        kernel.ledger.add(entries=kernel.n**2 // 2)
        calls = [
            lazy(_shards.squares, shards[i], [shards[j] for j in group if j >= i], kernel.rules[i])
            for i in range(len(shards))
            for group in kernel.groups
            if group[-1] >= i
        ]
        return float(compute(tree(sum, calls)))

    def samples(self, key: int, count: int, depth: int) -> np.ndarray:
        """zᵀCz, or ‖Cz‖² for depth 2, of random signs z with that key."""
        held, before = self._held, self._key
        try:
            self.probe(key, count)
            return np.asarray(compute(tree(sum, self._each(_shards.samples, key, depth))))
        finally:
            self._held, self._key = held, before

    def factor(self) -> Any:
        """F as a dask array; its chunks stay on the workers."""
        import dask.array as da

        r, step, n = len(self.order), self.operator.height, self.operator.n
        self._sums()
        chunks = self._each(_shards.factor_of)
        heights = [min(step, n - a) for a in range(0, n, step)]
        return da.concatenate(
            [
                da.from_delayed(chunk, shape=(rows, r), dtype=np.float64)
                for chunk, rows in zip(chunks, heights, strict=True)
            ]
        )
