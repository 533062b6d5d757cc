"""Columns centred, scaled, weighted and imputed before the choice."""
