"""Encodings built from a corpus, to be put into a model."""
