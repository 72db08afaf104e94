"""Geometry: distances between positions, plug-in and cross-validated, and their classical MDS."""
