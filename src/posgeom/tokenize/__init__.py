"""Tokenizers: texts in, content tokens with their sequence positions out, by the fastest way that is exact."""
