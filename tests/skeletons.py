"""The skeletons of docs/, loaded so that the contracts test what a contributor copies."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"


def skeleton(name: str) -> Any:
    """The module docs/<name>.py."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
