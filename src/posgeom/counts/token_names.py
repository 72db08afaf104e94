"""What the tokens of counts are called."""

from collections.abc import Sequence

from posgeom.counts.position_counts import PositionCounts
from posgeom.errors import TokenizerError
from posgeom.messages import shown
from posgeom.tokenize.tokenizer_files import TokenizerSpec, load_tokenizer


def token_names(counts: PositionCounts, tokens: Sequence[int], tokenizer: TokenizerSpec | None = None) -> list[str]:
    """Names of token ids: by a tokenizer, which must be that of the counts, or the one that these name.

    Without a tokenizer that can be loaded they are numbers, written ``#17``.
    """
    if counts.vocabulary is not None:
        return [counts.vocabulary[token] for token in tokens]
    try:
        loaded = load_tokenizer(counts.tokenizer.name if tokenizer is None else tokenizer)
    except TokenizerError:
        if tokenizer is not None:
            raise
        return [f"#{token}" for token in tokens]
    if loaded.identity.matches(counts.tokenizer):
        return loaded.names(tokens)
    if tokenizer is not None:
        raise TokenizerError(
            f"tokenizer {shown(loaded.identity.name)} is not the one of these counts, {shown(counts.tokenizer.name)}"
        )
    return [f"#{token}" for token in tokens]
