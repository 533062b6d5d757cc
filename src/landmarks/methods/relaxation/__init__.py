"""The paper's continuous relaxation."""
