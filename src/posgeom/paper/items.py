"""The items by name, and all that were asked for, redone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

from posgeom.errors import PosgeomError
from posgeom.messages import shown
from posgeom.paper.fig1 import fig1
from posgeom.paper.fig2 import fig2
from posgeom.paper.fig4 import fig4
from posgeom.paper.fig6 import fig6
from posgeom.paper.fig7 import fig7
from posgeom.paper.fig8 import fig8
from posgeom.paper.inputs import Inputs
from posgeom.paper.result import VERDICTS, ItemResult
from posgeom.paper.table2 import table2
from posgeom.paper.table3 import table3
from posgeom.paper.table4 import table4
from posgeom.paper.values import paper_source

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Item:
    """A table or figure of the paper.

    Attributes
    ----------
    compute : callable
    needs : tuple of str
        Those of sst2, imdb and model that it can use.
    """

    compute: Callable[[Inputs], ItemResult]
    needs: tuple[str, ...] = ()


ITEMS: Mapping[str, Item] = MappingProxyType(
    {
        "table2": Item(table2),
        "table3": Item(table3),
        "table4": Item(table4, ("sst2", "imdb")),
        "fig1": Item(fig1),
        "fig2": Item(fig2),
        "fig4": Item(fig4, ("sst2", "imdb")),
        "fig6": Item(fig6, ("sst2", "model")),
        "fig7": Item(fig7, ("sst2", "model")),
        "fig8": Item(fig8, ("sst2", "model")),
    }
)
"""Every table and figure that needs no training, in the paper's order."""
ALL = "all"


def chosen_items(names: Sequence[str]) -> list[str]:
    """Names of items, in the paper's order and once each."""
    for name in names:
        if name not in ITEMS and name != ALL:
            raise PosgeomError(
                f"no item {shown(name)}: expected {', '.join(ITEMS)} or {ALL}; the paper's other tables and figures "
                "need training"
            )
    return list(ITEMS) if not names or ALL in names else [name for name in ITEMS if name in names]


def needs_of(names: Sequence[str]) -> set[str]:
    """Those of sst2, imdb and model that items can use."""
    return {need for name in names for need in ITEMS[name].needs}


@dataclass(frozen=True)
class Reproduction:
    """Items of the paper, redone.

    Attributes
    ----------
    items : tuple of ItemResult
    inputs : Inputs
    """

    items: tuple[ItemResult, ...]
    inputs: Inputs

    def to_dict(self) -> dict[str, Any]:
        """The content of ``reproduce.json``."""
        inputs = self.inputs
        return {
            "schema_version": SCHEMA_VERSION,
            "software": {"name": "posgeom", "version": version("posgeom")},
            "paper": paper_source(),
            "seed": inputs.seed,
            "n_seeds": inputs.n_seeds,
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
    wanted = chosen_items(names)
    results = []
    for done, name in enumerate(wanted):
        inputs.progress("items", done, len(wanted))
        results.append(ITEMS[name].compute(inputs))
    inputs.progress("items", len(wanted), len(wanted))
    return Reproduction(tuple(results), inputs)
