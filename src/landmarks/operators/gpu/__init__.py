"""Kernel products on a graphics card."""
