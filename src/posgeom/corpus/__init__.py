"""Corpora: find and read documents, tokenise, count by fold, position and token."""
