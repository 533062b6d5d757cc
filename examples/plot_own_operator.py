"""
Your own operator
=================

The matrix may exist only as a product: a Hessian, a covariance given by a simulation, a kernel in
your own library. A function that multiplies the matrix by a block of vectors is enough.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.linalg import LinearOperator

import landmarks as lm

# %%
# The covariance of a random walk over 300 steps is multiplied by cumulative sums and never
# formed.

n = 300


def multiply(block):
    """K V for K_ij = min(i, j) + 1: sums from the right, then from the left."""
    return np.cumsum(np.cumsum(block[::-1], axis=0)[::-1], axis=0)


operator = lm.function(multiply, n=n)
selection = lm.select(operator, 6)
print(sorted(selection.indices.tolist()), selection.ledger)

# %%
# Seen at these steps only, a walk is known best at all others.

walk = np.cumsum(np.random.default_rng(0).standard_normal(n))
figure, ax = plt.subplots(figsize=(6, 3))
ax.plot(walk)
ax.plot(selection.indices, walk[selection.indices], "o")
ax.set(xlabel="step", ylabel="walk")
figure.tight_layout()

# %%
# The symmetry of the product and the dtype and shape of its results are checked; a wrong product
# raises an error.

try:
    lm.select(lm.function(lambda V: np.cumsum(V, axis=0), n=n), 6)
except ValueError as error:
    print(error)

# %%
# A SciPy LinearOperator works too.

same = lm.select(
    LinearOperator(
        (n, n), matmat=multiply, matvec=lambda v: multiply(v.reshape(-1, 1))[:, 0], dtype=float
    ),
    6,
)
print(set(same.indices.tolist()) == set(selection.indices.tolist()))

# %%
# Give the diagonal if you know it: this saves n products in the methods that use it.

known = lm.function(multiply, n=n, diagonal=np.arange(1.0, n + 1))
print(lm.select(known, 6, method="nuclear").ledger.products, "products")
