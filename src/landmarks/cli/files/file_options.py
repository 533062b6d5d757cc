"""The options about a file: how to read it, how to prepare it, what its rows are."""

import argparse

from ..options import listed, size, width

KERNELS = ("rbf", "laplacian", "matern", "polynomial", "linear")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, how to read it, and how to prepare it."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="csv, tsv, txt (also .gz), xlsx, npy, npz, mtx, parquet, arrow, feather, h5ad, zarr; "
        "- reads standard input",
    )
    _add_reading(parser.add_argument_group("reading"))
    _add_preparing(parser.add_argument_group("preparing"))
    _add_rows(parser.add_argument_group("rows as candidates"))


def _add_reading(reading: argparse._ArgumentGroup) -> None:
    reading.add_argument(
        "--columns",
        metavar="NAMES",
        type=listed,
        default=(),
        help="read only these, by name or by number from 0: a,b,'c,d'",
    )
    reading.add_argument(
        "--drop",
        metavar="NAMES",
        type=listed,
        default=(),
        help="leave these out",
    )
    reading.add_argument(
        "--id",
        metavar="COLUMN",
        help="the names of the rows: printed and written, and never a candidate",
    )
    reading.add_argument(
        "--target",
        metavar="COLUMN",
        help="never a candidate, but written; --method supervised uses it",
    )
    reading.add_argument(
        "--numeric-only",
        action="store_true",
        help="leave out columns that hold text or dates, instead of refusing them",
    )
    reading.add_argument("--format", help="the format, if the ending of the name does not say it")
    reading.add_argument(
        "--header",
        choices=("auto", "yes", "no"),
        default="auto",
        help="whether the first line of text holds names (default auto)",
    )
    reading.add_argument(
        "--delimiter",
        metavar="SIGN",
        help="between the cells of text: , ; tab or | (default: detected)",
    )
    reading.add_argument(
        "--decimal", choices=(".", ","), help="the decimal sign of text (default: detected)"
    )
    reading.add_argument("--encoding", help="of text (default: UTF-8, else Latin-1)")
    reading.add_argument(
        "--array",
        metavar="NAME",
        help="which array of an npz or Zarr file, layer of an h5ad file, or sheet of an xlsx file",
    )
    reading.add_argument(
        "--max-bytes",
        metavar="SIZE",
        type=size,
        default=2**30,
        help="refuse files that would take more memory (default 1G)",
    )


def _add_preparing(preparing: argparse._ArgumentGroup) -> None:
    preparing.add_argument(
        "--standardize",
        action="store_true",
        help="short for --center --scale: give every column mean 0 and variance 1",
    )
    preparing.add_argument("--center", action="store_true", help="give every column mean 0")
    preparing.add_argument(
        "--scale",
        action=argparse.BooleanOptionalAction,
        help="divide every column by its standard deviation; --no-scale: do not, and do not warn",
    )
    preparing.add_argument(
        "--missing",
        choices=("error", "drop", "impute", "pairwise"),
        default="error",
        help="missing values: refuse them (default), leave out the rows that have one, fill in the "
        "mean of the column, or use every pair of known values",
    )


def _add_rows(kernels: argparse._ArgumentGroup) -> None:
    kernels.add_argument(
        "--rows", action="store_true", help="choose rows that best represent all rows"
    )
    kernels.add_argument(
        "--kernel", choices=KERNELS, help="choose rows as landmarks of this kernel"
    )
    kernels.add_argument(
        "--sigma",
        metavar="WIDTH",
        type=width,
        default="median",
        help="width of the kernel (default: the median distance of some rows)",
    )
    kernels.add_argument(
        "--nu",
        type=float,
        default=1.5,
        help="smoothness of the Matérn kernel: 0.5, 1.5 or 2.5 (default 1.5)",
    )
    kernels.add_argument(
        "--degree", type=int, default=3, help="of the polynomial kernel (default 3)"
    )
