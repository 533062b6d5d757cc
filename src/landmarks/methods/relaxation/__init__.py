"""The paper's relaxation: `algorithm_1` is the algorithm, `gradients` its lemmas, the rest serves it."""
