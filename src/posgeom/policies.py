"""The choices that no estimator makes for itself, each once, with its reason. None was tuned on simulated corpora."""

LEVEL = 0.95
"""Of intervals: what readers expect."""
ALPHA = 0.05
"""Level of the test of each axis: what readers expect."""
MAX_FOLD_GROUPS = 20
"""More folds than this are put together in groups: products of small folds resolve fewer tokens, and the cost grows
with the square of their number, while an interval from 19 degrees of freedom is hardly wider than one from many."""
FEWEST_TO_TEST = 6
"""Groups of folds that the test of structure needs: with five, no p-value is below 1/16."""
ENOUGH_FOLDS = 4
"""Groups of folds that have two disjoint pairs, as the norm of a geometry needs; with fewer there are no errors."""
SHALLOW_GROUP = 20
"""Sequences of a group below which groups are put together in pairs, as long as `FEWEST_TO_TEST` remain: in so few
sequences most tokens are not seen."""
SHARE_OF_DEEPEST, ENOUGH_DEPTH = 0.05, 100
"""Default minimum depth of a position, of which the larger counts: all positions are rarefied to the shallowest one, so
a rare far position would cost all others their precision."""
MAX_SIGN_PATTERNS = 512
"""Patterns of signs tried at most: all that ten groups of folds have. With more groups they are drawn by the seed."""
FULL_DEPTH_SPLITS = 6
"""Splits into halves that the distance at full depth is a mean over."""
HELD_OUT_SPLITS = 2
"""Splits into halves for what is fitted on one half and scored on the other; each counts in both directions."""
MAX_REFITTED_POSITIONS = 1024
"""Positions up to which what is fitted has intervals: each takes dozens of fits, whose cost grows with the cube."""
