"""``posgeom axes``: the leading axes of a corpus of any context length."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Unpack

import numpy as np
import typer

from posgeom.analysis import axes_by, counts_of
from posgeom.cli import options as o
from posgeom.cli.console import progress_bars, stdout_console
from posgeom.cli.stored import corpus_or_counts
from posgeom.counts.position_counts import PositionCounts
from posgeom.encodings.base import Encoding
from posgeom.encodings.registry import build_encoding, check_spec
from posgeom.encodings.tensors import Tensors
from posgeom.errors import OutputError, PosgeomError
from posgeom.estimation.leading_axes import LeadingAxes
from posgeom.inference.large_alignment import MAX_EXACT, large_alignment
from posgeom.inference.sampled_scores import N_PAIRS, sampled_scores
from posgeom.messages import shown
from posgeom.options import DEFAULT_N_DIMS, AnalyzeOptions, CountOptions, GeometryOptions, ReadOptions
from posgeom.progress import ProgressHook
from posgeom.report.files import staged_file
from posgeom.report.tensors import check_target, write_tensors
from posgeom.report.terminal import print_paragraph, print_table
from posgeom.tables import Cell, Column, Table, cell, percent

EPILOG = """Examples:

posgeom axes books.parquet -t bert-base-uncased -n 32768 -k 64 -o mds.safetensors

