"""The report: one HTML file that needs nothing else, from the stored numbers of one run or of several."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from posgeom.messages import printable, short_names
from posgeom.progress import ProgressHook, silent
from posgeom.report.charts.figure import Figure, need_extra
from posgeom.report.charts.theme import COLOURS, config
from posgeom.report.figures import KINDS, comparison
from posgeom.report.findings import findings, layers_findings
from posgeom.report.glossary import GLOSSARY
from posgeom.report.run import Run
from posgeom.report.tables import comparison_tables, scorecard_table
from posgeom.report.token_effects import token_caption, token_table
from posgeom.report.training import (
    TRAINING_KINDS,
    training_findings,
    training_lead,
    training_provenance,
    training_tables,
)

REPORT = "report.html"
_NAMED_SOURCES, _FONT_SIZE, _SHOWN_TOKENS = 3, 12, 12


def render_page(runs: Sequence[Run], *, progress: ProgressHook = silent) -> str:
    """The page of one run, or of several side by side."""
    need_extra()
    charts: dict[str, Any] = {}
    runs = [replace(run, name=name) for run, name in zip(runs, short_names([run.name for run in runs]), strict=True)]
    several = len(runs) > 1
    sections = _sections(runs, charts, progress)
    page = {
        "title": _title(runs),
        "lead": _lead(runs),
        "findings": [
            {"name": run.name if several else "", "sentences": _sentences(run), "cautions": _cautions(run)}
            for run in runs
        ],
        "glossary": GLOSSARY,
        "sections": sections,
        "provenance": [_provenance(run, run.name if several else "") for run in runs],
    }
    return render(page, charts)


def render(page: Mapping[str, Any], charts: Mapping[str, Any]) -> str:
    """Fill the template of all pages."""
    need_extra()
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    colours = {part: f"var(--{part})" for part in COLOURS}
    sections = [dict(section) | {"id": _anchor(section["title"])} for section in page["sections"]]
    page = {"glossary": (), **page, "sections": sections}
    return environment.from_string(_template("page.html.jinja")).render(
        page=page,
        charts={"charts": charts, "config": config(colours, font_size=_FONT_SIZE)},
        style=Markup(_template("style.css")),  # noqa: S704  of the package
        script=Markup(script),  # noqa: S704  of the package
        script_hash=f"sha256-{digest}",
    )


def _anchor(title: str) -> str:
    """The stable name of a section, for links to it."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))


def _sentences(run: Run) -> list[str]:
    told = (findings(run.scores) if run.scores else []) + (layers_findings(run.layers) if run.layers else [])
    told += training_findings(run.training) if run.training else []
    return told + (run.warp["findings"] if run.warp else [])


def _cautions(run: Run) -> list[str]:
    """What changes the reading of the scores, which stands before them."""
    return [printable(caution) for caution in (run.scores or {}).get("cautions") or []]


def _sections(runs: Sequence[Run], charts: dict[str, Any], progress: ProgressHook) -> list[dict[str, Any]]:
    """Sections with their figures, whose specs are put among the charts."""
    several = len(runs) > 1
    sections: list[dict[str, Any]] = []

    def add(title: str, drawn: Sequence[tuple[str, Figure]], tables: Sequence[Any] = ()) -> None:
        shown = []
        for name, figure in drawn:
            shown.append(add_chart(charts, figure, name if several else ""))
        sections.append({"title": title, "lead": "", "figures": shown, "tables": list(tables), "notes": []})

    together = comparison(runs)
    if together is not None:
        scored = [run for run in runs if run.scores is not None]
        add(together.title, [("", together)], comparison_tables(scored))
    for done, (kind, build) in enumerate(KINDS.items()):
        progress("report", done, len(KINDS))
        drawn = [(run.name, figure) for run in runs if (figure := build(run)) is not None]
        tables = []
        if kind in TRAINING_KINDS and len(drawn) > 1:
            drawn = [("", figure)] if (figure := TRAINING_KINDS[kind](runs)) is not None else []
        if kind == "scorecard":
            tables = [
                scorecard_table(run.scores, run.name if several else "") for run in runs if run.scores is not None
            ]
        if kind == "separation":
            named = [(run.training, run.name if several else "") for run in runs if run.training]
            tables = [table for training, name in named for table in training_tables(training, name)]
        if drawn:
            add(drawn[0][1].title, drawn, tables)
    sections += [_tokens(run, run.name if several else "") for run in runs if (run.charts or {}).get("tokens")]
    progress("report", len(KINDS), len(KINDS))
    return sections


def _tokens(run: Run, name: str) -> dict[str, Any]:
    """The section on the tokens that set positions apart."""
    document = (run.charts or {})["tokens"]
    tables = [replace(token_table(one, _SHOWN_TOKENS), name=name) for one in document["looked_at"] if one["tokens"]]
    lead = token_caption(document) if tables else "No token is told from noise."
    return {"title": "What sets positions apart", "lead": lead, "figures": [], "tables": tables, "notes": []}


def add_chart(charts: dict[str, Any], figure: Figure, heading: str = "") -> dict[str, str]:
    """Put the spec of a figure among the charts of a page."""
    key = f"chart-{len(charts)}"
    charts[key] = {"spec": figure.spec(), "layout": figure.layout}
    texts = {"title": figure.title, "caption": figure.caption, "run": heading}
    return {"key": key, "layout": figure.layout} | texts


