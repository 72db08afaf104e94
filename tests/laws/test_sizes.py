"""Files that can be read at a sitting, and functions that can be called from memory."""

import ast
from pathlib import Path

import posgeom

PACKAGE = Path(posgeom.__file__).parent
FACADE = {*posgeom.__all__, "model"}
"""Functions that users call by keyword; ``model`` is the encoding of that name."""


def test_few_files_are_long() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")}
    long = {path.name: n for path, n in lines.items() if n > 300}
    assert len(long) <= 6, long
    # What a user can choose is one list, however long it grows.
    assert all(n <= 350 for name, n in long.items() if name != "options.py"), long
    assert sorted(lines.values())[len(lines) // 2] < 150


def test_no_function_inside_takes_many_parameters() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.parent.name == "cli":  # a command takes what its line can say
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name not in FACADE:
                taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                names = [one.arg for one in taken if one.arg not in ("self", "cls")]
                assert len(names) <= 8, f"{path.name}: {node.name}"
