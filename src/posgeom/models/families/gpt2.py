"""GPT-2 and GPT-Neo: a learned table."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bert import decoder_stack, initial_std
from posgeom.models.family import Family, PositionTable, Stack
from posgeom.models.query_key import Fused, Layout, Separate


class GPT2(Family):
    """GPT-2: queries, keys and values fused in a Conv1D that is stored in x out."""

    model_types: tuple[str, ...] = ("gpt2",)
    prefixes = frozenset({"transformer"})
    layout: Layout = Fused("h.{layer}.attn.c_attn", "blocks", transposed=True)
    rows: tuple[tuple[str, ...], int] = (("n_positions", "n_ctx"), 1024)

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        names, usual = self.rows
        table = PositionTable(
            "wpe.weight",
            initial_std=initial_std(config),
            n_rows=config.whole(*names, default=usual),
            width=config.whole("n_embd", "hidden_size"),
        )
        return (decoder_stack(config, table, self.layout),)


class GPTNeo(GPT2):
    """GPT-Neo: projections of their own; its logits are not divided by the root of a head's width."""

    model_types = ("gpt_neo",)
    layout = Separate("h.{layer}.attn.attention.q_proj", "h.{layer}.attn.attention.k_proj")
    rows = (("max_position_embeddings",), 2048)
