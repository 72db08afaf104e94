"""CoNLL-U treebanks, parsed by the package conllu: a sentence is a document, its words or another column its text."""

import importlib
from collections.abc import Iterator
from typing import Any

from posgeom.corpus.documents import DocumentBatch
from posgeom.corpus.messages import located
from posgeom.corpus.readers.alignments import TextLines
from posgeom.corpus.readers.tabular import Row, batched, group_value, missing_column, needs_package
from posgeom.corpus.streams import Stream
from posgeom.errors import CorpusError
from posgeom.messages import one_line
from posgeom.options import ReadOptions

_DEFAULT_COLUMN = "form"
_SPACES = "some values of a CoNLL-U column hold spaces, and are several words to a tokenizer"


def read_conllu(stream: Stream, options: ReadOptions) -> Iterator[DocumentBatch]:
    """Read the syntactic words of sentences, or another of their columns, joined by spaces.

    Multiword tokens and empty nodes are left out. Folds may be by a comment of sentences, such as ``sent_id``, or
    ``newdoc id``, which holds until the next.
    """
    needs_package("conllu", "conllu", "conllu", "CoNLL-U", stream.source)
    return batched(_rows(stream, options), stream.source, options, options.column or _DEFAULT_COLUMN)


def _rows(stream: Stream, options: ReadOptions) -> Iterator[Row]:
    column = options.column or _DEFAULT_COLUMN
    comments: dict[str, str] = {}
    for line, sentence in _sentences(stream, options):
        comments |= sentence.metadata
        words = []
        for token in sentence:
            if len(token) < len(sentence.default_fields):
                raise _damaged(f"{len(token)} columns", stream, line)
            if column not in token:
                raise missing_column(column, list(token), stream.source, "--column")
            if isinstance(token["id"], int):
                words.append(token[column])
                if " " in token[column]:
                    stream.note(_SPACES)
        if words:
            yield line, " ".join(words), _group(comments, options, stream, line)


def _group(comments: dict[str, str], options: ReadOptions, stream: Stream, line: int) -> str | None:
    if options.fold_column is None:
        return None
    if options.fold_column not in comments:
        raise missing_column(options.fold_column, list(comments), stream.source, "--fold-by")
    return group_value(comments[options.fold_column], options.fold_column, stream.source, line)


def _sentences(stream: Stream, options: ReadOptions) -> Iterator[tuple[int, Any]]:
    library: Any = importlib.import_module("conllu")
    lines = TextLines(stream, options)
    # The columns as they stand; the library would make dictionaries of some.
    as_it_stands = dict.fromkeys(("xpos", "feats", "head", "deps", "misc"), lambda fields, i: fields[i])
    try:
        for sentence in library.parse_incr(lines, field_parsers=as_it_stands):
            yield lines.number, sentence
    except (library.exceptions.ParseException, LookupError, ValueError, TypeError) as error:
        raise _damaged(one_line(error), stream, lines.number) from None


def _damaged(reason: str, stream: Stream, line: int) -> CorpusError:
    return CorpusError(
        f"{located(stream.source.name, max(line, 1))}: damaged or not CoNLL-U ({reason}): expected ten columns with"
        " tabs between them; mend it, or say what the file is with --format"
    )
