"""Corpora of known truth, and how the estimates do on them."""
