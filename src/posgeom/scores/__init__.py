"""Scores of encodings against a geometry, one a file, and the scorecard that gathers them."""
