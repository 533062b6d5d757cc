"""Products in float32 where their leading digits are enough.

A search works in float64 (`represent`). On a graphics card a product of float64 points costs 4 to
13 times that of the same points in float32, whose relative error is below 1e-5. That is enough for
the scores of probes, which are far noisier, and for gains that differ by more. Who uses such
products keeps account of their error, and goes over to float64 where it could show.
"""

from __future__ import annotations

from .._array import Array, as_single, double, is_single, root_mean_square
from ..operators.base import Operator

WIDENED = "float64: rounding in float32 could hide gains"
ROUGH = "float64, {rough} of {products} products in float32, whose error is accounted for"


def leading_digits(operator: Operator, block: Array) -> tuple[Array, float]:
    """K @ block, in float32 if that is far cheaper, and how far an entry may be off.

    The second is the error relative to the norm of the product, spread evenly over its entries.
    """
    rough = operator.rough
    if rough is None:
        product, error = operator.matmul(block), operator.product_error
    else:
        product, error = double(rough.matmul(as_single(block))), rough.product_error
        operator.ledger.rough += block.shape[1]
    return product, error * root_mean_square(product)


def precision_used(operator: Operator, used: dict[str, int]) -> str:
    """The precision of a search and the reason, from the counts of the ledger."""
    if used.get("rough", 0):
        return ROUGH.format_map(used)
    if operator.widened or used.get("widened", 0):
        return WIDENED
    return "float32: as the data" if is_single(operator.like) else "float64"
