"""The snippets of docs/checkpoints.md run."""

import re
from pathlib import Path

import numpy as np

DOCUMENT = Path(__file__).parents[2] / "docs" / "checkpoints.md"


def test_the_snippets_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for snippet in re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL):
        exec(snippet, names)  # noqa: S102  # the document is ours
    assert len(np.unique(names["s"].indices)) == 10
    assert names["total"].value == 2 - 0.5**9
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.npz"]
