"""The solver by the shape of the system: Woodbury, Cholesky or block conjugate gradients."""

from dataclasses import dataclass, field

from .block_cg import BlockCG
from .cholesky import Cholesky, Woodbury
from .solution import LinearSystem, Solve


@dataclass(frozen=True)
class Automatic:
    """Choose again for every system, because it shrinks as columns drop out (Lemma 3.3)."""

    direct_below: int = 2000
    iterative: BlockCG = field(default_factory=BlockCG)

    def prepare(self, system: LinearSystem) -> Solve:
        if system.m is not None and 2 * system.m < system.n and system.m <= self.direct_below:
            return Woodbury().prepare(system)
        if system.n <= self.direct_below:
            return Cholesky().prepare(system)
        return self.iterative.prepare(system)
