"""DeBERTa-v2 and v3: vectors of the lag inside the attention, and a learned table beside them where the config says."""

from dataclasses import replace

from posgeom.errors import CheckpointError
from posgeom.messages import shown
from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import encoder_stack, learned_table
from posgeom.models.family import Family, PositionScheme, Stack
from posgeom.models.query_key import HeadShape, Separate
from posgeom.models.relative_kinds import Disentangled, Words

_LAYER = "encoder.layer.{layer}.attention.self."
_WAYS = ("c2p", "p2c")


class DebertaV2(Family):
    """DeBERTa-v2 and v3."""

    model_types = ("deberta-v2",)
    prefixes = frozenset({"deberta"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        width, heads = config.whole("hidden_size"), config.whole("num_attention_heads")
        layout = Separate(_LAYER + "query_proj", _LAYER + "key_proj")
        schemes: list[PositionScheme] = []
        if config.get("position_biased_input") is not False:
            schemes.append(_table(config, width))
        if config.get("relative_attention") is True:
            head_dim = config.whole("attention_head_size", default=config.head_dim(width, heads))
            schemes.append(_vectors(config, HeadShape(heads, heads, head_dim, width), layout))
        if not schemes:
            raise CheckpointError(
                f"config of {shown(config.source)} has neither position_biased_input nor relative_attention: it has no "
                "positions"
            )
        stack = encoder_stack(config, schemes[0], layout, also=tuple(schemes[1:]))
        if isinstance(schemes[-1], Disentangled):
            stack = replace(stack, head_dim=schemes[-1].heads.head_dim)
            if len(schemes) == 1:
                _refuse_other_words(config, width)
        return (stack,)


def _table(config: ModelConfig, width: int) -> PositionScheme:
    narrow = config.whole("embedding_size", default=width)
    return replace(learned_table(config, narrow), projection="embeddings.embed_proj" if narrow != width else None)


def _vectors(config: ModelConfig, heads: HeadShape, layout: Separate) -> Disentangled:
    length, buckets = config.get("max_relative_positions"), config.get("position_buckets")
    if not isinstance(length, int) or length < 1:
        length = config.whole("max_position_embeddings", default=512)
    if not isinstance(buckets, int) or buckets < 1:
        buckets = None
    given = config.get("pos_att_type") or []
    ways = [part.strip() for part in given.lower().split("|")] if isinstance(given, str) else given
    if not isinstance(ways, list) or any(way not in _WAYS for way in ways):
        raise CheckpointError(
            f"config of {shown(config.source)} has pos_att_type {shown(given, 60)}: expected c2p, p2c or both"
        )
    shared = config.get("share_att_key") is True
    names = ("key_proj", "query_proj") if shared else ("pos_key_proj", "pos_query_proj")
    projections = [_LAYER + name if way in ways else None for way, name in zip(_WAYS, names, strict=True)]
    epsilon = config.number("layer_norm_eps", default=1e-7)
    norms = [part.strip() for part in str(config.get("norm_rel_ebd") or "none").lower().split("|")]
    return Disentangled(
        "encoder.rel_embeddings.weight",
        buckets or length,
        length if buckets else 0,
        "encoder.LayerNorm" if "layer_norm" in norms else None,
        projections[0],
        projections[1],
        layout,
        heads,
        Words("embeddings.word_embeddings.weight", "embeddings.LayerNorm", epsilon),
        convolution=config.whole("conv_kernel_size", default=0, least=0),
    )


def _refuse_other_words(config: ModelConfig, width: int) -> None:
    """Refuse what is added to words, or done to them, before the first layer: the mean query would be another."""
    for key, usual in (("type_vocab_size", 0), ("embedding_size", width)):
        if config.get(key) not in (None, usual):
            raise CheckpointError(
                f"config of {shown(config.source)} has {key} = {shown(config.get(key), 40)} and relative positions "
                f"alone, which is not read: expected {usual}"
            )
