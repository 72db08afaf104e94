"""posgeom."""
