"""Options are declared once: what functions take, what they document, and what the command line has, agree."""

import inspect
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

import posgeom as pg
from posgeom.cli.main import app
from posgeom.options import (
    FIXED_BY_COUNTING,
    AnalyzeOptions,
    CountOptions,
    GeometryOptions,
    ReadOptions,
    options_of,
    with_defaults,
)

COUNTING = {"analyze", "count", "fit", "layers", "tokens", "warp"}


def flags(command: str) -> set[str]:
    parameters = typer.main.get_command(app).commands[command].params  # type: ignore[attr-defined]
    return {flag for p in parameters for flag in (*p.opts, *p.secondary_opts)}


def flags_of(*groups: type) -> set[str]:
    declared = [option.flags for group in groups for _, _, option in options_of(group).values()]
    return {part.strip() for text in declared for flag in text.split(", ") for part in flag.split("/") if part.strip()}


@pytest.mark.parametrize("command", sorted(COUNTING))
def test_every_command_that_counts_takes_all_counting_options(command: str) -> None:
    assert flags_of(ReadOptions, CountOptions) <= flags(command)


def test_commands_that_estimate_take_the_options_of_a_geometry() -> None:
    for command in ("fit", "layers", "tokens", "warp"):
        assert flags_of(GeometryOptions) <= flags(command)
    assert flags_of(AnalyzeOptions) <= flags("analyze")


@pytest.mark.parametrize(("function", "group"), [(pg.count, CountOptions), (pg.analyze, AnalyzeOptions)])
def test_signature_and_docstring_have_every_option(function: Any, group: type) -> None:
    parameters = inspect.signature(function).parameters
    for name, (_, default, option) in options_of(group).items():
        assert parameters[name].default == default
        assert f"\n    {name} : " in function.__doc__
        assert " ".join(option.help.split()) in " ".join(function.__doc__.split())
    assert function.__doc__.index("\n    Parameters\n") < function.__doc__.index("\n    Returns\n")


def test_a_misspelt_keyword_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    misspelt: Any = {"n_postions": 8}
    with pytest.raises(TypeError, match=r"count\(\).*'n_postions'; did you mean 'n_positions'"):
        pg.count(tmp_path / "a.txt", **misspelt)


def test_what_counting_fixed_is_refused_with_counts() -> None:
    counts = pg.count_texts(["a b c", "b c a", "c a b"] * 20, n_positions=3)
    values: dict[str, Any] = {"n_positions": 3, "full_length": True, "options": ReadOptions(), "engine": "local"}
    assert values.keys() <= FIXED_BY_COUNTING
    for name, value in values.items():
        with pytest.raises(pg.PosgeomError, match=f"{name} was fixed when the counts were made"):
            pg.analyze(counts, **{name: value})


def test_none_stands_for_the_default_unless_it_means_something() -> None:
    assert with_defaults({"n_folds": None, "level": None}, AnalyzeOptions)["n_folds"] == 10
    assert with_defaults({"level": None}, AnalyzeOptions)["level"] is None


def test_full_length_keeps_documents_that_fill_the_context() -> None:
    texts = ["a b c", "a b", "b c d e"] * 10
    assert pg.count_texts(texts, n_positions=3, full_length=True).checksum == (
        pg.count_texts(texts, n_positions=3, min_length=3).checksum
    )


def test_choices_of_the_command_line_are_those_of_the_types() -> None:
    for _, (kind, _, option) in options_of(ReadOptions).items():
        if option.flags == "--format":
            assert all(choice in option.help for choice in get_args(kind) if choice != "auto")
