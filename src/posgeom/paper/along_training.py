"""Figure 5: the minimum separation of positions along training, from scratch and from a checkpoint, on SST-2."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posgeom.encodings.base import Encoding
from posgeom.paper.inputs import SST2, Corpus, Given, Inputs
from posgeom.paper.item import Item, Panel, Quantity, Results, curve, on, panel, sentence
from posgeom.paper.measured import Convention, scores_of
from posgeom.paper.needs import SEED, Positions
from posgeom.paper.result import Estimate, Missing
from posgeom.paper.trained import fixed
from posgeom.scores.separation import minimum_separation

Record = Mapping[str, Any]
SCRATCH, TUNED = "scratch", "fine-tuned"
_WAYS_OUT = {SCRATCH: "--train tiny or --train base, with --sst2 PATH", TUNED: "--train and --model PATH"}


@dataclass(frozen=True)
class TrainingRun:
    """The records of a run of training."""

    name: str
    inputs: frozenset[str] = frozenset({"train"})

    def of(self, inputs: Inputs) -> Given:
        """The records, where such a run was made."""
        run = inputs.runs.get(self.name)
        if run is None:
            reason = "training takes minutes to hours, and was not asked for"
            return Given(missing=(Missing(f"training, {self.name}", reason, _WAYS_OUT[self.name]),))
        what, machine = run["model"], run["machine"]
        note = (
            f"{self.name}: {what['n_layers']} layers of width {what['width']}, {run['records'][-1]['step']:,} steps on "
            f"{run['task']['train_documents']:,} documents, seed {run['options']['seed']}, {machine['device']}."
        )
        is_the_papers = run["options"]["preset"] == "base" and inputs.given(SST2).is_the_papers
        return Given((run["records"],), is_the_papers=is_the_papers, notes=(note,))


def at(place: int) -> Callable[[list[Record]], float]:
    """The minimum separation of the first record, or of the last one."""
    return lambda records: float(records[place]["min_separation"])


def largest_change(records: list[Record]) -> float:
    """How far the minimum separation goes from where it began, in per cent."""
    start, *others = (float(record["min_separation"]) for record in records)
    return max((100 * abs(other / start - 1) for other in others), default=0.0)


def fresh_separation(seed: int) -> float:
    """Minimum separation of rows that nothing has trained, N(0, .02^2)."""
    positions = np.arange(SST2.n_positions)
    return minimum_separation(fixed("random", seed).distances(positions), positions).distance


def aligned(encoding: Encoding, corpus: Corpus, convention: Convention) -> Estimate | None:
    """Alignment of a trained model's positions."""
    return scores_of([encoding], corpus.under(convention))[0]


def fig5_panels(results: Results) -> tuple[Panel, ...]:
    """Separation and held-out loss against steps."""
    runs = {name: records for name in (SCRATCH, TUNED) if (records := results.inputs.only(TrainingRun(name)))}
    if not runs:
        return ()
    drawn = (
        ("Minimum separation along training, SST-2", "min |p_i - p_j|", "min_separation"),
        ("Held-out loss along training, SST-2", "mean cross-entropy, nats", "loss"),
    )
    caption = "One run each. The theorem asks that separation be positive; that of fresh rows is .71 at BERT's width."
    return tuple(
        panel(
            "lines",
            title,
            caption,
            x_title="optimiser step",
            y_title=y_title,
            x_log=False,
            y_log=False,
            series=[curve(name, {r["step"]: r[key] for r in records}) for name, records in runs.items()],
        )
        for title, y_title, key in drawn
    )


FIG5 = Item(
    name="fig5",
    title="Figure 5: minimum separation of positions along training, SST-2",
    section="6.5",
    rows=(
        Quantity("separation, fresh rows N(0, .02^2)", fresh_separation, "fig5.scratch", needs=(SEED,)),
        *on(TrainingRun(SCRATCH))(
            Quantity("separation, scratch, at first", at(0), "fig5.scratch"),
            Quantity("separation, scratch, at last", at(-1)),
            Quantity("violations, scratch, at first", lambda r: 100 * r[0]["violation_rate"], unit="%"),
        ),
        *on(TrainingRun(TUNED))(
            Quantity("separation, fine-tuned, at first", at(0)),
            Quantity("separation, fine-tuned, at last", at(-1)),
            Quantity("its largest change, fine-tuned", largest_change, "fig5.change"),
        ),
    ),
    sound=(
        Quantity("alignment, scratch, at last", aligned, needs=(Positions(SCRATCH), SST2)),
        Quantity("alignment, pretrained", aligned, needs=(Positions("pretrained"), SST2)),
    ),
    change=sentence(
        "A separation of {ours[separation, fresh rows N(0, .02^2)]:.2f} is that of rows that nothing has trained",
        "; after training from scratch, alignment with the corpus is {sound[alignment, scratch, at last]:.3f}",
        ".",
    ),
    panels=fig5_panels,
    notes=("A run has one seed; separation at step 0 is the draw's own.",),
)
