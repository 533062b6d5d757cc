"""Products in float32 where that accuracy is enough.

A search works in float64. On a graphics card a product of float64 points costs 4 to 13 times that
of the same points in float32, whose relative error is below 1e-5. That is enough for scores from
random probes, which are far noisier, and for gains that differ by more. Code that uses such
products keeps track of their error, and switches to float64 if the error could matter.
"""

from __future__ import annotations

from .._array import Array, as_single, double, root_mean_square
from ..operators.base import Operator, in_single


def leading_digits(operator: Operator, block: Array) -> tuple[Array, float]:
    """K @ block, in float32 if that is far cheaper, and how far an entry may be off.

    The second is the error relative to the norm of the product, spread evenly over its entries.
    """
    rough = in_single(operator)
    if rough is None:
        product, error = operator.matmul(block), operator.product_error
    else:
        product, error = double(rough.matmul(as_single(block))), rough.product_error
        operator.ledger.in_single += block.shape[1]
    return product, error * root_mean_square(product)
