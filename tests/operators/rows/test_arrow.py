"""Arrow tables of every kind: the chosen columns, their number of rows, their dtype and names."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.orc
import pyarrow.parquet
import pytest

import landmarks as lm

X = np.arange(21.0).reshape(7, 3)
TABLE = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})


def test_of_a_table_the_columns_that_hold_numbers_are_read():
    table = TABLE.append_column("d", pa.array(list("uvwxyzu"))).append_column("e", TABLE["a"])
    with pytest.warns(UserWarning, match="leaves out 1 of 5 columns: 'd'"):
        operator = lm.data(table, numeric_only=True)
    assert operator.names == ("a", "b", "c", "e")
    with pytest.raises(ValueError, match=r"1 of 5 columns do not hold numbers: 'd' \(string\)"):
        lm.data(table)
