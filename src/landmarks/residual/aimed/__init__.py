"""Targets and noise: candidates and target as explicit columns, their residuals, and bounds."""
