"""Estimators for scikit-learn: a column selector, a Nyström feature map, held-out errors."""
