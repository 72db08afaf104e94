from posgeom import plots
from posgeom.analysis import CONVENTIONS, DEFAULT_ENCODINGS, analyze
from posgeom.counts.bins import Bins
from posgeom.counts.counting import count, count_texts
from posgeom.counts.leaks import SharedShingles, shared_shingles
from posgeom.counts.position_counts import PositionCounts
from posgeom.counts.storage import read_counts
from posgeom.counts.token_ids import count_ids
from posgeom.encodings.alibi import alibi, alibi_slopes
from posgeom.encodings.base import Encoding, LagEncoding, PointEncoding
from posgeom.encodings.bias import Bias
from posgeom.encodings.bias_encoding import BiasEncoding
from posgeom.encodings.fire import fire
from posgeom.encodings.fourier import fourier
from posgeom.encodings.kerple import kerple
from posgeom.encodings.learned import learned, learned_table
from posgeom.encodings.line import brownian, line
from posgeom.encodings.mds import mds
from posgeom.encodings.nope import nope
from posgeom.encodings.random import random
from posgeom.encodings.registry import build_encoding, register
from posgeom.encodings.rope import rope
from posgeom.encodings.rope_config import read_rope_config, rope_from_config
from posgeom.encodings.rotary_scaling import DynamicNTK, Linear, Llama3, LongRope, Proportional, Scaling, Yarn
from posgeom.encodings.rotation import Rotation
from posgeom.encodings.sandwich import sandwich
from posgeom.encodings.sinusoidal import sinusoidal
from posgeom.encodings.t5 import t5, t5_buckets
from posgeom.encodings.tables import load_matrix
from posgeom.encodings.warps import LogWarp, PowerWarp, ReciprocalWarp, TableWarp, Warp
from posgeom.encodings.xpos import xpos
from posgeom.errors import (
    CheckpointError,
    CorpusError,
    CountsError,
    EncodingError,
    GeometryError,
    OutputError,
    PosgeomError,
    RunError,
    TokenizerError,
)
from posgeom.estimation.build import Geometry, geometry
from posgeom.estimation.distance_matrix import DistanceMatrix
from posgeom.estimation.given import geometry_of
from posgeom.estimation.leading_axes import LeadingAxes, leading_axes
from posgeom.estimation.mds import MDS, Spectrum, classical_mds
from posgeom.estimation.metrics import METRICS, distribution_distances
from posgeom.fitting import fit_encoding
from posgeom.inference.comparison import Difference
from posgeom.inference.depth_curve import DepthCurve, DepthPoint, depth_curve
from posgeom.inference.encoding_scores import EncodingScores
from posgeom.inference.jackknife import Estimate, Interval, jackknife
from posgeom.inference.left_out import LeftOut, leave_out_first
from posgeom.inference.mean_distance import mean_squared_distance, noise_share
from posgeom.inference.null_corpora import OrderBeyondLengths, order_beyond_lengths
from posgeom.inference.sampled_scores import SampledScores, sampled_scores
from posgeom.inference.scorecard import Scorecard, score, scorecard
from posgeom.inference.scoring import alignment, stress
from posgeom.inference.significance import Axis, Significance, significance
from posgeom.inference.token_effects import TokenEffect, TokenEffects, token_effects
from posgeom.inference.warp import FittedWarp, WarpFit, fit_warp
from posgeom.models.by_hand import ByHand
from posgeom.models.family import Family
from posgeom.models.inspection import Inspection, inspect_model
from posgeom.models.layers import LayerAnalysis, layer_scores
from posgeom.models.model import Model, open_model
from posgeom.models.order import OrderSensitivity, order_sensitivity
from posgeom.models.position_rows import positions_of_mask
from posgeom.models.registry import register_family
from posgeom.options import ReadOptions
from posgeom.report.document import to_document
from posgeom.report.files import save, save_counts
from posgeom.report.tensors import export
from posgeom.results import Analysis
from posgeom.scores.effective_rank import effective_rank
from posgeom.scores.monotonicity import Monotonicity, monotonicity
from posgeom.scores.separation import Separation, minimum_separation
from posgeom.scores.stress import Stress
from posgeom.simulation.standard_library import demo_texts
from posgeom.tokenize.tokenizer_files import load_tokenizer
from posgeom.tokenize.tokenizers import Tokenizer, TokenizerIdentity

__version__: str

__all__ = [
    "CONVENTIONS",
    "DEFAULT_ENCODINGS",
    "MDS",
    "METRICS",
    "Analysis",
    "Axis",
    "Bias",
    "BiasEncoding",
    "Bins",
    "ByHand",
    "CheckpointError",
    "CorpusError",
    "CountsError",
    "DepthCurve",
    "DepthPoint",
    "Difference",
    "DistanceMatrix",
    "DynamicNTK",
    "Encoding",
    "EncodingError",
    "EncodingScores",
    "Estimate",
    "Family",
    "FittedWarp",
    "Geometry",
    "GeometryError",
    "Inspection",
    "Interval",
    "LagEncoding",
    "LayerAnalysis",
    "LeadingAxes",
    "LeftOut",
    "Linear",
    "Llama3",
    "LogWarp",
    "LongRope",
    "Model",
    "Monotonicity",
    "OrderBeyondLengths",
    "OrderSensitivity",
    "OutputError",
    "PointEncoding",
    "PosgeomError",
    "PositionCounts",
    "PowerWarp",
    "Proportional",
    "ReadOptions",
    "ReciprocalWarp",
    "Rotation",
    "RunError",
    "SampledScores",
    "Scaling",
    "Scorecard",
    "Separation",
    "SharedShingles",
    "Significance",
    "Spectrum",
    "Stress",
    "TableWarp",
    "TokenEffect",
    "TokenEffects",
    "Tokenizer",
    "TokenizerError",
    "TokenizerIdentity",
    "Warp",
    "WarpFit",
    "Yarn",
    "alibi",
    "alibi_slopes",
    "alignment",
    "analyze",
    "brownian",
    "build_encoding",
    "classical_mds",
    "count",
    "count_ids",
    "count_texts",
    "demo_texts",
    "depth_curve",
    "distribution_distances",
    "effective_rank",
    "export",
    "fire",
    "fit_encoding",
    "fit_warp",
    "fourier",
    "geometry",
    "geometry_of",
    "inspect_model",
    "jackknife",
    "kerple",
    "layer_scores",
    "leading_axes",
    "learned",
    "learned_table",
    "leave_out_first",
    "line",
    "load_matrix",
    "load_tokenizer",
    "mds",
    "mean_squared_distance",
    "minimum_separation",
    "monotonicity",
    "noise_share",
    "nope",
    "open_model",
    "order_beyond_lengths",
    "order_sensitivity",
    "plots",
    "positions_of_mask",
    "random",
    "read_counts",
    "read_rope_config",
    "register",
    "register_family",
    "rope",
    "rope_from_config",
    "sampled_scores",
    "sandwich",
    "save",
    "save_counts",
    "score",
    "scorecard",
    "shared_shingles",
    "significance",
    "sinusoidal",
    "stress",
    "t5",
    "t5_buckets",
    "to_document",
    "token_effects",
    "xpos",
]
