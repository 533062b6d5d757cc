"""The products that `gpu_product_double.py` times: kernels, sizes, dimensions and widths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

import landmarks as lm
from landmarks.operators.gpu import double, single

SIGMA = {2: 1.0, 4: 2.0, 9: 3.0, 30: 8.0, 90: 14.0, 784: 40.0}
NAMES = {torch.float64: "float64", torch.float32: "float32"}


@dataclass(frozen=True)
class Case:
    """A product to time."""

    h: Any
    rows: int
    cols: int
    d: int
    width: int = 10
    offset: float = 0.0
    rivals: bool = True
    dtype: torch.dtype = torch.float64

    def points(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The points of the rows and of the columns: one array when there are equally many."""
        y = draw(self.cols, self.d, self.dtype) + self.offset
        if self.rows == self.cols:
            return y, y
        return draw(self.rows, self.d, self.dtype) + self.offset, y

    def vectors(self) -> torch.Tensor:
        """The right-hand sides."""
        return draw(self.cols, self.width, self.dtype)

    def packed(self, x: torch.Tensor, y: torch.Tensor) -> tuple[Any, Any]:
        """Both sides as the fused product wants them."""
        module = double if self.dtype == torch.float64 else single
        return module.pair(self.h, x, y)

    @property
    def name(self) -> str:
        """The kernel in a few letters."""
        if isinstance(self.h, lm.matern):
            kernel = f"matern({self.h.nu:g}, {self.h.sigma:g})"
        elif isinstance(self.h, lm.polynomial):
            kernel = f"polynomial({self.h.degree})"
        else:
            kernel = f"{type(self.h).__name__}({self.h.sigma:.3g})"
        return kernel + (", far from 0" if self.offset else "")

    @property
    def label(self) -> str:
        """The first cells of its line."""
        size = f"{self.rows} × {self.cols}"
        return f"| {self.name} | {size} | {self.d} | {self.width} | {NAMES[self.dtype]} | "


def draw(n: int, d: int, dtype: torch.dtype) -> torch.Tensor:
    """Standard normal numbers."""
    generator = torch.Generator(device="cuda").manual_seed(n + d)
    return torch.randn(n, d, device="cuda", generator=generator, dtype=dtype)


def kernels_for(d: int) -> list:
    """Every kernel that has a fused product, with a width that suits the points."""
    s = SIGMA[d]
    materns = [lm.matern(nu, s) for nu in (0.5, 1.5, 2.5)]
    return [lm.rbf(s), lm.laplacian(s * d**0.5), *materns, lm.polynomial(3, 1 / d, 1.0)]


def cases(quick: bool) -> Iterator[Case]:
    """All products of the table, in both precisions."""
    for case in products(quick):
        yield case
        yield replace(case, dtype=torch.float32)


def products(quick: bool) -> Iterator[Case]:
    """Sizes and widths for d = 9, rectangles, other dimensions, other widths of the kernel."""
    rbf = lm.rbf(3.0)
    for n in (20_000,) if quick else (20_000, 50_000, 200_000):
        for width in (1, 10, 32):
            yield Case(rbf, n, n, 9, width)
    n = 5_000 if quick else 50_000
    yield Case(rbf, n, n, 9, 64, rivals=False)
    for rows, cols in ((777, 200_000), (200_000, 100), (5_000, 50_000)):
        for h in kernels_for(9):
            yield Case(h, rows, cols, 9)
    for d in (9, 90, 30, 4, 2):
        for h in kernels_for(d)[d == 9 :]:
            yield Case(h, n, n, d)
    for sigma in (0.01, 0.1, 0.3, 1.0, 10.0, 100.0):
        yield Case(lm.rbf(sigma), n, n, 9, rivals=False)
    yield Case(rbf, n, n, 9, offset=1e3, rivals=False)
    for h in kernels_for(784):  # KeOps compiles these the longest
        yield Case(h, n if quick else 20_000, n if quick else 20_000, 784)
    if not quick:
        yield Case(lm.rbf(40.0), n, n, 784)
