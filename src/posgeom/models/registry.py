"""Families by ``model_type``: posgeom's own, registered ones, and those of other packages."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from types import MappingProxyType

from posgeom.encodings.plugins import package_of
from posgeom.errors import CheckpointError
from posgeom.messages import one_line, shown
from posgeom.models.families.albert import Albert
from posgeom.models.families.bart import M2M100, Bart, Blenderbot, Marian
from posgeom.models.families.bert import Bert, DistilBert, Electra
from posgeom.models.families.bloom import Bloom
from posgeom.models.families.deberta import DebertaV2
from posgeom.models.families.gpt2 import GPT2, GPTNeo
from posgeom.models.families.gpt_neox import GPTNeoX
from posgeom.models.families.gptj import GPTJ
from posgeom.models.families.mpt import MPT
from posgeom.models.families.opt import OPT
from posgeom.models.families.roberta import Esm, MPNet, Roberta
from posgeom.models.families.rotary import ROTARY, Falcon
from posgeom.models.families.swin import Swin, SwinV2
from posgeom.models.families.t5 import T5, UMT5
from posgeom.models.families.vit import Clip, DeiT, Dinov2, Siglip, ViT
from posgeom.models.families.whisper import Whisper
from posgeom.models.families.xlnet import XLNet
from posgeom.models.family import Family

GROUP = "posgeom.families"
"""Entry-point group in which a package offers families: the entry's name is a ``model_type``."""
_OWN: tuple[type[Family], ...] = (
    Bert,
    DistilBert,
    Electra,
    Roberta,
    MPNet,
    Esm,
    Albert,
    GPT2,
    GPTNeo,
    GPTNeoX,
    GPTJ,
    OPT,
)
_OWN += (Bart, Blenderbot, Marian, M2M100, T5, UMT5, Bloom, MPT, Falcon, ViT, DeiT, Dinov2, Clip, Siglip, Whisper)
_OWN += (DebertaV2, XLNet, Swin, SwinV2)
_MADE = (*(family() for family in _OWN), *ROTARY)
FAMILIES: Mapping[str, Family] = MappingProxyType({name: family for family in _MADE for name in family.model_types})
"""posgeom's own families, by ``model_type``."""
_REGISTERED: dict[str, Family] = {}


def register_family(family: Family) -> None:
    """Make a family of your own known, in this process.

    A package can offer one to every process by an entry point in the group ``posgeom.families``, whose name is the
    ``model_type`` and whose value a subclass of `Family`.

    Parameters
    ----------
    family : Family

    Raises
    ------
    CheckpointError
        When it names no ``model_type``, or one of posgeom's own.
    """
    if not isinstance(family, Family) or not family.model_types:
        raise CheckpointError(f"got {type(family).__name__} for a family: expected a Family with model_types")
    for name in family.model_types:
        if name in FAMILIES:
            raise CheckpointError(f"model_type {shown(name)} is posgeom's own: choose another")
    _REGISTERED.update(dict.fromkeys(family.model_types, family))


def model_types() -> list[str]:
    """Every ``model_type`` that is known."""
    offered = {entry.name for entry in entry_points(group=GROUP)}
    return list(dict.fromkeys([*FAMILIES, *_REGISTERED, *sorted(offered)]))


def find_family(model_type: str) -> Family | None:
    """The family of a ``model_type``, or None."""
    family = FAMILIES.get(model_type) or _REGISTERED.get(model_type)
    return family or (_load(model_type) if model_type else None)


def _load(model_type: str) -> Family | None:
    found = list(dict.fromkeys(entry_points(group=GROUP, name=model_type)))
    if not found:
        return None
    packages = [package_of(entry) for entry in found]
    what = f"the family of model_type {shown(model_type)}"
    if len(found) > 1:
        raise CheckpointError(f"{what} is offered by {' and by '.join(packages)}: uninstall one of them")
    try:
        loaded = found[0].load()
        family = loaded() if isinstance(loaded, type) else loaded
    except Exception as error:
        cause = f"{type(error).__name__}: {one_line(error)}"
        raise CheckpointError(f"{what}, of package {packages[0]}, cannot be loaded: {cause}") from error
    if not isinstance(family, Family):
        raise CheckpointError(f"{what}, of package {packages[0]}, is no posgeom Family")
    return family
