"""Notes that go with the numbers of an analysis."""

from collections.abc import Iterator, Mapping

from posgeom.counts.counts_notes import notes_on_counts
from posgeom.estimation.build import MAX_RANK_POSITIONS, Geometry
from posgeom.inference.null_corpora import CAVEAT, FEWEST_NULLS
from posgeom.inference.significance import HYPOTHESIS
from posgeom.messages import Caution, printable
from posgeom.policies import ENOUGH_FOLDS, FEWEST_TO_TEST, MAX_REFITTED_POSITIONS, SHALLOW_GROUP
from posgeom.results import Analysis

LARGE_NEGATIVE_MASS, RESOLVED, CHANGING = 0.05, 0.9, 0.05
"""When a note says so: share of the spectrum; self-affinity; change of the distance over the last step of depth."""


def notes_on(analysis: Analysis, *, default_encodings: bool) -> tuple[str, ...]:
    """What a reader of the numbers should know, first what always holds; a `Caution` is what changes the reading."""
    geometry = analysis.geometry
    parts = (
        _on_scores(analysis),
        _on_errors(analysis),
        _on_structure(analysis),
        _on_depth(analysis),
        _on_encodings(analysis),
        _on_geometry(geometry),
    )
    notes = [note for part in parts for note in part]
    if default_encodings and analysis.n_dims % 2:
        notes.append(f"rope is left out: it needs an even width, and d = {analysis.n_dims}.")
    return (*notes, *notes_on_counts(analysis.counts))


def _on_scores(analysis: Analysis) -> Iterator[str]:
    card = analysis.scorecard
    yield (
        "Alignment says how much of the geometry of the corpus an encoding has, whatever its scale; stress how far its "
        "distances are off. They are diagnostics: a more faithful encoding is not a better model."
    )
    if card.undefined is not None:
        yield Caution(f"Alignment is undefined: {card.undefined}. Encodings are not ranked.")
    elif any(row.name == "random" for row in card):
        yield (
            "Compare encodings by alignment. That of random is what a table shares with any geometry by chance: an "
            "encoding that is not above it says nothing of this one."
        )


def _on_errors(analysis: Analysis) -> Iterator[str]:
    geometry, card = analysis.geometry, analysis.scorecard
    if geometry.estimator == "plugin":
        yield Caution(
            "Plug-in distances are biased upwards by sampling noise: part of this geometry, of its rank and of every "
            "score is noise. Scores carry no intervals, which would not cover that bias."
        )
        return
    if analysis.level is None:
        yield Caution("Intervals were not asked for: small differences may be chance.")
        return
    if card.level is None:
        yield Caution(f"Scores carry no intervals: that takes {ENOUGH_FOLDS} folds with documents.")
        return
    of_samples = "" if geometry.depth is None else f" They are of samples of {geometry.depth:,} documents."
    yield (
        f"Intervals are Student's, by the jackknife over {card.n_folds} parts of the corpus.{of_samples} Those of "
        "stress and correlations are approximate: roots of noisy distances are biased, and more text does not help."
    )
    if geometry.depth is not None:
        yield (
            "How many documents make a sample depends on the folds: count again with --folds 6, or 20, to see what "
            "deeper and shallower samples change."
        )
    if any(row.sample == "out" for row in card) and geometry.positions.size > MAX_REFITTED_POSITIONS:
        yield (
            f"What is fitted to the corpus has no interval beyond {MAX_REFITTED_POSITIONS:,} positions: each takes "
            "dozens of fits. --bins makes fewer positions."
        )


