"""Kernel functions h(x, y), each a small frozen object that evaluates a block of values at once."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ._array import Array, eps, exp_between, host, is_single, like, namespace, take, zeros
from ._check import is_number, positive

Widths = Any  # a positive number, or one for each coordinate


def negative_squared_distances(x: Array, y: Array) -> Array:
    """−|x_i − y_j|² by one matrix product of extended points; centre the points first.

    If the squares are so large that too many digits cancel, float32 is computed in float64, and
    float64 from differences.
    """
    xp = namespace(x)
    if _cancels(x) and is_single(x):
        promoted = negative_squared_distances(xp.astype(x, xp.float64), xp.astype(y, xp.float64))
        return xp.astype(promoted, x.dtype)
    if _cancels(x):
        return -_by_coordinates(x, y, lambda difference: difference**2)
    left = xp.concat([2 * x, -xp.sum(x * x, axis=1, keepdims=True), xp.ones_like(x[:, :1])], axis=1)
    right = xp.concat([y, xp.ones_like(y[:, :1]), -xp.sum(y * y, axis=1, keepdims=True)], axis=1)
    return left @ right.T


def _cancels(x: Array) -> bool:
    """Whether the squares are so large that distances would lose too many digits."""
    xp = namespace(x)
    return eps(x) * float(xp.max(xp.sum(x * x, axis=1))) > most_cancelled(x)


def most_cancelled(x: Array) -> float:
    """The relative rounding of squared distances above which they are computed with more digits."""
    return 1e-4 if is_single(x) else 1e-8


def _by_coordinates(x: Array, y: Array, term: Callable[[Array], Array]) -> Array:
    """The sum over the coordinates of the terms of their differences."""
    total = term(x[:, :1] - y[:, :1].T)
    for i in range(1, x.shape[1]):
        total = total + term(x[:, i : i + 1] - y[:, i : i + 1].T)
    return total


def distances(x: Array, y: Array) -> Array:
    """|x_i − y_j|; zero where the squares cancel to rounding, whose root would be far larger."""
    xp = namespace(x)
    distances = -negative_squared_distances(x, y)
    if _cancels(x):
        return xp.sqrt(xp.clip(distances, min=0.0))
    squares = xp.sum(x * x, axis=1)[:, None] + xp.sum(y * y, axis=1)[None, :]
    rounding = (8 + x.shape[1]) * eps(x) * squares
    return xp.sqrt(xp.where(distances > rounding, distances, xp.zeros_like(distances)))


def decay(exponents: Array) -> Array:
    """exp of exponents up to 0, and at least eps²: denormal numbers slow every product down."""
    return exp_between(exponents, 2 * math.log(eps(exponents)), 0.0)


def widths(sigma: Widths) -> Widths:
    """σ as it was given if it is one number, else a tuple of one for each coordinate."""
    if is_number(sigma):
        positive(sigma, "sigma")
        return sigma
    try:
        numbers = np.asarray(host(sigma) if hasattr(sigma, "shape") else sigma, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.ndim != 1 or not np.all((numbers > 0) & np.isfinite(numbers)) or not len(numbers):
        raise ValueError(
            f"sigma must be a positive number, or one for each coordinate, got {sigma!r}"
        )
    return tuple(numbers.tolist())


def in_widths(points: Array, sigma: Widths) -> Array:
    """The points divided by σ, or each coordinate by its own."""
    if is_number(sigma):
        return points / sigma
    if len(sigma) != points.shape[1]:
        raise ValueError(
            f"sigma has {len(sigma)} widths, but the points have {points.shape[1]} coordinates"
        )
    return points / like(sigma, points)[None, :]


class Stationary:
    """A kernel of the differences x − y, of which each coordinate is divided by its σ."""

    sigma: Widths
    stationary: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", widths(self.sigma))


@dataclass(frozen=True)
class rbf(Stationary):
    """The Gaussian kernel exp(−|x − y|²/σ²).

    Parameters
    ----------
    sigma : σ, the distance at which the kernel has fallen to 1/e. A list has one for each
        coordinate: differences are divided by them.

    Examples
    --------
    >>> lm.rbf(sigma=2.0)(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(3)
    array([[1.   , 0.368]])
    """

    sigma: Widths = 1.0

    def __call__(self, x: Array, y: Array) -> Array:
        return decay(negative_squared_distances(in_widths(x, self.sigma), in_widths(y, self.sigma)))


@dataclass(frozen=True)
class laplacian(Stationary):
    """The Laplacian kernel exp(−Σ|x_i − y_i|/σ), with the L1 distance as in scikit-learn.

    Parameters
    ----------
    sigma : σ, the L1 distance at which the kernel has fallen to 1/e; or one for each coordinate.

    Examples
    --------
    >>> lm.laplacian(sigma=2.0)(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [3.0, 1.0]])).round(3)
    array([[1.   , 0.223]])
    """

    sigma: Widths = 1.0

    def __call__(self, x: Array, y: Array) -> Array:
        x, y = in_widths(x, self.sigma), in_widths(y, self.sigma)
        return decay(-_by_coordinates(x, y, namespace(x).abs))


@dataclass(frozen=True)
class matern(Stationary):
    """The Matérn kernel with smoothness ν = 1/2, 3/2 or 5/2 and length scale σ.

    Parameters
    ----------
    nu : ν, 0.5, 1.5 or 2.5; larger is smoother.
    sigma : σ, the length scale; or one for each coordinate.

    Examples
    --------
    >>> x, y = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [3.0, 1.0]])
    >>> lm.matern(nu=1.5, sigma=2.0)(x, y).round(3)
    array([[1.   , 0.423]])
    """

    nu: float = 1.5
    sigma: Widths = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(
                f"nu must be 0.5, 1.5 or 2.5, got {self.nu!r}; for other smoothness pass a callable"
            )

    def __call__(self, x: Array, y: Array) -> Array:
        r = math.sqrt(2 * self.nu) * distances(in_widths(x, self.sigma), in_widths(y, self.sigma))
        if self.nu == 0.5:
            return decay(-r)
        if self.nu == 1.5:
            return (1 + r) * decay(-r)
        return (1 + r + r * r / 3) * decay(-r)


@dataclass(frozen=True)
class polynomial:
    """The polynomial kernel (γ x·y + c)^degree; c ≥ 0 keeps it positive semidefinite.

    Parameters
    ----------
    degree : a whole number of at least 1.
    gamma : γ, the factor of x·y.
    coef0 : c, which is added; 0 makes the kernel homogeneous.

    Examples
    --------
    >>> x, y = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [3.0, 1.0]])
    >>> lm.polynomial(degree=2, gamma=0.5)(x, y).round(3)
    array([[2.25, 6.25]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0
    stationary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        positive(self.degree, "degree")
        positive(self.gamma, "gamma")
        if self.coef0 < 0:
            raise ValueError(
                f"coef0 must not be negative, got {self.coef0!r}: the kernel would not be positive "
                "semidefinite"
            )
        if int(self.degree) != self.degree:
            raise ValueError(f"degree must be a whole number, got {self.degree!r}")

    def __call__(self, x: Array, y: Array) -> Array:
        return (self.gamma * (x @ y.T) + self.coef0) ** int(self.degree)


@dataclass(frozen=True)
class linear:
    """The linear kernel x·y.

    Examples
    --------
    >>> lm.linear()(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [3.0, 1.0]])).round(3)
    array([[1., 3.]])
    """

    stationary: ClassVar[bool] = False

    def __call__(self, x: Array, y: Array) -> Array:
        return x @ y.T


Kernel = Callable[[Array, Array], Array]
OURS = rbf | laplacian | matern | polynomial | linear


def diagonal_values(h: Kernel, points: Array) -> Array:
    """The values h(x_i, x_i)."""
    xp, n = namespace(points), points.shape[0]
    if getattr(h, "stationary", False):
        first = points[:1, :]
        return zeros((n,), points) + h(first, first)[0, 0]
    parts = (take(points, np.arange(a, min(n, a + 64))) for a in range(0, n, 64))
    return xp.concat([xp.linalg.diagonal(h(x, x)) for x in parts])


def largest_norm(h: Kernel, points: Array) -> float:
    """The largest squared norm of the points, in units of the kernel's width."""
    xp, scaled = namespace(points), in_widths(points, getattr(h, "sigma", 1.0))
    return float(xp.max(xp.sum(scaled * scaled, axis=1)))


def known(h: Any) -> Any:
    """A kernel of GPyTorch as one of ours, or as a function of two blocks; others as they are."""
    if not any(c.__module__ == "gpytorch.kernels.kernel" for c in type(h).__mro__):
        return h
    name = type(h).__name__
    if len(h.batch_shape):
        raise ValueError(
            f"{name} holds {tuple(h.batch_shape)} kernels; choose for one of them, such as h[0]"
        )
    if h.active_dims is None and type(h).__module__.startswith("gpytorch.kernels."):
        if name == "RBFKernel":
            return rbf(math.sqrt(2) * _lengths(h))
        if name == "MaternKernel":
            return matern(h.nu, _lengths(h))
    return OfGPyTorch(h)


def _lengths(h: Any) -> Any:
    """The length scale of a GPyTorch kernel, or those of its coordinates."""
    lengths = h.lengthscale.detach().cpu().double().numpy().ravel()
    return float(lengths[0]) if len(lengths) == 1 else lengths


class OfGPyTorch:
    """Blocks of values of any GPyTorch kernel, without gradients, for NumPy or torch points."""

    def __init__(self, module: Any):
        self.module = module

    def __call__(self, x: Array, y: Array) -> Array:
        import torch

        device = next((p.device for p in self.module.parameters()), None)
        a, b = (z if torch.is_tensor(z) else torch.tensor(z, device=device) for z in (x, y))
        name = type(self.module).__name__
        if self.module.num_outputs_per_input(a, b) != 1:
            raise ValueError(
                f"{name} has several values for two points (tasks or derivatives), so its "
                "landmarks would be tasks too; pass the kernel of the points alone"
            )
        try:
            with torch.no_grad():
                values = self.module(a, b).to_dense()
        except RuntimeError as error:
            raise ValueError(
                f"{name} of GPyTorch gives no values for two blocks of points ({error}); "
                "pass its base_kernel"
            ) from error
        return values if torch.is_tensor(x) else like(host(values), x)

    def __repr__(self) -> str:
        return f"{type(self.module).__name__} of GPyTorch"
