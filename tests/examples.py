"""Runs the notebooks of ``examples/`` cell by cell, in this process: no kernel, and no library for it, is needed."""

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"


def read(name: str) -> list[dict[str, Any]]:
    """The code cells of a notebook."""
    cells = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def run(name: str, printed: Callable[[], str]) -> tuple[dict[str, Any], list[tuple[str, set[str]]]]:
    """Run a notebook: the names it leaves, and of each cell what it prints and the types of what it shows."""
    names: dict[str, Any] = {}
    outputs = []
    for cell in read(name):
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), name, "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), names)  # type: ignore[attr-defined]
        outputs.append((printed(), types(value)))
    return names, outputs


def types(value: Any) -> set[str]:
    """The types of what a notebook keeps of a value."""
    if value is None:
        return set()
    if hasattr(value, "_repr_mimebundle_"):
        return set(value._repr_mimebundle_()[0])
    return {"text/plain", "text/html"} if hasattr(value, "_repr_html_") else {"text/plain"}
