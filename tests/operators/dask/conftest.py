"""The scheduler of all tests with dask: one thread, unless a test asks for another."""

import pytest


@pytest.fixture(autouse=True)
def scheduler(request):
    dask = pytest.importorskip("dask", reason="needs dask")
    with dask.config.set(scheduler=getattr(request, "param", "synchronous")):
        yield
