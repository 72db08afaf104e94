"""Ways to get the ids that the `tokenizers` library would give, faster than it gives them."""
