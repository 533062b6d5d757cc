"""The paper's relaxation: the algorithm, the gradients it needs, and strategies that reach k."""
