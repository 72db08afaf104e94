"""posgeom: the geometry of positions in a corpus, and positional encodings scored against it.

It estimates how the token distributions of sequence positions lie to each other, telling signal from sampling
noise, and says how faithfully an encoding reproduces that geometry. Importing it loads neither torch nor a
plotting library.

`posgeom.geometry` is the function that estimates a geometry; what else is in the package of that name is imported
as in ``from posgeom.geometry.mds import classical_mds``.
"""

from importlib.metadata import version

from posgeom.analysis import CONVENTIONS, DEFAULT_ENCODINGS, Analysis, analyze
from posgeom.corpus.counting import count, count_texts
from posgeom.corpus.counts import PositionCounts
from posgeom.corpus.documents import ReadOptions
from posgeom.corpus.storage import read_counts
from posgeom.corpus.tokenizer_files import load_tokenizer
from posgeom.corpus.tokenizers import Tokenizer, TokenizerIdentity
from posgeom.encodings.alibi import alibi, alibi_slopes
from posgeom.encodings.base import Encoding, LagEncoding, PointEncoding
from posgeom.encodings.learned import learned, load_matrix
from posgeom.encodings.mds import mds
from posgeom.encodings.random import random
from posgeom.encodings.registry import build_encoding
from posgeom.encodings.rope import rope
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.errors import (
    CorpusError,
    CountsError,
    EncodingError,
    GeometryError,
    OutputError,
    PosgeomError,
    TokenizerError,
)
from posgeom.geometry.build import Geometry, geometry
from posgeom.geometry.distance_matrix import DistanceMatrix
from posgeom.geometry.mds import MDS, Spectrum, classical_mds
from posgeom.geometry.metrics import METRICS, distribution_distances
from posgeom.report.document import to_document
from posgeom.report.files import save, save_counts
from posgeom.scores.effective_rank import effective_rank
from posgeom.scores.monotonicity import Monotonicity, monotonicity
from posgeom.scores.scorecard import EncodingScores, Scorecard, score, scorecard
from posgeom.scores.separation import Separation, minimum_separation
from posgeom.scores.stress import Stress, stress

__version__ = version("posgeom")

__all__ = [
    "CONVENTIONS",
    "DEFAULT_ENCODINGS",
    "MDS",
    "METRICS",
    "Analysis",
    "CorpusError",
    "CountsError",
    "DistanceMatrix",
    "Encoding",
    "EncodingError",
    "EncodingScores",
    "Geometry",
    "GeometryError",
    "LagEncoding",
    "Monotonicity",
    "OutputError",
    "PointEncoding",
    "PosgeomError",
    "PositionCounts",
    "ReadOptions",
    "Scorecard",
    "Separation",
    "Spectrum",
    "Stress",
    "Tokenizer",
    "TokenizerError",
    "TokenizerIdentity",
    "alibi",
    "alibi_slopes",
    "analyze",
    "build_encoding",
    "classical_mds",
    "count",
    "count_texts",
    "distribution_distances",
    "effective_rank",
    "geometry",
    "learned",
    "load_matrix",
    "load_tokenizer",
    "mds",
    "minimum_separation",
    "monotonicity",
    "random",
    "read_counts",
    "rope",
    "save",
    "save_counts",
    "score",
    "scorecard",
    "sinusoidal",
    "stress",
    "to_document",
]
