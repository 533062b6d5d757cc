"""What one does with K and K̂: factors, errors, reconstructions, solvers."""
