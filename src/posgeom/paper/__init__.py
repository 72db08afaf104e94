"""The paper's tables and figures that need no training, one a file, beside the paper's own numbers."""
