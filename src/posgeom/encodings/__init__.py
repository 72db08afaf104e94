"""Positional encodings: one scheme a file behind one contract, and a registry that builds them by name."""
