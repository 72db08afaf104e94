"""Encodings inside models: torch modules, and training watched and redone."""
