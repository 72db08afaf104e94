"""Table 3: the encodings on the synthetic corpus at d = 16."""

from posgeom.paper.inputs import Inputs, SyntheticRun, defined, value_of
from posgeom.paper.result import Estimate, ItemResult, SoundRow, compare, over_seeds
from posgeom.paper.sound import scores_of
from posgeom.paper.stresses import FIXED, IN_SAMPLE, MDS, SPECS, build, mds_stresses, stress_of
from posgeom.paper.table2 import synthetic_note

N_DIMS = 16
_KEYS = {MDS: "table3.mds", "sinusoidal": "table3.sinusoidal"}


def table3(inputs: Inputs) -> ItemResult:
    """Compute Table 3."""
    stresses = [five_stresses(run) for run in inputs.synthetic]
    rows = [
        compare(f"raw stress, {name}", over_seeds([by_name[name][0] for by_name in stresses]), _KEYS.get(name))
        for name in SPECS
    ]
    ratios = [by_name["sinusoidal"][0] / by_name[MDS][0] for by_name in stresses]
    rows.append(compare("raw stress, sinusoidal over MDS", over_seeds(ratios), "table3.ratio"))
    sound = tuple(
        SoundRow(
            f"alignment, {name}",
            "",
            over_seeds([by_name[name][1] for by_name in stresses]),
            over_seeds([by_name[name][2] for by_name in stresses]),
        )
        for name in SPECS
    )
    return ItemResult(
        name="table3",
        title=f"Table 3: encodings on the synthetic corpus, d = {N_DIMS}",
        section="6.2",
        rows=tuple(rows),
        sound=sound,
        change=ranking(sound),
        notes=(synthetic_note(inputs), IN_SAMPLE),
    )


def five_stresses(run: SyntheticRun) -> dict[str, tuple[float, float, float]]:
    """Of each encoding: raw stress on the paper's distances, and alignment with those and with sound ones."""
    fitted = mds_stresses(run.paper.distances)[:N_DIMS][-1]
    raw = {MDS: fitted} | {name: stress_of(spec, run.paper, N_DIMS, run.seed) for name, spec in FIXED.items()}
    plugin, sound = (
        scores_of([build(spec, shape, N_DIMS, run.seed) for spec in SPECS.values()], shape, intervals=False)
        for shape in (run.paper, run.sound)
    )
    both = zip(SPECS, plugin, sound, strict=True)
    return {name: (defined(raw[name].raw), value_of(before), value_of(after)) for name, before, after in both}


def ranking(sound: tuple[SoundRow, ...]) -> str:
    """Name the order that alignment gives, of rows called ``alignment, NAME``."""
    known = [(row.sound, row.quantity.removeprefix("alignment, ")) for row in sound]
    values = sorted(((-e.value, name) for e, name in known if isinstance(e, Estimate)))
    listed = ", ".join(f"{name} {-value:.3f}" for value, name in values)
    return (
        "Raw stress measures mostly the norm of an encoding; by alignment, which no norm changes, the order on "
        f"cross-validated distances is {listed} (1 is faithful)."
    )
