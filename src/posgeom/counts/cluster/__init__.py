"""Counting on a Dask cluster: partitions in, the same `PositionCounts` out, resumable after any death."""
