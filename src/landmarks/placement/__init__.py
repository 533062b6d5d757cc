"""Where landmarks may lie: minimum distances, regions, zones, and how to satisfy them together."""
