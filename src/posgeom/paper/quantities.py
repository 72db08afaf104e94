"""Rows that are computed from something which may not have been given: a corpus, or a model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from posgeom.paper.inputs import Corpus, Inputs, PaperCorpus, corpus_missing
from posgeom.paper.result import Estimate, Missing, Row, compare, not_comparable, not_run

Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Quantity(Generic[Subject]):
    """What a row shows, and how it is computed.

    Attributes
    ----------
    text : str
    key : str or None
        Of the paper's number.
    compute : callable
        From a corpus, or a model.
    unit : str
        Where there is no key.
    """

    text: str
    key: str | None
    compute: Callable[[Subject], Estimate | float | None]
    unit: str = ""


def rows_of(
    quantities: Sequence[Quantity[Subject]], subject: Subject | None, *, is_the_papers: bool = True
) -> list[Row]:
    """Rows of quantities; not run without a subject, not comparable where it is not the paper's."""
    if subject is None:
        return [not_run(q.text, q.key, unit=q.unit) for q in quantities]
    rows = [compare(q.text, q.compute(subject), q.key, unit=q.unit) for q in quantities]
    return rows if is_the_papers else [not_comparable(row) for row in rows]


def corpus_rows(inputs: Inputs, what: PaperCorpus, quantities: Sequence[Quantity[Corpus]]) -> list[Row]:
    """Rows of a corpus of the paper, each named after it."""
    named = named_after(what, quantities)
    return rows_of(named, inputs.corpora.get(what.key), is_the_papers=is_the_papers(inputs, what))


def named_after(what: PaperCorpus, quantities: Sequence[Quantity[Subject]]) -> list[Quantity[Subject]]:
    """The same quantities, with the corpus in their names."""
    return [replace(q, text=f"{what.title}: {q.text}") for q in quantities]


def is_the_papers(inputs: Inputs, what: PaperCorpus) -> bool:
    """Whether a corpus is not given, or is the paper's."""
    corpus = inputs.corpora.get(what.key)
    return corpus is None or corpus.is_the_papers


def missing_corpora(inputs: Inputs, whats: Sequence[PaperCorpus]) -> list[Missing]:
    """Which of the corpora were not given."""
    return [corpus_missing(what) for what in whats if what.key not in inputs.corpora]


def corpus_notes(inputs: Inputs, whats: Sequence[PaperCorpus]) -> list[str]:
    """What to know of the corpora that were given."""
    notes = []
    for what in whats:
        corpus = inputs.corpora.get(what.key)
        if corpus is None:
            continue
        if not corpus.is_the_papers:
            notes.append(
                f"{what.title}: {corpus.counts.n_documents:,} documents and V = {corpus.counts.vocab_size:,} were "
                f"given, the paper's has {what.n_documents:,} and BERT's uncased vocabulary of 30,522: its numbers are "
                "not comparable."
            )
        if what.key == "sst2":
            notes.append(
                "SST-2: the rows are overlapping phrases of some 7,000 sentences, and the file does not say of which. "
                "Phrases of one sentence fall into both halves, so its sound numbers still hold some noise and their "
                "intervals are too narrow."
            )
    return notes