def _title(runs: Sequence[Run]) -> str:
    if len(runs) > 1:
        return f"Position geometry of {len(runs)} runs"
    run = runs[0]
    if run.scores is not None:
        return f"Position geometry of {_sources(run.scores['corpus']['sources'])}"
    if run.training is not None:
        return f"Positions along training on {_sources(run.training['sources'])}"
    if run.layers is not None:
        return f"Layers and heads of {printable(short_names([run.layers['model']])[0])}"
    return f"Warps of {_sources((run.warp or {})['sources'])}"


def _sources(sources: Sequence[str]) -> str:
    """Names without their directories, which are in the provenance."""
    names = [printable(source.rstrip("/").rpartition("/")[2] or source) for source in sources]
    more = f" and {len(names) - _NAMED_SOURCES:,} more" if len(names) > _NAMED_SOURCES else ""
    return (", ".join(names[:_NAMED_SOURCES]) or "a corpus") + more


def _lead(runs: Sequence[Run]) -> str:
    if len(runs) > 1:
        return ", ".join(run.name for run in runs)
    run = runs[0]
    if (scores := run.scores) is not None:
        corpus = scores["corpus"]
        return (
            f"{corpus['documents']:,} documents, {corpus['tokens']:,} tokens counted, tokenizer "
            f"{_sources([scores['tokenizer']['name']])} with {scores['vocab_size']:,} tokens; "
            f"{len(scores['positions_used']):,} of {scores['n_positions']:,} positions compared. posgeom "
            f"{printable(scores['software']['version'])}."
        )
    if run.training is not None:
        return f"{training_lead(run.training)}."
    if (layers := run.layers) is None:
        warp = run.warp or {}
        return f"{warp['estimator']} distances of {warp['n_positions_used']:,} positions."
    return f"{layers['n_layers']} layers, {layers['n_heads']} heads; input P: {printable(layers['input'])}."


def _provenance(run: Run, name: str) -> dict[str, Any]:
    """Where the numbers come from, and what to know about them."""
    entries: list[tuple[str, str]] = [("run", run.name)]
    notes: list[str] = []
    if run.scores is not None:
        notes += [note for note in run.scores["notes"] if note not in (run.scores.get("cautions") or [])]
    if (scores := run.scores) is not None:
        corpus, tokenizer = scores["corpus"], scores["tokenizer"]
        (named,) = short_names([tokenizer["name"]])
        common, parts = scores.get("common_depth"), scores.get("n_fold_groups")
        pairs = f", all pairs of {parts} parts of the corpus" if parts else ""
        entries += [
            ("sources", ", ".join(short_names(corpus["sources"]))),
            ("text columns", ", ".join(corpus["columns"]) or "none: plain text"),
            ("documents", f"{corpus['documents']:,}, {corpus['empty_documents']:,} of them empty"),
            ("tokens counted", f"{corpus['tokens']:,}"),
            ("folds", f"{scores['n_folds_used']} of {scores['n_folds']}, by {corpus.get('grouped_by') or 'the text'}"),
            ("tokenizer", f"{named} ({tokenizer['kind']}), sha256 {tokenizer.get('sha256') or 'none'}"),
            ("tokenizer engines", ", ".join(tokenizer.get("engines") or []) or "not recorded"),
            ("context length n", f"{scores['n_positions']:,}"),
            ("width d", f"{scores['n_dims']:,}"),
            ("estimator", f"{scores['metric']}, {scores['estimator']}{pairs}"),
            ("minimum depth", f"{scores['min_depth']:,} sequences; positions without data: {scores['empty_policy']}"),
            ("common depth", "not rarefied" if common is None else f"{common:,} sequences in each part of the corpus"),
            ("convention, seed", f"{scores['convention']}, {scores['seed']}"),
            ("software", f"{scores['software']['name']} {scores['software']['version']}"),
        ]
    if (layers := run.layers) is not None:
        entries += [
            ("model", short_names([layers["model"]])[0]),
            ("stack", f"{layers['stack']}, {layers['n_layers']} layers of {layers['n_heads']} heads"),
            ("input P", layers["input"]),
            ("geometry", f"{layers['metric']}, {layers['estimator']}, {len(layers['positions_used']):,} positions"),
        ]
        notes += layers["notes"]
    if (training := run.training) is not None:
        entries += training_provenance(training)
        notes += training["notes"]
    return {
        "name": name,
        "entries": [(label, printable(text)) for label, text in entries],
        "notes": [printable(note) for note in notes],
    }


def _template(name: str) -> str:
    return (files("posgeom.report") / "template" / name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """Vega, Vega-Lite, Vega-Embed and the page's own script as one."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(_template("page.js"))
    # What would end the element, or change how a parser reads it, can only stand in strings and regular expressions.
    return bundle.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")


def write_page(runs: Sequence[Run], path: Path, *, progress: ProgressHook = silent) -> None:
    """Write the page of one run, or of several side by side."""
    path.write_text(render_page(runs, progress=progress), encoding="utf-8", errors="backslashreplace", newline="\n")
