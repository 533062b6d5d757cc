"""What people try first: the page of the documents is what the script prints today."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_each_attempt_ends_as_the_documents_show():
    place = ROOT / "examples" / "first_minutes.py"
    spec = importlib.util.spec_from_file_location("first_minutes", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    printed = module.shown()
    assert printed.count(">>> ") >= 40
    expected = (ROOT / "docs" / "first_minutes.txt").read_text(encoding="utf-8")
    assert printed.splitlines() == expected.splitlines()
