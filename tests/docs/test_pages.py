"""The documents: examples run, links work, the map is current, public names are listed."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

import landmarks as lm

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PAGES = [
    page
    for page in PAGES
    if "_build" not in page.parts and "gallery" not in page.parts and "generated" not in page.parts
]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda path: path.stem
)
def test_the_example_runs(example, capsys):
    with matplotlib.rc_context({"backend": "Agg"}):
        runpy.run_path(str(example))
        plt.close("all")
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_that_exist(page):
    links = [
        target
        for target, _ in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not target.startswith("mailto:")
    ]
    assert [target for target in links if not (page.parent / target).exists()] == []


def test_the_map_of_the_paper_is_up_to_date():
    subprocess.run([sys.executable, str(ROOT / "docs" / "paper_map.py"), "--check"], check=True)


def test_each_public_name_is_in_the_reference():
    listed = re.findall(r"^   landmarks\.(\w+)$", (ROOT / "docs" / "api.rst").read_text(), re.M)
    assert sorted(listed) == sorted(lm.__all__)
