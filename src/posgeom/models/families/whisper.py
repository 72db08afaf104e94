"""Whisper: fixed sines and cosines over the encoder's frames, a learned table in the decoder."""

from posgeom.models.config import ModelConfig
from posgeom.models.families.bart import side_stack
from posgeom.models.families.bert import initial_std
from posgeom.models.family import Family, PositionTable, Stack


class Whisper(Family):
    """Whisper; both tables start at row 0."""

    model_types = ("whisper",)
    prefixes = frozenset({"model"})

    def stacks(self, config: ModelConfig) -> tuple[Stack, ...]:
        """See `Family`."""
        encoder = PositionTable(
            "encoder.embed_positions.weight", fixed=True, n_rows=config.whole("max_source_positions", default=1500)
        )
        decoder = PositionTable(
            "decoder.embed_positions.weight",
            initial_std=initial_std(config),
            n_rows=config.whole("max_target_positions", default=448),
        )
        return side_stack(config, "encoder", encoder), side_stack(config, "decoder", decoder)
