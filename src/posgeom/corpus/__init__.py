"""Corpora: find documents, and read them in batches."""
