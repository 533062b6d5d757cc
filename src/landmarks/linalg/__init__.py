"""Linear algebra with K and K̂: factors, errors, reconstructions, solvers."""
