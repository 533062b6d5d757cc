"""Allocators of inducing points for BoTorch's sparse Gaussian processes.

    SingleTaskVariationalGP(X, inducing_point_allocator=LandmarkVarianceReduction())

BoTorch's own allocators take pivots of a Cholesky factorisation (Burt, Rasmussen and van der Wilk,
JMLR 2020). These minimise the same quantity, tr(K − K̂), by the methods of this package.
"""

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _select
from ..errors import RankWarning
from ..linalg.nystrom import pivoted_cholesky
from ..operators.kernel import kernel

try:
    import torch
    from botorch.models.utils.inducing_point_allocators import (
        ExpectedImprovementQualityFunction,
        InducingPointAllocator,
        QualityFunction,
        UnitQualityFunction,
    )
except ImportError as error:
    raise ImportError(
        f"landmarks.adapters.botorch needs BoTorch ({error}); pip install botorch"
    ) from error


class LandmarkVarianceReduction(InducingPointAllocator):
    """Inducing points that leave the least predictive variance, tr(K − K̂).

    Parameters
    ----------
    method : how to choose, as in `select`.
    seed : for methods that use random numbers.
    """

    def __init__(self, method: Any = "swap", seed: int = 0):
        self.method, self.seed = method, seed

    def _get_quality_function(self) -> QualityFunction:
        return UnitQualityFunction()

    def allocate_inducing_points(
        self,
        inputs: torch.Tensor,
        covar_module: Any,
        num_inducing: int,
        input_batch_shape: torch.Size,
    ) -> torch.Tensor:
        """Choose inducing points among the inputs.

        Parameters
        ----------
        inputs : a tensor of shape (…, n, d).
        covar_module : a GPyTorch kernel; if it has a batch of tasks, the first task is used.
        num_inducing : how many points. If fewer represent all inputs, fewer are returned, except in
            a batch.
        input_batch_shape : the shape of the batch, without tasks.

        Returns
        -------
        torch.Tensor
            The inducing points, of shape (…, num_inducing, d).
        """
        module = copy.deepcopy(covar_module).to(inputs.device).double()
        quality = self._get_quality_function()
        if len(input_batch_shape) == 0:
            points = inputs[0] if inputs.ndim == 3 else inputs
            return points[self._chosen(points, module, quality, num_inducing)[0]]
        points = inputs.expand(*input_batch_shape, *inputs.shape[-2:]).flatten(end_dim=-3)
        found = [self._chosen(x, module, quality, num_inducing) for x in points]
        chosen = [
            x[torch.cat([kept, spare])] for x, (kept, spare) in zip(points, found, strict=True)
        ]
        return torch.stack(chosen).view(*input_batch_shape, num_inducing, -1)

    def _chosen(
        self, points: torch.Tensor, module: Any, quality: QualityFunction, count: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The indices chosen, and those that add nothing to them."""
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            weighted = torch.cat([points, quality(points)[:, None]], dim=-1).double()
            K = kernel(weighted, _weighted(module))
            s = _select.select(K, min(count, len(points)), method=self.method, seed=self.seed)
            independent = pivoted_cholesky(K.restrict(s.indices).columns(range(s.k))).order
        kept = np.isin(np.arange(s.k), independent)
        indices = torch.as_tensor(s.indices.copy(), device=points.device)
        return indices[kept], indices[~kept]


class LandmarkImprovementReduction(LandmarkVarianceReduction):
    """Inducing points where the variance is large and a previous model expects an improvement.

    Each input is weighted by its expected improvement (Moss, Ober and Picheny, AISTATS 2023).

    Parameters
    ----------
    model : the model of the previous step, with one output.
    maximize : whether the function is maximised.
    method, seed : as in `LandmarkVarianceReduction`.
    """

    def __init__(self, model: Any, maximize: bool, method: Any = "swap", seed: int = 0):
        super().__init__(method, seed)
        self._model, self._maximize = model, maximize

    def _get_quality_function(self) -> QualityFunction:
        return ExpectedImprovementQualityFunction(self._model, self._maximize)


def _weighted(module: Any) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The kernel of points whose last coordinate is their weight."""

    def h(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        values = module(x[:, :-1], y[:, :-1]).to_dense()
        if values.ndim == 3:
            values = values[0]
        return x[:, -1:] * values * y[:, -1:].T

    return h
