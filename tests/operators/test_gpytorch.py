"""Kernels of GPyTorch as kernels of ours, with the real package on the CPU."""

import numpy as np
import pytest

import landmarks as lm

torch = pytest.importorskip("torch", reason="needs torch")
gpytorch = pytest.importorskip("gpytorch", reason="needs gpytorch")
kernels = gpytorch.kernels

POINTS = np.random.default_rng(0).standard_normal((40, 3))


def of_each(module):
    module.lengthscale = torch.tensor([0.5, 1.0, 2.0])
    return module


@pytest.mark.parametrize(
    ("module", "ours"),
    [
        (of_each(kernels.RBFKernel(ard_num_dims=3)), lm.rbf),
        (kernels.RBFKernel(), lm.rbf),
        (of_each(kernels.MaternKernel(2.5, ard_num_dims=3)), lm.matern),
        (kernels.MaternKernel(0.5), lm.matern),
        (kernels.ScaleKernel(kernels.RBFKernel()), None),
        (kernels.RBFKernel(active_dims=[0, 2]), None),
        (kernels.PeriodicKernel() + kernels.LinearKernel(), None),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("library", [np.asarray, torch.tensor])
def test_the_values_are_those_of_gpytorch(module, ours, library):
    K = lm.kernel(library(POINTS), module)
    assert ours is None or isinstance(K.h, ours)
    x = torch.tensor(POINTS)
    with torch.no_grad():
        np.testing.assert_allclose(
            np.asarray(K.columns([4, 7])), module(x, x[[4, 7]]).to_dense().numpy(), atol=1e-6
        )
    assert len(lm.select(K, 5, method="greedy")) == 5


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (kernels.RBFKernel(batch_shape=torch.Size([2])), r"RBFKernel holds \(2,\) kernels"),
        (kernels.RBFKernelGrad(), "RBFKernelGrad has several values for two points"),
        (kernels.MultitaskKernel(kernels.RBFKernel(), 2), "MultitaskKernel has several values"),
        (
            kernels.InducingPointKernel(
                kernels.RBFKernel(), torch.eye(2, 3), gpytorch.likelihoods.GaussianLikelihood()
            ),
            "InducingPointKernel of GPyTorch gives no values for two blocks",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_kernels_that_have_no_matrix_are_refused_by_name(module, message):
    with pytest.raises(ValueError, match=message):
        lm.kernel(POINTS, module)


def test_torch_takes_the_indices_without_a_warning():
    points = torch.tensor(POINTS)
    s = lm.select(lm.kernel(points, kernels.RBFKernel()), 5, method="greedy")
    assert points[s.indices].shape == (*torch.as_tensor(s.indices).shape, 3)
