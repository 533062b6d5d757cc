"""What docs/architecture.md says about the code is true."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
REMOVABLE = re.findall(r"^\| `([\w/]+?)(?:/|\.py)` \|", PAGE.partition("If you inherit")[2], re.M)


@pytest.fixture(scope="module")
def graph():
    grimp = pytest.importorskip("grimp")  # import-linter brings it
    return grimp.build_graph("landmarks", exclude_type_checking_imports=True)


def belongs(module, parts):
    return any(module == part or module.startswith(f"{part}.") for part in parts)


def test_parts_that_can_be_deleted_in_order_are_imported_by_nothing_that_is_left(graph):
    parts = ["landmarks." + part.replace("/", ".") for part in REMOVABLE]
    assert len(parts) == 5
    for i, part in enumerate(parts):
        for module in {part} | graph.find_descendants(part):
            users = graph.find_modules_that_directly_import(module)
            assert [user for user in users if not belongs(user, parts[: i + 1])] == []


def test_the_ten_files_to_read_exist():
    listed = re.findall(r"^\d+\. `([\w/.]+)`: ", PAGE.partition("If you inherit")[2], re.M)
    assert len(listed) == 10
    assert [file for file in listed if not (ROOT / "src" / "landmarks" / file).is_file()] == []


def test_the_table_of_folders_names_every_top_level_module():
    row = next(line for line in PAGE.splitlines() if line.startswith("| top level:"))
    named = set(re.findall(r"`(\w+)`", row))
    modules = {path.stem for path in (ROOT / "src" / "landmarks").glob("*.py")} - {"__init__"}
    assert named == modules
