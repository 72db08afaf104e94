"""docs/claims.md is the ledger of the paper's corpora and of a small BERT."""

import os
from pathlib import Path

import pytest

from posgeom.paper.inputs import PaperFiles, open_inputs
from posgeom.report.claims import claims_table, verdict_counts
from posgeom.theory.claims import ledger
from posgeom.theory.evidence import Evidence

PAGE = Path(__file__).parents[2] / "docs" / "claims.md"
BEGIN, END = "<!-- claims -->\n", "\n<!-- /claims -->"


def settled(table: str) -> list[list[str]]:
    """The columns that a last digit cannot change: all but the reason."""
    rows = [line.replace("\\|", "/").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [[*row[:4], row[-1]] for row in rows]


@pytest.mark.models
@pytest.mark.slow
def test_the_page_is_the_ledger(data_dir: Path, bert: Path, minilm: Path) -> None:
    """With POSGEOM_WRITE_DOCS set the page is written anew instead."""
    inputs = open_inputs(
        PaperFiles(sst2=data_dir / "sst2.parquet", imdb=data_dir / "imdb.parquet", tokenizer=bert, model=minilm),
        n_seeds=20,
    )
    document = ledger(Evidence(inputs, str(minilm))).to_dict()
    table = f"{verdict_counts(document)}\n\n{claims_table(document)}"
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    stored, _, tail = rest.partition(END)
    if os.environ.get("POSGEOM_WRITE_DOCS"):
        PAGE.write_text(f"{head}{BEGIN}{table}{END}{tail}", encoding="utf-8")
        return
    assert settled(stored) == settled(table)
    assert verdict_counts(document) in stored


def test_the_page_has_every_claim_and_no_place_of_a_machine() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [row[0] for row in settled(text)][1:] == [f"| {number}" for number in range(1, 39)]
    assert "/home" not in text
    assert "site-packages" not in text
