"""Results as documents, tables and files; nothing here computes a score."""