posgeom axes --counts counts.parquet -k 16 --score sinusoidal --score alibi --json"""
_SHOWN = 10
_SCORES = {
    "alignment": "alignment",
    "stress_scaled": "scaled stress",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "violation_rate": "violations",
}


@o.takes(ReadOptions, CountOptions, GeometryOptions)
def command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    n_axes: Annotated[int, typer.Option("-k", "--axes", metavar="K", help="Leading axes.")] = 64,
    score: Annotated[
        list[str] | None,
        typer.Option("--score", metavar="NAME[:OPTION=VALUE,...]", help="An encoding to score; may be repeated."),
    ] = None,
    width: Annotated[
        int, typer.Option("-d", "--n-dims", metavar="DIMS", help="Width of these encodings.")
    ] = DEFAULT_N_DIMS,
    n_pairs: Annotated[
        int,
        typer.Option(
            "--pairs",
            metavar="K",
            help=f"Pairs and triples that stress, correlations and violations are drawn from beyond {MAX_EXACT:,} "
            "positions.",
        ),
    ] = N_PAIRS,
    memory: Annotated[
        float | None,
        typer.Option("--memory", metavar="GB", help="What may be used; more is refused. Default: all of it."),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            metavar="NAME",
            help="Where to multiply: cuda, cuda:1 or another device of PyTorch, or cpu. Default: a GPU where there are "
            "one and torch.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write coordinates: .safetensors, or .npy.")
    ] = None,
    as_json: o.JsonOption = False,
    quiet: o.QuietOption = False,
    verbose: o.VerboseOption = False,
    **options: Unpack[AnalyzeOptions],
) -> None:
    """Find the leading axes of a geometry for any context length, without its matrix of distances."""
    if n_axes < 1:
        raise PosgeomError(f"got {n_axes} for --axes: expected at least 1")
    if memory is not None and not 0 < memory < float("inf"):
        raise PosgeomError(f"got {memory:g} for --memory: expected gigabytes, more than 0")
    limit = None if memory is None else int(memory * 1e9)
    if output is not None:
        check_target(output, "float64")
    source, seed = corpus_or_counts(corpus, counts), options.get("seed", 0)
    specs = list(dict.fromkeys(score or []))
    length = source.n_positions if isinstance(source, PositionCounts) else options.get("n_positions") or 2
    for spec in specs:
        check_spec(spec, n_positions=length, n_dims=width)
    with staged_file(output) if output is not None else nullcontext() as stage:
        with progress_bars(quiet=quiet, verbose=verbose) as progress:
            counted = counts_of(source, tokenizer, options, progress)
            axes = axes_by(options, counted, n_axes, seed=seed, memory=limit, device=device, progress=progress)
            document = _document(axes, counted)
            encodings = [
                build_encoding(spec, n_positions=counted.n_positions, n_dims=width, seed=seed) for spec in specs
            ]
            document |= _scores(encodings, axes, n_pairs, seed, progress)
        if output is not None and stage is not None:
            _write(axes, stage, output)
    if as_json:
        typer.echo(json.dumps(document, indent=1, allow_nan=False))
        return
    _print(document)
    if output is not None:
        typer.echo(f"{shown(output)}: {axes.coordinates.shape[1]} axes of {axes.positions.size:,} positions")


def _scores(
    encodings: list[Encoding], axes: LeadingAxes, n_pairs: int, seed: int, progress: ProgressHook
) -> dict[str, Any]:
    """Scores of encodings, and what is known of the corpus beside them; nothing without encodings."""
    if not encodings:
        return {"encodings": []}
    corpus, *scored = sampled_scores(encodings, axes, n_pairs=n_pairs, seed=seed, progress=progress)
    rows = []
    for encoding, one in zip(encodings, scored, strict=True):
        progress(f"alignment of {encoding.name}", 0, None)
        aligned = large_alignment(encoding, axes)
        rows.append(
            {"name": encoding.name, "alignment": aligned.value, "sampling_error": aligned.error}
            | {"n_probes": aligned.n_probes}
            | {
                name: {"value": score.value, "sampling_error": score.standard_error}
                for name, score in one.scores.items()
            }
        )
    rate = corpus.scores["violation_rate"]
    return {
        "encodings": rows,
        "violation_rate": {"value": rate.value, "sampling_error": rate.standard_error},
        "n_pairs": corpus.n_pairs,
        "n_triples": corpus.n_triples,
        "all_pairs": corpus.is_exact,
    }


def _document(axes: LeadingAxes, counts: PositionCounts) -> dict[str, Any]:
    return {
        "estimator": axes.estimator,
        "metric": axes.metric,
        "documents": counts.n_documents,
        "n_positions": axes.n_positions,
        "positions_used": int(axes.positions.size),
        "common_depth": axes.depth,
        "n_folds": axes.n_folds,
        "method": axes.method,
        "device": axes.gram.device.name,
        "trace": axes.total,
        "mean_squared_distance": axes.mean_squared,
        "axes": [
            {"eigenvalue": value, "error_bound": bound}
            for value, bound in zip(axes.eigenvalues.tolist(), axes.error_bounds.tolist(), strict=True)
        ],
    }


def _write(axes: LeadingAxes, stage: Path, output: Path) -> None:
    if not axes.coordinates.shape[1]:
        raise OutputError(f"cannot write {shown(output)}: no axis has a positive eigenvalue")
    arrays = {"table": axes.coordinates}
    if output.suffix == ".safetensors":
        arrays["positions"] = axes.positions.astype(np.float64)
    metadata = {
        "spec": "mds",
        "n_positions": axes.n_positions,
        "conventions": {"rows": "used positions, in `positions`", "columns": "axis 0 to r - 1"},
        "fitted_to": {
            "metric": axes.metric,
            "estimator": axes.estimator,
            "method": axes.method,
            "eigenvalues": axes.eigenvalues.tolist(),
            "error_bounds": axes.error_bounds.tolist(),
        },
    }
    tensors = Tensors("table", arrays, metadata)
    write_tensors(tensors, stage, output, "float64")


def _print(document: dict[str, Any]) -> None:
    console = stdout_console()
    trace = document["trace"]
    rows = [
        [
            cell(number),
            cell(one["eigenvalue"], ".6g"),
            cell(one["error_bound"], ".1e"),
            percent(one["eigenvalue"] / trace if trace > 0 else None, ".2f"),
        ]
        for number, one in enumerate(document["axes"][:_SHOWN], 1)
    ]
    columns = (Column("axis", 4), Column("eigenvalue", 12), Column("error bound", 12), Column("% of trace", 10))
    print_table(Table("Leading axes", columns, rows), console)
    console.print()
    if document["encodings"]:
        names = (Column("encoding", 24, left=True), *(Column(title, 15) for title in _SCORES.values()))
        scored = [
            [cell(one["name"]), _with_error(one["alignment"], one["sampling_error"])]
            + [_with_error(**one[name]) for name in _SCORES if name != "alignment"]
            for one in document["encodings"]
        ]
        corpus = [
            Cell("the corpus itself"),
            *[Cell("")] * (len(_SCORES) - 1),
            _with_error(**document["violation_rate"]),
        ]
        print_table(Table("Scores", names, [*scored, corpus]), console)
        which = "all" if document["all_pairs"] else f"{document['n_pairs']:,} drawn"
        print_paragraph(
            f"Alignment is with all of the geometry. Stress, correlations and violations: over {which} pairs, and "
            f"{document['n_triples']:,} triples. ±: standard errors of drawing, where anything was drawn; they say "
            "nothing of the sampling of documents.",
            console,
        )
        console.print()
    folds = f", the mean over pairs of {document['n_folds']} folds" if document["n_folds"] else ""
    depth = "" if document["common_depth"] is None else f", rarefied to {document['common_depth']:,} documents a fold"
    print_paragraph(
        f"{document['estimator']} {document['metric']} of {document['positions_used']:,} of "
        f"{document['n_positions']:,} positions and {document['documents']:,} documents{folds}{depth}; method: "
        f"{document['method']}, on {document['device']}; mean squared distance "
        f"{document['mean_squared_distance']:.4g}. {len(document['axes'])} axes, at most {_SHOWN} of them shown. error "
        "bound: an eigenvalue of the matrix lies within so much. A higher alignment is a more faithful geometry, not a "
        "better model.",
        console,
    )


def _with_error(value: float | None, sampling_error: float | None) -> Cell:
    known = cell(value, ".4f")
    return known if sampling_error is None or known.text is None else Cell(f"{known.text} ±{sampling_error:.4f}")
