"""The same arithmetic as `residual.exchange` and `residual.pairs`, compiled, for a stored K."""
