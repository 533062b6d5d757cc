"""A kernel matrix on points that dask holds, and its residual, in shards on the workers.

Methods that pick columns ask the residual (`Parted`). This machine then holds the picks with their
points and their k × k triangle, a few sums of each shard, and nothing of length n. For all other
methods the matrix is an operator like any: its vectors have length n, and are on this machine.

The shards are lazy values that the workers store, so that dask makes a lost one again from its
points and the picks. Their heights depend on n alone, and sums over them are added in one order: a
choice is the same for all chunks and any number of workers.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..._array import Array, Indices, Part, represented
from ...kernels import Kernel, matern, rbf
from ...runs.runner import Step, run
from ...runs.state import State
from ..base import (
    Operator,
    determining,
    faster_squares,
    in_parts,
    new_rows,
    on_workers,
    product_seconds,
)
from ..forms import form
from ..gpu import fused
from ..kernel import (
    KernelOperator,
    check_block,
    chunked_error,
    fused_error,
    kernel,
    magnitude,
)
from ..pair import Pair
from ..parts import drawn_parts, parts, signs
from . import shard as _shard
from .client import (
    CHUNK,
    OVERHEAD,
    TASK,
    Lazy,
    by_part,
    checked,
    chunks_of_rows,
    compute,
    computed,
    constant,
    digest_of,
    finite_chunk,
    gathered,
    keep,
    lazy,
    made,
    places,
    tree,
)
from .shard import Block, Looked, Rule, Sums

if TYPE_CHECKING:
    from ...problem import Problem

LOCAL = 4096  # up to this many points a kernel is computed here, not by the workers
GROUPS = 8  # least parts in which points pass by the shards, if there are as many shards
WIDTH = 128  # picks of a block in a residual that is made again
KEY = 0  # of the signs that the block Lanczos method starts from


def dask_kernel(
    points: Any, h: Kernel, *, device: str | None = None, precision: str = "high"
) -> Operator:
    """The kernel operator on the rows of a dask array; the points are read once, by the workers."""
    points = checked(points, "points")
    n, d = points.shape
    found = list(zip(*chunks_of_rows(points), strict=True))
    chunks = [lazy(finite_chunk, chunk, "points", *where) for chunk, *where in found]
    ranges, spots = [rows for _, rows, _ in found], places(len(parts(n)))
    stored = keep(
        [_cut(chunks, ranges, part, at) for part, at in zip(parts(n), spots, strict=True)]
    )
    sums = [lazy(np.sum, part, 0, np.float64) for part in stored]
    total, first = compute(lazy(list, [tree(sum, sums), stored[0][:3]]), chunks)
    check_block(h, first.astype(np.float64))
    if n <= LOCAL:
        return kernel(compute(lazy(np.concatenate, stored)), h)
    stationary = getattr(h, "stationary", False)
    centre = (total / n)[None, :] if stationary else None
    operator = DaskKernel(stored, spots, n, d, Rule(h, centre, device, precision))
    if device not in (None, "cpu") and fused.supported(h):  # fused products do not divide
        return operator
    power = magnitude(h, operator.at(np.arange(0, n, max(1, n // 64))).astype(np.float64))
    rule = Rule(h, centre, device, precision, power)
    return DaskKernel(stored, spots, n, d, rule, power) if power else operator


def _cut(chunks: list[Lazy], ranges: list[range], part: slice, at: str | None) -> Lazy:
    """The rows of a part, from the chunks that have some of them."""
    inside = [
        i for i, rows in enumerate(ranges) if rows.start < part.stop and rows.stop > part.start
    ]
    bounds = [(max(0, part.start - ranges[i].start), part.stop - ranges[i].start) for i in inside]
    return lazy(_joined, [chunks[i] for i in inside], bounds, at=at)


def _joined(chunks: list[np.ndarray], bounds: list[tuple[int, int]]) -> np.ndarray:
    return np.concatenate(
        [chunk[start:stop] for chunk, (start, stop) in zip(chunks, bounds, strict=True)]
    )


class InShards(Operator):
    """A matrix of which the workers hold the rows in parts, as points or as they are.

    stored : the lazy points of each part as they were read, which workers keep while this lives.
    rules : how the values of each are found.
    spots : the worker that each should be on.
    edges : the number of the first row of each part, and n.
    """

    #: whether this machine may hold n × k numbers
    vectors_here: ClassVar[bool] = False

    def __init__(
        self,
        stored: Sequence[Lazy],
        rules: Sequence[Any],
        spots: Sequence[str | None],
        edges: np.ndarray,
        d: int,
        exponent: int,
    ):
        super().__init__(int(edges[-1]), np.zeros(0), exponent=exponent)
        self.stored, self.rules, self.spots = list(stored), list(rules), list(spots)
        self.edges, self.d = edges, d
        self.last: Parted | None = None

    @abc.abstractmethod
    def at(self, indices: Indices) -> np.ndarray:
        """The points at the indices, as they were read."""

    @abc.abstractmethod
    def local_values(self, points: np.ndarray) -> np.ndarray:
        """The matrix at a few points."""

    def each(
        self, function: Callable[..., Any], *lists: Sequence[Any], **shared: Any
    ) -> list[Lazy]:
        """The lazy call of the function for each part, where it is, with its entry of each list."""
        rows = zip(self.spots, *lists, strict=True)
        return [lazy(function, *own, at=at, **shared) for at, *own in rows]

    @cached_property
    def groups(self) -> list[slice]:
        """The parts in groups of neighbours, at most a chunk of points in each."""
        count = len(self.stored)
        size = max(1, min(-(-count // GROUPS), CHUNK // (8 * self.d * int(self.edges[1]))))
        return [slice(a, min(count, a + size)) for a in range(0, count, size)]

    def passed_by(self, function: Callable[..., Any], **lists: Sequence[Lazy]) -> list[Lazy]:
        """The sum of function(x, rule, y, …) over all points y, for the points x of each part.

        A group of points at a time, with its rows of the lists, or the workers would hold them all.
        """
        found: list[Lazy] = []
        for group in self.groups:
            named = {name: lazy(np.concatenate, part[group]) for name, part in lists.items()}
            y = lazy(np.concatenate, self.stored[group])
            terms = self.each(function, self.stored, self.rules, y=y, **named)
            found = made(self.each(np.add, found, terms) if found else terms)
        return found

    # In shards

    def residual(self, capacity: int, exclude: Sequence[int] = ()) -> Parted:
        """C before the first pick, in shards; the last one is remembered for results."""
        self.last = Parted(self, capacity, exclude)
        return self.last

    def known_residual(self, indices: np.ndarray) -> Parted | None:
        """The residual of a choice, if it is the one that was made last."""
        if self.last is None or set(self.last.picks) != {int(j) for j in indices}:
            return None
        return self.last

    def built_residual(self, order: np.ndarray, L: np.ndarray) -> Parted:
        """The residual of picks with their Cholesky factor L."""
        found = self.residual(len(order))
        for start in range(0, len(order), WIDTH):
            now = slice(start, start + WIDTH)
            found.append(Block(order[now], self.at(order[now]), L[now, :start], L[now, now]))
        return found

    def triangle(self, F: Any) -> np.ndarray:
        """R of the QR factors of a dask array whose chunks have all columns, without Q."""
        parts = [lazy(_triangle, [part]) for part in F.to_delayed().ravel()]
        return np.asarray(compute(tree(_triangle, parts)))

    def squared_norm(self) -> float:
        """‖K‖²_F."""
        return Parted(self, 0).squared_norm()

    def trace(self) -> float:
        """tr K."""
        return Parted(self, 0).trace

    def vectors(self) -> SpreadVectors:
        """Blocks of vectors of length n, on the workers."""
        return SpreadVectors(self)

    # With vectors of length n

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        V = np.ascontiguousarray(block, dtype=np.float64)
        if cols is not None:
            V = np.zeros((self.n, block.shape[1]))
            np.add.at(V, np.asarray(cols), block)
        sent = [constant(part) for part in np.split(V, self.edges[1:-1])]
        self.ledger.add(products=block.shape[1], entries=self.n**2)
        found = np.concatenate(computed(self.passed_by(_shard.product, block=sent)))
        return found if rows is None else found[np.asarray(rows)]

    def diagonal(self) -> Array:
        self.ledger.add(entries=self.n)
        return np.concatenate(computed(self.each(_shard.diagonal, self.stored, self.rules)))

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices), entries=self.n * len(indices))
        chosen = constant(self.at(indices))
        calls = self.each(_shard.columns, self.stored, self.rules, y=chosen)
        return np.concatenate(computed(calls))


class DaskKernel(InShards):
    """The operator of h(x_i, x_j) on points that the workers hold; `kernel` makes it."""

    def __init__(
        self,
        stored: Sequence[Lazy],
        spots: Sequence[str | None],
        n: int,
        d: int,
        rule: Rule,
        exponent: int = 0,
    ):
        edges = np.asarray([*(part.start for part in parts(n)), n])
        super().__init__(stored, [rule] * len(stored), spots, edges, d, exponent)
        self.rule, self.h = rule, rule.h
        self._here = replace(rule, device=None)  # for points on this machine

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the points, from those of the shards."""
        return digest_of(self.stored)

    @cached_property
    def product_error(self) -> float:
        """The error of the engine on the workers."""
        if self.rule.device is not None:
            return fused_error(self.like, self.rule.precision)
        if not isinstance(self.h, rbf | matern):
            return chunked_error(self.like, 0.0)
        here = constant(self._here)
        norms = [lazy(Rule.largest_norm, here, points) for points in self.stored]
        return chunked_error(self.like, float(max(computed(norms))))

    def at(self, indices: Indices) -> np.ndarray:
        wanted = np.asarray(indices, dtype=np.int64)
        found = gathered(wanted, self.edges, lambda i, inside: self.stored[i][inside])
        return found.reshape(len(wanted), self.d)

    def local_values(self, points: np.ndarray) -> np.ndarray:
        return _shard.columns(points, self._here, points)

    def points_at(self, indices: np.ndarray) -> np.ndarray:
        """The points at the indices, from the centre and in widths."""
        return self._here.spread(self.at(indices))

    def restrict(self, indices: Indices) -> Operator:
        if len(indices) > LOCAL:
            return super().restrict(indices)
        x = self._here.placed(self.at(indices))
        return KernelOperator(
            x, self.h, engine="chunked", exponent=self.exponent, ledger=self.ledger
        )


