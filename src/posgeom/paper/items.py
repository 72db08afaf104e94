"""The items by name, and all that were asked for, redone."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

from posgeom.errors import PosgeomError
from posgeom.frames import Framed
from posgeom.messages import shown
from posgeom.paper.along_training import FIG5
from posgeom.paper.inputs import Inputs
from posgeom.paper.item import Item
from posgeom.paper.layers import FIG8
from posgeom.paper.on_synthetic import FIG1, FIG2, TABLE2, TABLE3
from posgeom.paper.on_text import FIG4, TABLE4
from posgeom.paper.result import VERDICTS, ItemResult
from posgeom.paper.trained import FIG6, FIG7

SCHEMA_VERSION = 1
ITEMS: Mapping[str, Item] = MappingProxyType(
    {item.name: item for item in (TABLE2, TABLE3, TABLE4, FIG1, FIG2, FIG4, FIG5, FIG6, FIG7, FIG8)}
)
"""Every table and figure that is redone here, in the paper's order."""
ALL = "all"


def chosen_items(names: Sequence[str]) -> list[str]:
    """Names of items, in the paper's order and once each."""
    for name in names:
        if name not in ITEMS and name != ALL:
            raise PosgeomError(f"no item {shown(name)}: expected {', '.join(ITEMS)} or {ALL}")
    return list(ITEMS) if not names or ALL in names else [name for name in ITEMS if name in names]


def needs_of(names: Sequence[str]) -> set[str]:
    """Those of sst2, imdb, model and train that items can use."""
    return {one for name in names for need in ITEMS[name].needs for one in need.inputs}


@dataclass(frozen=True)
class Reproduction(Framed):
    """Items of the paper, redone from these inputs."""

    items: tuple[ItemResult, ...]
    inputs: Inputs

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain dictionary per number of the paper's convention, for CSV or a data frame."""
        return [{"item": item.name} | asdict(row) for item in self.items for row in item.rows]

    def to_dict(self) -> dict[str, Any]:
        """The content of ``reproduce.json``."""
        inputs = self.inputs
        return {
            "schema_version": SCHEMA_VERSION,
            **inputs.described(),
            "verdicts": {str(verdict): meaning for verdict, meaning in VERDICTS.items()},
            "corpora": {
                key: {
                    "sources": list(corpus.counts.sources),
                    "tokenizer": corpus.counts.tokenizer.name,
                    "documents": corpus.counts.n_documents,
                    "vocab_size": corpus.counts.vocab_size,
                    "n_positions": corpus.counts.n_positions,
                    "is_the_papers": corpus.is_the_papers,
                }
                for key, corpus in inputs.corpora.items()
            },
            "models": {
                name: None if model is None else model.checkpoint.name
                for name, model in (("pretrained", inputs.model), ("scratch", inputs.scratch))
            },
            "items": [item.to_dict() for item in self.items],
        }


def reproduce(names: Sequence[str], inputs: Inputs) -> Reproduction:
    """Redo items of the paper."""
    chosen = chosen_items(names)
    results = []
    for done, name in enumerate(chosen):
        inputs.progress("items", done, len(chosen))
        results.append(ITEMS[name].redo(inputs))
    inputs.progress("items", len(chosen), len(chosen))
    return Reproduction(tuple(results), inputs)
