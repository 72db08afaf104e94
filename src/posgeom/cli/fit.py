"""``posgeom fit``: an encoding built from a corpus, as a table and as its low-rank factors."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from posgeom.analysis import counts_of, geometry_by
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.stored import corpus_or_counts
from posgeom.encodings.checks import check_width
from posgeom.encodings.tensors import tensors_of
from posgeom.errors import CountsError, EncodingError
from posgeom.fitting import fit_encoding
from posgeom.messages import short_names, shown, shown_list
from posgeom.options import DEFAULT_N_DIMS, DEFAULT_N_POSITIONS, CountOptions, GeometryOptions, ReadOptions
from posgeom.policies import LEVEL
from posgeom.report.files import staged_file
from posgeom.report.tensors import check_target, write_tensors

EPILOG = """Examples:

posgeom fit reviews.parquet -t bert-base-uncased -n 512 -d 768 -o mds.safetensors

posgeom fit --counts counts.parquet -d 768 --rank 4 --rows unit -o mds.safetensors

posgeom fit genes.fasta -n 60 -d 128 --json -o mds.safetensors

The file has the tensors table (n x d), coordinates (n x r) and axes (d x r), with table = coordinates axes^T, and says
how they were made in its metadata. A faithful geometry is not a better model."""

_WAYS = {
    "fitted": "fitted",
    "gower": "of few sequences, placed by Gower's formula",
    "interpolated": "without data, interpolated",
    "nearest": "without data, with the row of the nearest position",
}


@o.takes(ReadOptions, CountOptions, GeometryOptions)
def command(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The .safetensors file to write.")],
    corpus: o.CorpusArgument = None,
    counts: o.CountsOption = None,
    tokenizer: o.TokenizerOption = None,
    n_positions: Annotated[
        int | None,
        o.n_positions_option(
            f"Rows; those beyond the corpus are extrapolated. Default: {DEFAULT_N_POSITIONS}, or the counts' own."
        ),
    ] = None,
    n_dims: Annotated[int, typer.Option("-d", "--n-dims", metavar="DIMS", help="Width of the model.")] = DEFAULT_N_DIMS,
    rank: Annotated[
        str, typer.Option("--rank", metavar="R", help="Axes to keep; auto: those that are more than noise.")
    ] = "auto",
    rows: Annotated[
        Literal["as-is", "unit"],
        typer.Option("--rows", metavar="HOW", help="as-is, or unit: each row scaled to norm 1."),
    ] = "as-is",
    dtype: Annotated[
        Literal["float64", "float32", "float16", "bfloat16"],
        typer.Option("--dtype", metavar="TYPE", help="float64, float32, float16 or bfloat16, for the numbers."),
    ] = "float32",
    level: Annotated[float, typer.Option("--level", metavar="P", help="Level of the interval.")] = LEVEL,
    as_json: o.JsonOption = False,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
    **options: Any,
) -> None:
    """Build an encoding from a corpus: classical MDS of its geometry, in a model's width and as low-rank factors."""
    source, seed = corpus_or_counts(corpus, counts), options.get("seed", 0)
    chosen = _parse_rank(rank)
    check_target(output, dtype)
    if output.suffix != ".safetensors":
        raise EncodingError(f"cannot write {shown(output)}: the table and its factors need a .safetensors file")
    check_width(n_dims)
    if not counts and n_positions is not None:
        options["n_positions"] = n_positions
    # Entered first, so that an output that cannot be written is known before the work is done.
    with staged_file(output) as stage:
        with progress_bars(quiet=quiet, verbose=verbose) as progress:
            stored = counts_of(source, tokenizer, options, progress)
            if stored.n_positions < 2:
                raise CountsError(f"n = {stored.n_positions} position has no geometry: expected at least 2")
            shape = geometry_by(options, stored, seed=seed, progress=progress)
            encoding = fit_encoding(
                shape, n_dims, chosen, rows, n_positions, counts=stored, level=level, seed=seed, progress=progress
            )
        tensors = tensors_of(encoding, "table")
        write_tensors(tensors, stage, output, dtype)
    if as_json:
        typer.echo(json.dumps(tensors.metadata, indent=1, allow_nan=False))
        return
    _show(encoding.fit, output, encoding.n_positions, n_dims, stdout_console())


def _parse_rank(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    if not text.isascii() or not text.isdigit():
        raise EncodingError(f"--rank {shown(text, 40)}: expected auto or a whole number")
    return int(text)


def _show(fit: Mapping[str, Any], output: Path, n: int, d: int, console: Console) -> None:
    rank, parameters, file = fit["rank"], fit["parameters"], shown(output)
    depth = "" if fit["depth"] is None else f", of samples of {fit['depth']:,} documents a fold"
    lines = [
        (file, f"table {n} x {d} = coordinates {n} x {rank} times axes {d} x {rank}, rows {fit['rows']}"),
        ("corpus", f"{shown_list(short_names(fit['corpus']['sources']), 3)}, {fit['corpus']['documents']:,} documents"),
        ("tokenizer", shown(fit["tokenizer"]["name"], 60)),
        ("geometry", f"{fit['metric']}, {fit['estimator']}{depth}"),
        ("rank", _rank_text(fit)),
        ("explained", _explained_text(fit["explained"])),
        ("parameters", f"{parameters['factors']:,} as factors, r (n + d); {parameters['table']:,} as a table, n d"),
    ]
    lines += [
        ("positions" if way == "fitted" else "", f"{_ranges(runs)} {_WAYS[way]}")
        for way, runs in fit["positions"].items()
        if runs
    ]
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        console.print(f"{name:<{width}}  {text}", soft_wrap=True)
    console.print("\nA faithful geometry is not a better model. Next:", soft_wrap=True)
    console.print(f"  posgeom.training.apply_encoding(model, {file})", soft_wrap=True)
    console.print(f"  posgeom analyze OTHER_CORPUS --encoding {output}", soft_wrap=True)


def _rank_text(fit: Mapping[str, Any]) -> str:
    tested = fit["significance"]
    if tested is None:
        return f"{fit['rank']}, given; the axes were not tested against noise"
    values = ", ".join(f"{p:.3g}" for p in tested["p_values"])
    origin = "significant" if fit["rank_chosen"] == "auto" else f"given; {tested['rank']} are significant"
    return (
        f"{fit['rank']}, {origin}: p = {values} at level {tested['alpha']:g}, {tested['n_patterns']} patterns of signs"
    )


def _explained_text(share: Mapping[str, Any]) -> str:
    if share["value"] is None:
        return f"undefined: {share['undefined']}"
    interval = "" if share["low"] is None else f" ({100 * share['low']:.1f} to {100 * share['high']:.1f})"
    where = f"on folds it was not fitted to, {share['n_folds']} folds" if share["out_of_sample"] else "in sample"
    return f"{100 * share['value']:.1f} %{interval} of |B|^2, {where}"


def _ranges(runs: list[list[int]]) -> str:
    listed = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs[:6])
    return listed if len(runs) <= 6 else f"{listed} and {len(runs) - 6} more runs"
