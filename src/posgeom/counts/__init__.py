"""Token counts by fold and position: made, added up, kept on disk, and what tells whether folds are independent."""