on_workers.register(InShards, lambda operator: True)
in_parts.register(InShards, lambda operator: operator)
form.register(InShards, lambda operator, k: operator)  # nothing of length n is made here
determining.register(DaskKernel, lambda operator: (operator.h, operator.digest))


@faster_squares.register
def _squares(operator: InShards) -> Array:
    operator.ledger.add(entries=operator.n**2)
    return np.concatenate(computed(operator.passed_by(_shard.squared_rows)))


@new_rows.register
def _values_at(operator: DaskKernel, points: Array, indices: Indices) -> Array:
    chosen = operator.at(indices).astype(np.float64)
    rule = operator.rule
    landmarks = KernelOperator(
        chosen, rule.h, engine="chunked", centre=rule.centre, exponent=rule.exponent
    )
    return new_rows(landmarks, points, np.arange(len(indices)))


@product_seconds.register
def _seconds(operator: DaskKernel) -> float:
    entry = 1.5e-9 if operator.rule.device in (None, "cpu") else 1e-12
    tasks = len(operator.stored) * len(operator.groups)
    return OVERHEAD + 1.2 * tasks * TASK + operator.n**2 * entry


def _triangle(parts: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.linalg.qr(np.concatenate(parts), mode="r"))


class Held:
    """The lazy shards, and what is known of them here; no checkpoint takes this for numbers.

    sums : of each shard, None until they are asked for.
    seen : what was looked at last.
    """

    def __init__(self, shards: Sequence[Lazy]):
        self.shards = list(shards)
        self.sums: list[Sums] | None = None
        self.seen: Looked | None = None


