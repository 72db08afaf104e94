"""The arrows of the architecture: who may import whom, and what stays out of a plain import."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import posgeom

ROOT = Path(posgeom.__file__).parent
BASE = {
    "arrays",
    "errors",
    "frames",
    "keywords",
    "messages",
    "options",
    "policies",
    "progress",
    "seeds",
    "tables",
    "threads",
}
ALLOWED = {
    "errors": set(),
    "arrays": {"messages"},
    "frames": {"errors"},
    "messages": set(),
    "progress": set(),
    "policies": set(),
    "options": {"errors", "policies", "counts"},  # bins of counts for their type alone
    "keywords": {"options"},
    "tables": {"messages"},
    "seeds": {"errors"},
    "threads": {"progress"},
    "corpus": BASE,
    "tokenize": BASE | {"corpus"},
    "counts": BASE | {"corpus", "tokenize"},
    "estimation": BASE | {"counts"},
    "encodings": BASE | {"estimation"},
    "scores": BASE | {"estimation", "encodings"},
    "inference": BASE | {"counts", "estimation", "encodings", "scores"},
    "models": BASE | {"estimation", "encodings", "scores", "inference"},
    "results": BASE | {"counts", "estimation", "encodings", "inference", "report"},  # findings, when a notebook asks
    "notes": BASE | {"counts", "estimation", "inference", "results"},
    "analysis": BASE | {"corpus", "tokenize", "counts", "estimation", "encodings", "inference", "notes", "results"},
    "token_data": BASE | {"counts", "tokenize", "estimation", "inference"},
    "chart_data": BASE | {"counts", "token_data", "estimation", "encodings", "scores", "inference", "results"},
    "report": BASE | {"counts", "estimation", "encodings", "inference", "models", "results", "chart_data"},
    "plots": BASE | {"inference", "chart_data", "report", "results"},
    "simulation": BASE | {"tokenize", "counts", "estimation", "encodings", "inference"},
    "paper": BASE
    | {"tokenize", "counts", "estimation", "encodings", "scores", "inference", "models", "analysis"}
    | {"simulation"},
    "fitting": BASE | {"counts", "estimation", "encodings", "scores", "inference"},
    "theory": BASE
    | {"tokenize", "counts", "estimation", "encodings", "scores", "inference", "models", "analysis"}
    | {"simulation", "paper"},
    "training_options": BASE | {"encodings"},
    "training": BASE
    | {
        "training_options",
        "corpus",
        "tokenize",
        "counts",
        "estimation",
        "encodings",
        "scores",
        "inference",
        "models",
        "fitting",
    }
    | {"analysis", "theory"},
}


def imported(file: Path) -> set[str]:
    """Top-level parts of posgeom that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("posgeom."):
            names.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            names |= {a.name.split(".")[1] for a in node.names if a.name.startswith("posgeom.")}
    return names


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_point_downwards(part: str) -> None:
    files = [ROOT / f"{part}.py"] if (ROOT / f"{part}.py").exists() else sorted((ROOT / part).rglob("*.py"))
    assert files
    for file in files:
        assert imported(file) <= ALLOWED[part] | {part}, file


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    """Nor where an import stands in a function, or is for types alone."""
    imports: dict[str, set[str]] = {}
    for part in ("corpus", "tokenize", "counts", "estimation", "encodings", "scores", "inference"):
        for file in (ROOT / part).rglob("*.py"):
            nodes = ast.walk(ast.parse(file.read_text()))
            found = [(n.module, n.names) for n in nodes if isinstance(n, ast.ImportFrom) and n.module]
            name = ".".join(("posgeom", *file.relative_to(ROOT).with_suffix("").parts))
            imports[name] = {m for m, _ in found} | {f"{m}.{a.name}" for m, names in found for a in names}
    TopologicalSorter({name: its & imports.keys() for name, its in imports.items()}).prepare()


def test_every_part_has_its_place() -> None:
    parts = {p.stem for p in ROOT.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert parts - {"__init__", "__main__", "cli"} == set(ALLOWED)


HEAVY = (
    *(
        "torch",
        "transformers",
        "matplotlib",
        "altair",
        "jinja2",
        "vl_convert",
        "pandas",
        "typer",
        "pyarrow",
        "tokenizers",
        "huggingface_hub",
    ),
    *("datasets", "fsspec", "s3fs", "aiohttp"),
)
HEAVY_PARTS = ("scipy.stats", "scipy.sparse", "scipy.special", "scipy.linalg")


def test_import_is_light() -> None:
    code = f"import sys, posgeom; print([m for m in {HEAVY + HEAVY_PARTS} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_local_files_need_no_filesystem_library(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\n")
    code = (
        "import sys; from posgeom.options import ReadOptions; from posgeom.corpus.reading import read_sources;"
        "from posgeom.corpus.sources import resolve_sources; o = ReadOptions();"
        "print([b.texts for b in read_sources(resolve_sources(sys.argv[1:], o), o)],"
        " [m for m in ('fsspec', 'datasets', 's3fs', 'aiohttp', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.txt")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[['one two']] []"


def test_the_public_names_exist() -> None:
    for name in posgeom.__all__:
        assert hasattr(posgeom, name), name
    assert callable(posgeom.geometry)
