"""Every fault of the list has its test."""

import re
from pathlib import Path

PENDING: set[int] = set()


def test_every_number_from_1_to_60_has_a_test():
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    tested = {int(number) for number in re.findall(r"^def test_fault_(\d\d)_", text, re.MULTILINE)}
    assert set(range(1, 61)) - tested == PENDING
