"""How large files and signatures may grow: a file is read in one sitting, a call fits in the head."""

import ast
from pathlib import Path

import posgeom

ROOT = Path(posgeom.__file__).parent
FILES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted(ROOT.rglob("*.py"))}
MOST_PARAMETERS = 8
MANY_PARAMETERS = {
    "models/encoding.py:model",  # an encoding like those of the facade, whose options name it to the registry
    "paper/inputs.py:open_inputs",
    "report/charts/lines.py:lines_figure",
}


def _wide_functions() -> set[str]:
    """Functions of many parameters that are neither public nor commands of the command line."""
    return {
        f"{name}:{node.name}"
        for name, text in FILES.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs) > MOST_PARAMETERS
        and not (name.startswith("cli/") and node.name == "command")
        and node.name not in posgeom.__all__
    }


def test_functions_have_few_parameters() -> None:
    assert _wide_functions() == MANY_PARAMETERS


def test_files_are_read_in_one_sitting() -> None:
    lines = {name: len(text.splitlines()) for name, text in FILES.items()}
    assert {name: n for name, n in lines.items() if n > 500} == {}
    assert len(long := {name: n for name, n in lines.items() if n > 300}) <= 6, long
