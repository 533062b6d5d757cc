"""Landmarks inside other libraries: one file per library.

`landmarks.adapters.pysensors` has an optimizer for `pysensors.SSPOR`, and
`landmarks.adapters.botorch` has allocators of inducing points, and `landmarks.adapters.anndata`
marks chosen genes as scanpy does. Each file imports its library only
when it is imported.
"""
