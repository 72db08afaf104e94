"""``posgeom export``: what a model would use of an encoding, as a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Unpack

import typer

from posgeom.analysis import CONVENTIONS
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars
from posgeom.cli.count import merged_counts
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.checks import check_width
from posgeom.encodings.registry import build_encoding, check_spec
from posgeom.encodings.tensors import tensors_of
from posgeom.errors import CountsError, EncodingError
from posgeom.estimation.build import Geometry, geometry
from posgeom.messages import printable, shown
from posgeom.options import DEFAULT_N_DIMS, DEFAULT_N_POSITIONS, RangeOptions
from posgeom.report.files import staged_file
from posgeom.report.tensors import check_target, write_tensors

EPILOG = """Examples:

posgeom export sinusoidal -n 512 -d 768 -o table.npy

posgeom export rope:base=500000,pairing=halves,scaling=llama3,factor=32 -n 4096 -d 128 -o angles.safetensors

posgeom export alibi:heads=12 -n 2048 --what bias-matrix --dtype bfloat16 -o bias.safetensors

posgeom export mds:rank=8,missing=linear --counts counts.parquet -d 768 -o mds.safetensors

`posgeom encodings` lists what can be exported; a .safetensors file says in its metadata what its arrays mean."""


@o.takes(RangeOptions)
def command(
    spec: Annotated[str, typer.Argument(metavar="NAME[:OPTION=VALUE,...]", help="Encoding, or a matrix file.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="File to write: .safetensors, or .npy for one array.")
    ],
    n_positions: Annotated[
        int | None,
        o.n_positions_option(f"Positions. Default: {DEFAULT_N_POSITIONS}; those of the counts where there are any."),
    ] = None,
    n_dims: Annotated[
        int,
        typer.Option(
            "-d", "--n-dims", metavar="DIMS", help="Width of the encodings that have one; of a head, if rotary."
        ),
    ] = DEFAULT_N_DIMS,
    what: Annotated[
        Literal["table", "angles", "bias", "bias-matrix"] | None,
        typer.Option(
            "--what",
            help="Vectors by position; cosines and sines; biases by head and lag; or by head, query and key. Default: "
            "angles if rotary, bias if relative, else table.",
        ),
    ] = None,
    dtype: Annotated[
        Literal["float64", "float32", "float16", "bfloat16"],
        typer.Option(
            "--dtype",
            metavar="TYPE",
            help="float64, float32, float16 or bfloat16: what the float64 numbers are rounded to.",
        ),
    ] = "float32",
    counts: o.CountsOption = None,
    bins: o.BinsOption = None,
    convention: Annotated[
        Literal["sound", "paper"],
        typer.Option(
            "--convention", metavar="NAME", help="sound or paper: how the geometry of the counts is estimated."
        ),
    ] = "sound",
    metric: o.MetricOption = "hellinger",
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of splits and random encodings.")] = 0,
    quiet: o.QuietOption = False,
    **options: Unpack[RangeOptions],
) -> None:
    """Write an encoding's table, angles or biases to a file, with what they mean."""
    check_target(output, dtype)
    for name in ("bins", *options):
        if not counts and (name != "bins" or bins is not None):
            raise CountsError(f"got --{name} without --counts: there are no counts of positions to choose from")
    check_width(n_dims)
    length = DEFAULT_N_POSITIONS if n_positions is None else n_positions
    if not counts:
        check_spec(spec, n_positions=length, n_dims=n_dims)
    # Entered first, so that an output that cannot be written is known before the work is done.
    with staged_file(output) as stage:
        shape = None
        if counts:
            policy = {"metric": metric, "seed": seed, **CONVENTIONS[convention], **options}
            shape = _geometry(merged_counts(counts), bins, policy, quiet=quiet)
            length = shape.n_positions if n_positions is None else n_positions
        try:
            encoding = build_encoding(spec, n_positions=length, n_dims=n_dims, geometry=shape, seed=seed)
        except EncodingError as error:
            way_out = ": --counts FILE, from `posgeom count`" if "corpus geometry" in str(error) and not counts else ""
            raise EncodingError(f"{error}{way_out}") from None
        tensors = tensors_of(encoding, what)
        if shape is not None:
            tensors.metadata["fitted_to"] = {
                "metric": shape.metric.name,
                "estimator": shape.estimator,
                "convention": convention,
                "seed": seed,
            }
            if shape.selection.bins is not None:
                tensors.metadata["fitted_to"]["bin_edges"] = list(shape.selection.bins.edges)
        write_tensors(tensors, stage, output, dtype)
    arrays = ", ".join(f"{name} {tuple(array.shape)}" for name, array in tensors.arrays.items())
    typer.echo(f"{shown(output)}: {tensors.what} of {printable(spec)}, {arrays}, {dtype}")


def _geometry(stored: PositionCounts, bins: str | None, policy: Mapping[str, Any], *, quiet: bool) -> Geometry:
    if stored.n_positions < 2:
        raise CountsError(f"counts of n = {stored.n_positions} positions have no geometry: expected at least 2")
    stored = stored if bins is None else stored.binned(bins)
    with progress_bars(quiet=quiet) as progress:
        return geometry(stored, progress=progress, **policy)
