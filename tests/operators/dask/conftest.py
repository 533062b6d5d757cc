"""Tests with dask: one thread unless a test asks for more, and small kernels in many parts."""

import pytest


@pytest.fixture(autouse=True)
def scheduler(request):
    dask = pytest.importorskip("dask", reason="needs dask")
    with dask.config.set(scheduler=getattr(request, "param", "synchronous")):
        yield


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    pytest.importorskip("dask", reason="needs dask")
    from landmarks.operators import parts
    from landmarks.operators.dask import kernel

    monkeypatch.setattr(parts, "LOWEST", 64)  # rows of a part
    monkeypatch.setattr(kernel, "LOCAL", 100)  # points of a kernel that is computed here
