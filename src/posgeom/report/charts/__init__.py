"""Charts: one file each, from plain numbers to one Vega-Lite spec and the table of data behind it."""
