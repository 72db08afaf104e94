"""How sure a number is: estimates with their errors, significance, scores of encodings, and their differences."""
