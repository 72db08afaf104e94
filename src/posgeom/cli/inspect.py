"""``posgeom inspect``: what a model's checkpoint says of position."""

import json
from typing import Annotated

import typer

from posgeom.cli import options as o
from posgeom.cli.console import stdout_console
from posgeom.models.by_hand import ByHand
from posgeom.models.inspection import inspect_model
from posgeom.report.inspection import inspection_document, print_inspection

EPILOG = """Examples:

posgeom inspect ./my-model

posgeom inspect bert-base-uncased -n 128 --json

posgeom inspect weights.safetensors --tensor encoder.pos_embed --offset 1

posgeom inspect config.json

A config alone does for positions that are a formula. Of a hub name no more is fetched than headers and the tensors that
hold positions. No torch is needed, except for checkpoints in torch's own format, which are loaded weights-only or
refused."""

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A model directory, a .safetensors or .gguf file, a config.json, or a hub name."
    ),
]
TensorOption = Annotated[
    str | None,
    typer.Option(
        "--tensor", metavar="NAME", help="Position table by its stored name, of a model whose family is not known."
    ),
]
OffsetOption = Annotated[
    int, typer.Option("--offset", metavar="ROWS", help="With --tensor: rows before that of position 0.")
]


def command(
    model: ModelArgument,
    n_positions: Annotated[
        int | None,
        o.n_positions_option("Measure the first N positions. Default: all trained ones; 512 where there is no table."),
    ] = None,
    tensor: TensorOption = None,
    offset: OffsetOption = 0,
    as_json: o.JsonOption = False,
) -> None:
    """Show a model's own positions: scheme, table, norms, separation, spectrum, distance by lag."""
    found = inspect_model(model, n_positions=n_positions, by_hand=ByHand(tensor=tensor, offset=offset))
    if as_json:
        typer.echo(json.dumps(inspection_document(found), indent=1, allow_nan=False))
        return
    print_inspection(found, stdout_console())
