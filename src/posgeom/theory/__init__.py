"""The theorems of the paper, checked on a corpus and on a model of one's own."""
