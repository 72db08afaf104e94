"""The page as text: whole, self-contained, and nothing of a corpus in it that is not text."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from posgeom.messages import short_names
from posgeom.progress import silent
from posgeom.report.drawn import save_page
from posgeom.report.page import render_page
from posgeom.report.run import Run
from tests.report.conftest import HOSTILE_CORPUS, HOSTILE_ENCODING


class Elements(HTMLParser):
    """What a browser would make of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.in_script = tag == "script"
        if self.in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.in_script = False

    def handle_data(self, data: str) -> None:
        if self.in_script:
            self.scripts[-1] += data
        else:
            self.text += data


@pytest.fixture(scope="module")
def html(run: Run) -> str:
    return render_page([run])


@pytest.fixture(scope="module")
def elements(html: str) -> Elements:
    parser = Elements()
    parser.feed(html)
    return parser


def test_hostile_names_are_text(elements: Elements) -> None:
    tags = [tag for tag, _ in elements.tags]
    assert "img" not in tags
    assert tags.count("script") == 2
    assert not [name for _, attributes in elements.tags for name in attributes if name.startswith("on")]
    assert HOSTILE_CORPUS in elements.text
    assert HOSTILE_ENCODING in elements.text
    assert "\n" + HOSTILE_ENCODING not in elements.scripts[1]


def test_charts_are_data_that_cannot_end_their_element(html: str, elements: Elements) -> None:
    charts = json.loads(elements.scripts[0])
    assert len(charts["charts"]) == 10
    raw = html[html.index('id="posgeom-charts">') :].split(">", 1)[1].split("</script>", 1)[0]
    assert not set("<>&\u2028\u2029") & set(raw)
    assert HOSTILE_ENCODING in json.dumps(charts)
    places = [attributes["data-chart"] for _, attributes in elements.tags if "data-chart" in attributes]
    assert places == list(charts["charts"])


def test_it_may_load_nothing_and_run_only_its_own_script(html: str, elements: Elements) -> None:
    policy = next(a["content"] for t, a in elements.tags if t == "meta" and a.get("http-equiv"))
    assert policy is not None
    digest = base64.b64encode(hashlib.sha256(elements.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy
    for tag, attributes in elements.tags:
        assert not {"src", "action"} & set(attributes), tag
        assert (attributes.get("href") or "#").startswith("#"), tag
    style = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)[0]
    assert "url(" not in style
    assert "@import" not in style


def test_undefined_scores_and_what_stress_is_not(elements: Elements) -> None:
    assert "undefined" in elements.text
    assert "a more faithful encoding is not a better model" in elements.text


def test_the_same_run_gives_the_same_page(run: Run, html: str) -> None:
    assert render_page([run], progress=silent) == html


def test_several_runs_side_by_side(run: Run, tmp_path: Path) -> None:
    other = Run("<b>other</b>", run.scores, run.charts, None)
    save_page([run, other], tmp_path / "two.html")
    text = (tmp_path / "two.html").read_text()
    parser = Elements()
    parser.feed(text)
    assert "Position geometry of 2 runs" in parser.text
    assert "Runs side by side" in parser.text
    assert "b" not in [tag for tag, _ in parser.tags]
    assert "<b>other</b>" in parser.text
    assert len(json.loads(parser.scripts[0])["charts"]) == 1 + 2 * 10


@pytest.mark.slow
def test_cautions_stand_first_and_the_other_notes_with_the_method(run: Run) -> None:
    scores = (run.scores or {}) | {"cautions": ["Beware of this."], "notes": ["Counted so.", "Beware of this."]}
    parser = Elements()
    parser.feed(render_page([replace(run, scores=scores)]))
    findings, _, rest = parser.text.partition("Alignment and stress say how faithful")
    assert "Before you read the numbers:" in findings
    assert parser.text.count("Beware of this.") == findings.count("Beware of this.") == 1
    assert "Counted so." in rest[rest.index("How it was measured:") :]
    parser = Elements()
    parser.feed(render_page([replace(run, scores=scores | {"cautions": []})]))
    assert "Before you read" not in parser.text


def test_a_page_has_no_paths_of_the_machine(run: Run) -> None:
    scores = run.scores or {}
    corpus = scores["corpus"] | {"sources": ["/data/of/me/train.txt", "s3://bucket/a.txt"]}
    tokenizer = scores["tokenizer"] | {"name": "/models/of/me/tokenizer.json"}
    known = replace(run, name="/runs/of/me/one", scores=scores | {"corpus": corpus, "tokenizer": tokenizer})
    html = render_page([known, replace(known, name="/runs/of/me/two")])
    assert "/of/me" not in html
    parser = Elements()
    parser.feed(html)
    assert "train.txt, s3://bucket/a.txt" in parser.text
    assert "one, two" in parser.text


def test_names_that_tell_files_apart() -> None:
    others = ["b/z.txt", "hf:owner/name:split", "s3://b/x.txt", "/", ""]
    paths = ["/a/b/x.txt", "/a/c/x.txt", "/a/y.txt", "file:///d/q.txt", "C:\\u\\v.txt"]
    assert short_names([*others, *paths]) == [*others, "b/x.txt", "c/x.txt", "y.txt", "q.txt", "v.txt"]
    assert short_names(["/a/x.txt", "/a/x.txt"]) == ["x.txt", "x.txt"]
    assert short_names([]) == []
