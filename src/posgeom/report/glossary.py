"""The terms of a page, explained."""

GLOSSARY = (
    (
        "alignment",
        (
            "The cosine between the geometry of an encoding and that of the corpus, whatever their scales: 1 is the "
            "same geometry, near 0 nothing of it."
        ),
    ),
    ("encoding", "The vectors that tell a Transformer which position a token has."),
    (
        "fitted to the corpus",
        (
            "Made from the distances of this corpus, such as MDS. Where it can be, such an encoding is "
            "scored on documents that it was not fitted to."
        ),
    ),
    ("random", "A table of random vectors, which knows nothing of order: the line that others are held against."),
    (
        "distance between positions",
        (
            "How much the tokens seen at one position differ from those seen at another. Hellinger "
            "distances run from 0 to the root of 2."
        ),
    ),
    ("plug-in", "The distance between the frequencies as they were counted. Sampling noise makes it too large."),
    (
        "cross-validated",
        "The part of a squared distance that different parts of the corpus agree on: noise cancels on average.",
    ),
    ("half against half", "What the distances of one half of the corpus score against the other half."),
    ("depth", "The number of documents that reach a position."),
    (
        "samples of K documents",
        "Positions are compared at one depth K, since rare tokens are missed where there is less text.",
    ),
    (
        "interval",
        (
            "The range that holds the true number in the stated share of repetitions, from leaving out each part of "
            "the corpus in turn (jackknife)."
        ),
    ),
    ("simultaneous", "Intervals that hold all at once, in spite of how many comparisons are made (Bonferroni)."),
    ("tie", "Two encodings are not told apart when the interval of their difference holds 0."),
    ("MDS", "Classical multidimensional scaling: points whose distances are nearest to the given ones."),
    (
        "axis, eigenvalue, inertia",
        (
            "The geometry is a cloud of points; its axes are its directions of largest extent, an "
            "eigenvalue is the squared extent along one, and the inertia is their sum."
        ),
    ),
    (
        "stress",
        (
            "The squared error of the distances of an encoding, relative to those of the corpus: lower is more "
            "faithful. Scaled: at the best scale of the encoding."
        ),
    ),
    ("Pearson, Spearman", "Correlations of the distances of an encoding with those of the corpus."),
    ("violations", "How often a position that is further away in the sequence has the nearer point."),
    ("effective rank", "How many axes an encoding spreads over."),
)
