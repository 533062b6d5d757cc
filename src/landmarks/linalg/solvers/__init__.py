"""Ways to solve with the system L_t: Cholesky, Woodbury, block conjugate gradients."""
