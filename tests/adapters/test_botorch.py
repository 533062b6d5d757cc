"""The allocators of inducing points for BoTorch, with the real packages on the CPU."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("botorch", reason="needs botorch")
gpytorch = pytest.importorskip("gpytorch", reason="needs gpytorch")

from botorch.models import SingleTaskVariationalGP  # noqa: E402
from botorch.models.utils.inducing_point_allocators import (  # noqa: E402
    GreedyImprovementReduction,
    GreedyVarianceReduction,
)

from landmarks.adapters.botorch import (  # noqa: E402
    LandmarkImprovementReduction,
    LandmarkVarianceReduction,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # of BoTorch about data that are not scaled


def inputs(*shape):
    return torch.rand(*shape, 2, generator=torch.Generator().manual_seed(0))


def variance(points, inducing, module):
    """tr(K − K̂), from the formula in float64."""
    module = module.double()
    with torch.no_grad():
        K, cross, inner = (
            module(x.double(), y.double()).to_dense().numpy()
            for x, y in ((points, points), (points, inducing), (inducing, inducing))
        )
    return np.trace(K - cross @ np.linalg.pinv(inner, rcond=1e-12) @ cross.T)


def matern():
    module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(2.5, ard_num_dims=2))
    module.base_kernel.lengthscale = torch.tensor([0.3, 0.6])
    return module


def test_less_variance_is_left_than_by_pivoted_cholesky():
    points = inputs(150)
    left = [
        variance(points, a.allocate_inducing_points(points, matern(), 15, torch.Size()), matern())
        for a in (LandmarkVarianceReduction(), GreedyVarianceReduction())
    ]
    assert left[0] < 0.9 * left[1]


def test_a_batch_has_the_choice_of_each_of_its_elements():
    points, allocator = inputs(3, 40), LandmarkVarianceReduction(method="greedy")
    batch = allocator.allocate_inducing_points(points, matern(), 6, torch.Size([3]))
    single = [allocator.allocate_inducing_points(x, matern(), 6, torch.Size()) for x in points]
    assert torch.equal(batch, torch.stack(single))


def test_points_that_add_nothing_are_left_out():
    points = torch.cat([inputs(10), inputs(10)])
    chosen = LandmarkVarianceReduction().allocate_inducing_points(
        points, matern(), 15, torch.Size()
    )
    assert len(chosen) == 10 and len(torch.unique(chosen, dim=0)) == 10


def test_a_model_takes_the_allocator_and_trains():
    points = inputs(60)
    target = torch.sin(6 * points[:, :1])
    model = SingleTaskVariationalGP(
        points,
        target,
        inducing_points=12,
        inducing_point_allocator=LandmarkVarianceReduction(),
        learn_inducing_points=False,
    )
    assert model.model.variational_strategy.inducing_points.shape == (12, 2)
    objective = gpytorch.mlls.VariationalELBO(model.likelihood, model.model, num_data=60)
    loss = -objective(model.likelihood(model(points)), target[:, 0]).sum()
    loss.backward()
    assert torch.isfinite(loss)


def test_inputs_of_high_quality_draw_the_inducing_points():
    class RightHalf(LandmarkVarianceReduction):
        def _get_quality_function(self):
            return lambda points: torch.where(points[:, 0] > 0.5, 1.0, 0.01)

    chosen = RightHalf().allocate_inducing_points(inputs(60), matern(), 8, torch.Size())
    assert torch.all(chosen[:, 0] > 0.5)


def test_the_quality_of_improvement_is_that_of_botorch():
    points = inputs(60)
    model = SingleTaskVariationalGP(points, points[:, :1], inducing_points=10)
    ours = LandmarkImprovementReduction(model, maximize=True)
    theirs = GreedyImprovementReduction(model, maximize=True)
    assert torch.equal(ours._get_quality_function()(points), theirs._get_quality_function()(points))
    chosen = ours.allocate_inducing_points(points, matern(), 8, torch.Size())
    assert chosen.shape == (8, 2)