def _on_structure(analysis: Analysis) -> Iterator[str]:
    tested, beyond, geometry = analysis.significance, analysis.beyond_lengths, analysis.geometry
    if geometry.estimator == "plugin":
        return
    if tested is None:
        yield (
            f"The significant rank is not known: that takes {FEWEST_TO_TEST} folds with documents, and "
            f"{len(geometry.fold_groups)} parts of the corpus are used; with five no p-value is below 1/16."
        )
    else:
        yield (
            f"Axes are tested by flipping the signs of folds, {tested.n_patterns:,} patterns, so that no p-value is "
            f"below {tested.smallest_p:.2g}. The hypothesis is that {HYPOTHESIS}. Whatever makes documents alike must "
            "share a fold (--fold-by)."
        )
    if beyond is not None:
        p_value = f"p = {beyond.p_values[0]:.2g} for the first axis"
        yield (
            f"Order beyond lengths: {beyond.rank} axes exceed those of {len(beyond.null)} null corpora ({beyond.kind}; "
            f"{p_value}), in which only the lengths of documents tell positions apart. But {CAVEAT[beyond.kind]}."
        )
    elif analysis.counts.null:
        n_null = len(analysis.counts.null)
        yield f"Null corpora are not used: that takes {FEWEST_NULLS} of them, and {n_null} were counted."


def _on_depth(analysis: Analysis) -> Iterator[str]:
    geometry, curve = analysis.geometry, analysis.depth_curve
    if geometry.self_affinity is not None and geometry.self_affinity < RESOLVED:
        yield Caution(
            f"Two halves of the corpus agree on a position's tokens to {geometry.self_affinity:.2f} (1: all resolved): "
            "many tokens are seen about once, and differences that rest on them are not detected."
        )
    step = None if curve is None else curve.last_step
    if curve is not None and step is not None and abs(step) > CHANGING:
        before, last = curve.points[-2:]
        what = "grows" if step > 0 else "falls"
        more = "more" if step > 0 else "less"
        yield Caution(
            f"More text would show {more}: the mean squared distance {what} from {before.mean_squared.value:.4f} to "
            f"{last.mean_squared.value:.4f} between samples of {before.depth:,} and of {last.depth:,} documents; what "
            "unlimited text would show is not known."
        )
    unit = "sequences at the shallowest position" if geometry.selection.bins is None else "tokens in the shallowest bin"
    if geometry.depth is not None and geometry.depth < SHALLOW_GROUP:
        yield Caution(
            f"Each part of the corpus has only {geometry.depth} {unit}: most tokens are not resolved. More text, fewer "
            "--folds, or a higher --min-depth, would help."
        )


def _on_encodings(analysis: Analysis) -> Iterator[str]:
    card, geometry = analysis.scorecard, analysis.geometry
    for row in card:
        if row.negative_mass:
            yield (
                f"{printable(row.name)}: {row.negative_mass:.1%} of the spectrum of its bias is negative, which no "
                "distances can have; its classical MDS leaves that part out."
            )
    samples = {row.sample for row in card}
    if "in" in samples:
        yield Caution("mds is fitted to the distances it is scored on, so its scores are in-sample.")
    if "out" in samples:
        yield "mds is fitted on one half of the corpus, and scored on the other."
    for encoding in analysis.encodings:
        corpus = encoding.fit.get("corpus")
        known = corpus.get("checksum") if isinstance(corpus, Mapping) else None
        if known == analysis.counts.checksum and encoding.refit is None:
            yield Caution(
                f"{printable(encoding.name)} was fitted to this corpus: its scores are in-sample, and its file says "
                "what it explains out of sample."
            )
    names = [row.name for row in card]
    if "mds" in names and geometry.spectrum.negative_mass > LARGE_NEGATIVE_MASS:
        yield Caution(
            f"{geometry.spectrum.negative_mass:.0%} of the spectrum is negative, which no coordinates can have: full "
            "mds keeps as much noise on its positive axes, and a lower rank is more faithful."
        )


def _on_geometry(geometry: Geometry) -> Iterator[str]:
    if geometry.selection.shallow.size > geometry.positions.size:
        yield Caution(
            f"{geometry.selection.shallow.size:,} positions with data are masked for lack of depth, more than are "
            "used: a lower --min-depth sees farther, less precisely."
        )
    if geometry.rank is None:
        yield (
            f"The paper's rank is not computed: more than {MAX_RANK_POSITIONS:,} positions have data. The spectrum of "
            "the used ones is."
        )
