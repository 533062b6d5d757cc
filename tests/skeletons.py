"""The skeletons of docs/, loaded as if copied to where a contributor puts them.

So the contracts test what is copied, with the imports of the package.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"


def skeleton(name: str) -> Any:
    """The module docs/<name>.py, as one of landmarks/methods/greedy."""
    place = f"landmarks.methods.greedy.{name}"
    spec = importlib.util.spec_from_file_location(place, DOCS / f"{name}.py")
    module = sys.modules[place] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
