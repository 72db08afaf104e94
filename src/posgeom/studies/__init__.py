"""Corpora with known structure, for demonstrations, tests and studies."""
