"""The commands of ``posgeom theory`` that run a model, or the kernel regime of Appendix A."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from posgeom.cli import options as o
from posgeom.cli.inspect import ModelArgument
from posgeom.cli.theory import DimsOption, SeedOption, app, corpus_counts, paper_geometry, seed_of, show, sound_geometry
from posgeom.corpus.reading import read_sources
from posgeom.corpus.sources import resolve_sources
from posgeom.errors import PosgeomError
from posgeom.estimation.build import geometry
from posgeom.options import DEFAULT_N_DIMS, CountOptions, RangeOptions, ReadOptions
from posgeom.seeds import make_rng
from posgeom.theory.bounds import bounds
from posgeom.theory.collapse import collapse_checks
from posgeom.theory.kernel_regime import ntk
from posgeom.theory.mds_claims import isometry, random_rows, stress_and_strain
from posgeom.theory.model_run import kernel_of_model, separation_of_model
from posgeom.theory.monotonicity import monotonicity_check
from posgeom.theory.necessity import EncodingState, necessity
from posgeom.theory.ntk import KERNELS
from posgeom.theory.parametrisation import parametrisation
from posgeom.theory.stationarity import stationarity
from posgeom.theory.verdict import Check

EXAMPLES = 128
_NEEDS = r"Needs torch and transformers: pip install 'posgeom\[models]'. Code inside a checkpoint is never run."
NECESSITY_EPILOG = f"Example:\n\nposgeom theory necessity bert-base-uncased\n\n{_NEEDS}"
SEPARATION_EPILOG = f"Example:\n\nposgeom theory separation ./my-bert reviews.parquet -n 128\n\n{_NEEDS}"
ALL_EPILOG = "Example:\n\nposgeom theory all reviews.parquet -t bert-base-uncased -n 64 --json"
NTK_EPILOG = "Example:\n\nposgeom theory ntk reviews.parquet -t bert-base-uncased -n 64 --kernel 'exp(-d)'"


@app.command("necessity", epilog=NECESSITY_EPILOG)
def necessity_command(
    model: ModelArgument,
    encoding: Annotated[
        EncodingState, typer.Option("--encoding", help="Whether the verdict is about the model without it, or with it.")
    ] = "removed",
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="Its tokens. Default: random tokens.")
    ] = None,
    n_tokens: Annotated[int, typer.Option("-n", "--n-tokens", metavar="N", help="Length of the sequence.")] = 32,
    permutations: Annotated[int, typer.Option("--permutations", metavar="K", help="Random permutations.")] = 16,
    seed: SeedOption = 0,
    as_json: o.JsonOption = False,
) -> None:
    """Theorem 1: whether a model without its encoding permutes its output as its input is permuted."""
    check = necessity(model, encoding=encoding, text=text, n_tokens=n_tokens, n_permutations=permutations, seed=seed)
    show(check, as_json=as_json)


@app.command("separation", epilog=SEPARATION_EPILOG)
@o.takes(ReadOptions, CountOptions)
def separation_command(
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="A model directory or a hub name.")] = None,
    corpus: o.CorpusArgument = None,
    counts: o.CountsOption = None,
    examples: Annotated[
        int, typer.Option("--examples", metavar="K", help="Random documents whose tokens are swapped (H2).")
    ] = EXAMPLES,
    as_json: o.JsonOption = False,
    **options: Any,
) -> None:
    """Theorem 4: H1, H2 and H3 for each pair of positions. Without a model: problems where one is made to fail."""
    if model is None:
        show(collapse_checks(seed=seed_of(options)), as_json=as_json)
        return
    if examples < 2:
        raise PosgeomError(f"--examples {examples}: expected at least 2")
    counted = corpus_counts(corpus, model, counts, options)
    texts = _sampled(corpus, examples, options) if corpus else []
    show(separation_of_model(model, counted, texts, seed=seed_of(options)), as_json=as_json)


@app.command("ntk", epilog=NTK_EPILOG)
@o.takes(ReadOptions, CountOptions, RangeOptions)
def ntk_command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    kernel: Annotated[
        str, typer.Option("--kernel", metavar="F", help=f"f of the distance: {', '.join(KERNELS)}.")
    ] = "exp(-d^2)",
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="MODEL", help="Its tangent kernel instead, against d_H; on documents that reach -n."
        ),
    ] = None,
    examples: Annotated[int, typer.Option("--examples", metavar="K", help="Random documents, with --model.")] = 64,
    as_json: o.JsonOption = False,
    **options: Any,
) -> None:
    """Appendix A: alpha = f(d_H) of a corpus's plug-in distances, the flow, its fixed point, and counterexamples."""
    if model is not None:
        if not corpus or "positions" in options:
            raise PosgeomError("--model runs the model on documents: name a corpus, without --counts or --positions")
        counted = corpus_counts(corpus, tokenizer or model, counts, options)
        show(
            kernel_of_model(model, counted, _sampled(corpus, examples, options), seed=seed_of(options)), as_json=as_json
        )
        return
    counted = corpus_counts(corpus, tokenizer, counts, options)
    shape = geometry(counted, estimator="plugin", positions=options.get("positions"), seed=seed_of(options))
    show(ntk(shape.plugin.values, kernel, seed=seed_of(options)), as_json=as_json)


@app.command("all", epilog=ALL_EPILOG)
@o.takes(ReadOptions, CountOptions, RangeOptions)
def all_command(
    corpus: o.CorpusArgument = None,
    tokenizer: o.TokenizerOption = None,
    counts: o.CountsOption = None,
    model: Annotated[str | None, typer.Option("--model", metavar="MODEL", help="For Theorems 1 and 4.")] = None,
    n_dims: DimsOption = DEFAULT_N_DIMS,
    as_json: o.JsonOption = False,
    **options: Any,
) -> None:
    """Every check on one corpus, and with --model on that model, which sees all positions, one after the other."""
    seed = seed_of(options)
    counted = corpus_counts(corpus, tokenizer or model, counts, options)
    sound, paper = sound_geometry(counted, options), paper_geometry(counted, options)
    checks: dict[str, Check] = {
        "stationarity": stationarity(sound, n_dims=n_dims),
        "parametrisation": parametrisation(sound, paper, n_dims=n_dims),
        "ntk": ntk(paper.plugin.values, seed=seed),
        "bounds": bounds(counted, positions=options.get("positions"), seed=seed),
        "monotonicity": monotonicity_check(sound, paper),
        "mds": stress_and_strain(paper.plugin),
        "isometry": isometry(random_rows(seed)),
    }
    if model is not None:
        checks["necessity"] = necessity(model, seed=seed)
        texts = _sampled(corpus, EXAMPLES, options) if corpus else []
        checks["separation"] = separation_of_model(model, counted, texts, seed=seed)
    if as_json:
        typer.echo(json.dumps({name: check.to_dict() for name, check in checks.items()}, indent=1, allow_nan=False))
        return
    for name, check in checks.items():
        typer.echo(f"{name}\n")
        show(check, as_json=False)
        typer.echo()


def _sampled(corpus: list[str], size: int, options: Mapping[str, Any]) -> list[str]:
    """A random sample of the documents of a corpus, each as likely as any other (reservoir sampling)."""
    read, rng = options.get("options") or ReadOptions(), make_rng(seed_of(options))
    kept: list[str] = []
    n_seen = 0
    for batch in read_sources(resolve_sources(corpus, read), read):
        for text in batch.texts:
            n_seen += 1
            if len(kept) < size:
                kept.append(text)
            elif (place := int(rng.integers(n_seen))) < size:
                kept[place] = text
    return kept
