"""Fixtures of all tests of checkpoints."""

import os

import pytest

import landmarks as lm

from .crashes import Crash, CrashAt, X


@pytest.fixture
def no_fsync(monkeypatch):
    """Nothing here cuts the power, and waiting for the disk after every step takes long."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def path(tmp_path):
    yield tmp_path / "run.npz"
    assert {entry.name for entry in tmp_path.iterdir()} <= {"run.npz"}, "files left behind"


@pytest.fixture
def unfinished(path, no_fsync):
    with pytest.raises(Crash):
        lm.select(
            X,
            8,
            method="iterated",
            callback=CrashAt(12),
            checkpoint=lm.Checkpoint(path, interval=0),
        )
    return path