class Parted(State):
    """C = K − F Fᵀ after some picks, in shards; answers what `residual.Residual` answers.

    picks : in order of choice.
    events : all that was done to the shards; from these and the points they can be made again.
    """

    def __init__(self, operator: InShards, capacity: int, exclude: Sequence[int] = ()):
        self.operator = operator
        self.pair = Pair(operator, operator.n)
        self.picks: list[int] = []
        self.events: list[dict[str, Any]] = []
        self.unit = represented(capacity)
        self.size = self.off = 0.0  # of the entries of CZ, and what they may be off by
        self._key: tuple[int, int] | None = None  # of the probes, and how many there are
        closed = constant(np.asarray(sorted(exclude), dtype=np.int64))
        starts = [int(start) for start in operator.edges[:-1]]
        own = (operator.stored, starts, operator.rules)
        self._held = Held(operator.each(_shard.begun, *own, unit=self.unit, closed=closed))
        self.whole = self.trace

    # What the workers hold

    def _sums(self) -> list[Sums]:
        """The sums of each shard, once the workers have made and stored the shards."""
        if self._held.sums is None:
            self._held.shards = keep(self._held.shards)
            self._held.sums = computed(self._each(_shard.sums))
        return self._held.sums

    @property
    def trace(self) -> float:
        """tr C."""
        return float(sum(part.trace for part in self._sums()))

    def _each(
        self, function: Callable[..., Any], *lists: Sequence[Any], **shared: Any
    ) -> list[Lazy]:
        """The lazy call of the function for each shard."""
        return self.operator.each(function, self._held.shards, *lists, **shared)

    def _change(self, function: Callable[..., Any], *lists: Sequence[Any], **shared: Any) -> None:
        """Put what the function makes of each shard in its place."""
        self._held = Held(self._each(function, *lists, **shared))

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
        calls = [lazy(_shard.drawn, self._held.shards[i], targets[where == i]) for i in wanted]
        for i, indices in zip(wanted, computed(calls), strict=True):
            found[where == i] = indices
        return found, self._look(found).diagonal

    def highest(self, count: int, kind: str) -> tuple[np.ndarray, float]:
        """The rows with the highest scores, and the highest score of any other."""
        self._sums()
        best = self._each(_shard.highest, count=count + 1, kind=kind)
        values, indices = compute(tree(partial(_shard.highest_of, count=count + 1), best))
        return indices[:count], float(values[count]) if len(values) > count else 0.0

    def heaviest(self, allowed: None, count: int) -> np.ndarray:
        """The rows of which most is left."""
        return self.highest(count, "weights")[0]

    def nearest(self, centres: np.ndarray, power: int) -> np.ndarray:
        """For each centre the nearest row that may be picked and is not represented; or none."""
        self._sums()
        rules, sent = self.operator.rules, constant(centres)
        near = computed(self._each(_shard.nearest, rules, centres=sent, power=power))
        distances, indices = (np.stack(field) for field in zip(*near, strict=True))
        first = np.argmin(distances, axis=0), np.arange(len(centres))  # of equally near ones
        return indices[first] if np.all(np.isfinite(distances[first])) else indices[0, :0]

    def _look(self, indices: np.ndarray) -> Looked:
        """What the shards know of these rows."""
        held, wanted = self._held, np.unique(indices)
        if held.seen is None or not np.all(np.isin(wanted, held.seen.indices)):
            self._sums()
            numbers = [i for i, _, _ in by_part(wanted, self.operator.edges)]
            found = computed([lazy(_shard.looked, held.shards[i], wanted) for i in numbers])
            held.seen = Looked(*map(np.concatenate, zip(*found, strict=True)))
        places = np.searchsorted(held.seen.indices, indices)
        return Looked(*(field[places] for field in held.seen))

    def principal(self, indices: np.ndarray) -> np.ndarray:
        """C at the indices."""
        seen = self._look(indices)
        return self.operator.local_values(seen.points) - seen.rows @ seen.rows.T

    def floor_at(self, indices: np.ndarray) -> np.ndarray:
        """The residuals up to which these rows count as represented."""
        return self.unit * self._look(indices).whole

    def probed_at(self, indices: np.ndarray) -> np.ndarray:
        """The rows of CZ."""
        return self._look(indices).CZ

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
        seen = self._look(indices)
        self.append(Block(indices, seen.points, seen.rows, np.tril(L)))

    def append(self, block: Block) -> None:
        """Append picks to the factor on the workers."""
        count = len(block.indices)
        self.operator.ledger.add(columns=count, entries=self.operator.n * count)
        self.picks += [int(j) for j in block.indices]
        self._do({"kind": "picks", **block._asdict()})

    def clear(self, indices: np.ndarray) -> None:
        """Count rows as represented."""
        if len(indices) > 0:
            self._do({"kind": "clear", "indices": np.asarray(indices)})

    def _do(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        self._make(event)

    def _make(self, event: dict[str, Any]) -> None:
        """Do to the shards what the event says."""
        kind = event["kind"]
        if kind == "clear":
            self._change(_shard.cleared, indices=constant(event["indices"]))
        if kind == "picks":
            block = constant(Block(*(event[name] for name in Block._fields)))
            self._change(_shard.with_picks, self.operator.rules, block=block)
            if self._key is not None:
                self._take_out(-1)
        if kind == "probes":
            self._probed()

    def _take_out(self, first: int) -> None:
        """Take the signs out of CZ for the blocks of the factor from one of them on."""
        VZ = tree(sum, self._each(_shard.times_signs, first=first, **self._probes))
        self._change(_shard.taken_out, first=first, VZ=VZ)

    def restored(self) -> None:
        """Do again what had been done when the run was interrupted."""
        for event in self.events:
            self._make(event)

    # Probes

    @property
    def _probes(self) -> dict[str, int]:
        """What makes the signs of a shard."""
        return dict(zip(("key", "count"), self._key or (0, 0), strict=True))

    def probe(self, key: int, count: int, deadline: float | None = None) -> bool:
        """Let the shards hold CZ for random signs Z with that key; False if it was stopped."""
        self._key = key, count
        found = self._probed(deadline)
        self.off = max(self.off, self.operator.product_error * self.size)
        self._change(replace, off=self.off)
        return found

    def refresh(self) -> None:
        """Compute CZ from its definition if half of its digits are gone."""
        left = self._root_mean_square()
        if left * left < self.off * self.size:
            self._do({"kind": "probes"})

    def _probed(self, deadline: float | None = None) -> bool:
        """CZ = KZ − F FᵀZ: the points of all shards pass by each shard."""
        self.operator.ledger.add(products=self._probes["count"], entries=self.operator.n**2)
        self._change(replace, CZ=None, off=0.0)
        ended = run("products", self._passes(), deadline=deadline)
        if ended and self.picks:
            self._take_out(0)
        self.size = self._root_mean_square()
        self.off = np.finfo(np.float64).eps * self.size
        self._change(replace, off=self.off)
        return ended

    def _passes(self) -> Iterator[Step]:
        """Add to CZ the product with one group of points after another."""
        operator = self.operator
        for g, group in enumerate(operator.groups):
            points = lazy(np.concatenate, operator.stored[group])
            start = int(operator.edges[group.start])
            named = {"points": points, "start": start, **self._probes}
            self._change(_shard.with_product, operator.rules, **named)
            self._sums()  # one group at a time, or the workers would hold all points
            yield Step(g + 1, len(operator.groups))

    def forget_probes(self) -> None:
        """Free the memory that CZ takes on the workers."""
        self._key = None
        self._change(replace, CZ=None)
        self._sums()

    def _root_mean_square(self) -> float:
        """The root mean square of the entries of CZ."""
        entries = self.operator.n * (self._key or (0, 1))[1]
        return float(np.sqrt(sum(part.squares for part in self._sums()) / entries))

    # What results ask

    @property
    def order(self) -> np.ndarray:
        """The picks that the columns of F belong to."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(b.indices for b in self._blocks())])

    @property
    def L(self) -> np.ndarray:
        """The rows of F at these picks: the Cholesky factor of K there."""
        L, start = np.zeros((len(self.order),) * 2), 0
        for block in self._blocks():
            stop = start + len(block.indices)
            L[start:stop, :stop] = np.hstack([block.rows, block.L])
            start = stop
        return L

    def _blocks(self) -> list[Block]:
        """All picks that were appended."""
        found = [event for event in self.events if event["kind"] == "picks"]
        return [Block(*(event[name] for name in Block._fields)) for event in found]

    def squared_norm(self) -> float:
        """‖C‖²_F, from every kernel value once."""
        self._sums()
        shards, operator = self._held.shards, self.operator
        operator.ledger.add(entries=operator.n**2 // 2)
        calls = [
            lazy(_shard.squares, shard, operator.rules[i], shards[max(i, group.start) : group.stop])
            for i, shard in enumerate(shards)
            for group in operator.groups
            if group.stop > i
        ]
        return float(compute(tree(sum, calls)))

    def samples(self, key: int, count: int, depth: int) -> np.ndarray:
        """zᵀCz, or ‖Cz‖² for depth 2, of random signs z with that key."""
        held, before = self._held, self._key
        try:
            self.probe(key, count)
            return np.asarray(compute(tree(sum, self._each(_shard.samples, key=key, depth=depth))))
        finally:
            self._held, self._key = held, before

    def factor(self) -> Any:
        """F as a dask array; its chunks stay on the workers."""
        import dask.array as da

        self._sums()
        r, heights = len(self.order), np.diff(self.operator.edges)
        chunks = zip(self._each(_shard.factor_of), heights, strict=True)
        return da.concatenate(
            [da.from_delayed(chunk, (int(rows), r), dtype=np.float64) for chunk, rows in chunks]
        )


class SpreadVectors:
    """Blocks of vectors of length n in parts on the workers, where the rows of a matrix are.

    The block Lanczos method asks them what it asks vectors in memory (`linalg.error.Vectors`).
    Products and sums over the parts are in one order, so the bounds are the same for all chunks and
    any number of workers.
    """

    here = False

    def __init__(self, operator: InShards):
        self.operator = operator

    def start(self, width: int) -> list[Lazy]:
        """An orthonormal block in random directions."""
        edges = [int(edge) for edge in self.operator.edges]
        self.width = width
        return self._orthonormal(
            self.operator.each(partial(signs, KEY, width), edges[:-1], edges[1:])
        )[0]

    def product(self, block: list[Lazy]) -> list[Lazy]:
        """K times a block."""
        self.operator.ledger.add(products=self.width, entries=self.operator.n**2)
        return self.operator.passed_by(_shard.product, block=block)

    def inside(self, Q: list[list[Lazy]], block: list[Lazy]) -> np.ndarray:
        """Qᵀ block, of all blocks of Q."""
        rows = self.operator.each(_inside, block, list(map(list, zip(*Q, strict=True))))
        return np.asarray(compute(tree(sum, rows)))

    def outside(
        self, Q: list[list[Lazy]], block: list[Lazy], M: np.ndarray
    ) -> tuple[list[Lazy], np.ndarray]:
        """The QR factors of block − QM."""
        sent, rows = constant(np.split(M, len(Q))), list(map(list, zip(*Q, strict=True)))
        return self._orthonormal(self.operator.each(_outside, block, rows, M=sent))

    def _orthonormal(self, block: list[Lazy]) -> tuple[list[Lazy], np.ndarray]:
        """The QR factors, from those of the parts: Demmel, Grigori, Hoemmen and Langou (2012)."""
        pairs = made(self.operator.each(np.linalg.qr, block))
        joined = lazy(_qr_of_triangles, [pair[1] for pair in pairs])
        turns = [joined[0][i] for i in range(len(pairs))]
        Q = made(self.operator.each(np.matmul, [pair[0] for pair in pairs], turns))
        return Q, np.asarray(compute(joined[1]))


def _inside(block: np.ndarray, Q: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([part.T @ block for part in Q])


def _outside(block: np.ndarray, Q: Sequence[np.ndarray], M: Sequence[np.ndarray]) -> np.ndarray:
    for part, rows in zip(Q, M, strict=True):
        block = block - part @ rows
    return block


def _qr_of_triangles(triangles: Sequence[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """The QR factors of triangles below one another; the first in their heights."""
    Q, R = np.linalg.qr(np.concatenate(triangles))
    return np.split(Q, np.cumsum([len(part) for part in triangles])[:-1]), R
