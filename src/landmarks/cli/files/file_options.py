"""The options about a file: how to read it, how to prepare it, what its rows are."""

import argparse

from ..options import LISTED, Group, option, size, width

KERNELS = ("rbf", "laplacian", "matern", "polynomial", "linear")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, how to read it, and how to prepare it."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="csv, tsv, txt (also .gz), xlsx, npy, npz, mtx, parquet, arrow, feather, h5, h5ad, "
        "zarr; "
        "- reads standard input",
    )
    _add_reading(parser.add_argument_group("reading"))
    _add_preparing(parser.add_argument_group("preparing"))
    _add_rows(parser.add_argument_group("rows as candidates"))


def _add_reading(reading: Group) -> None:
    text = "read only these columns: names such as a,b,'c,d', or numbers counted from 0"
    option(reading, "--columns NAMES", text, **LISTED)
    option(reading, "--drop NAMES", "leave these columns out", **LISTED)
    text = "column with the names of the rows: printed and written, never a candidate"
    option(reading, "--id COLUMN", text)
    text = "column to predict: written, never a candidate; --method supervised uses it"
    option(reading, "--target COLUMN", text)
    text = "leave out columns of text or dates instead of raising an error"
    option(reading, "--numeric-only", text)
    option(reading, "--format FORMAT", "file format, if the file name does not show it")
    text = "whether the first line of a text file holds names (default auto)"
    option(reading, "--header", text, choices=("auto", "yes", "no"), default="auto")
    text = "delimiter of a text file: , ; tab or | (default: detected)"
    option(reading, "--delimiter SIGN", text)
    text = "decimal sign of a text file (default: detected)"
    option(reading, "--decimal", text, choices=(".", ","))
    text = "sign between thousands in a text file: , . or another (default: none)"
    option(reading, "--thousands SIGN", text)
    text = "what stands for a missing value in a text file besides NA and the like: k.A.,-999"
    option(reading, "--na-values WORDS", text, **LISTED)
    option(reading, "--encoding ENCODING", "encoding of a text file (default: UTF-8, else Latin-1)")
    text = "which array of an npz or Zarr file, layer of an h5ad file, or sheet of an xlsx file"
    option(reading, "--array NAME", text)
    text = (
        "memory for the file (default 1G): larger npy, parquet, arrow, h5 and zarr files are read "
        "in blocks of rows, others are refused"
    )
    option(reading, "--max-bytes SIZE", text, type=size, default=2**30)


def _add_preparing(preparing: Group) -> None:
    text = "short for --center --scale: give every column mean 0 and variance 1"
    option(preparing, "--standardize", text)
    option(preparing, "--center", "give every column mean 0")
    text = "divide every column by its standard deviation; --no-scale: neither scale nor warn"
    option(preparing, "--scale", text, action=argparse.BooleanOptionalAction)
    text = (
        "missing values: stop with an error (default), drop the rows that have one, impute the "
        "mean of the column, or use all pairwise complete values"
    )
    ways = ("error", "drop", "impute", "pairwise")
    option(preparing, "--missing", text, choices=ways, default="error")


def _add_rows(kernels: Group) -> None:
    option(kernels, "--rows", "choose rows that best represent all rows")
    option(kernels, "--kernel", "choose rows as landmarks of this kernel", choices=KERNELS)
    text = "width of the kernel (default: the median distance in a sample of rows)"
    option(kernels, "--sigma WIDTH", text, type=width, default="median")
    text = "smoothness of the Matérn kernel: 0.5, 1.5 or 2.5 (default 1.5)"
    option(kernels, "--nu", text, type=float, default=1.5)
    text = "degree of the polynomial kernel (default 3)"
    option(kernels, "--degree", text, type=int, default=3)
