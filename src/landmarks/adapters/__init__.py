"""Landmarks in the places where other libraries choose: one file per library.

`landmarks.adapters.pysensors` has an optimizer for `pysensors.SSPOR`, `landmarks.adapters.botorch`
allocators of inducing points. Each file imports its library only when it is imported.
"""
