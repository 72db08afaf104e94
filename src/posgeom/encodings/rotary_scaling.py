"""Scalings of rotary frequencies to contexts longer than those a model was trained on, one class each."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from math import ceil, floor, log, pi, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from posgeom.encodings.checks import check_base, check_positive
from posgeom.encodings.frequencies import inverse_frequencies
from posgeom.errors import EncodingError

Frequencies = tuple[NDArray[np.float64], float]


@dataclass(frozen=True)
class Scaling(ABC):
    """How frequencies change with the context; `choices` has the scalings by name."""

    choices: ClassVar[dict[str, type["Scaling"]]] = {}
    name: ClassVar[str]
    source: ClassVar[str]

    def __init_subclass__(cls, *, name: str, source: str) -> None:
        cls.name, cls.source = name, source
        Scaling.choices[name] = cls

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or value is None:
                continue
            for number in value if isinstance(value, tuple) else (value,):
                check_positive(f"{self.name} scaling, {field.name}", number)

    @abstractmethod
    def frequencies(self, n_dims: int, base: float, length: int) -> Frequencies:
        """Frequencies in radians a position, shape (n_dims / 2,), and the factor of cosines and sines.

        Parameters
        ----------
        n_dims : int
            Rotated channels r, even.
        base : float
            ``rope_theta``.
        length : int
            Length of the sequence, for the scalings that depend on it and do not fix it.
        """

    def _grown(self, base: float, growth: float, n_dims: int) -> float:
        """The base under which the lowest of r / 2 frequencies falls by a factor, and the highest stays."""
        if n_dims < 4:
            raise EncodingError(f"{self.name} scaling needs at least 4 rotated channels, got {n_dims}")
        grown = float(base * growth ** (n_dims / (n_dims - 2)))
        check_base(grown)
        return grown


@dataclass(frozen=True)
class Linear(Scaling, name="linear", source="position interpolation, Chen et al. 2023"):
    """Every frequency divided by the factor.

    Parameters
    ----------
    factor : float
        Ratio of the new context length to the old one.
    """

    factor: float

    def frequencies(self, n_dims: int, base: float, length: int) -> Frequencies:  # noqa: ARG002, D102
        return inverse_frequencies(n_dims, base) / self.factor, 1.0


@dataclass(frozen=True)
class DynamicNTK(Scaling, name="dynamic", source="dynamic NTK-aware scaling, Peng et al. 2024, Section 3.3"):
    """A base that grows with the length: base (factor length / original - factor + 1)^(r / (r - 2)).

    Up to the original length nothing changes.

    Parameters
    ----------
    factor : float
        Ratio of the new context length to the old one.
    original_length : int
        Length trained on (``max_position_embeddings``).
    length : int
        Length of the sequence; by default the n positions.
    """

    factor: float
    original_length: int
    length: int | None = None

    def base(self, n_dims: int, base: float, length: int) -> float:
        """The base in use at a length."""
        ratio = max(self.length or length, self.original_length) / self.original_length
        return self._grown(base, self.factor * ratio - (self.factor - 1), n_dims)

    def frequencies(self, n_dims: int, base: float, length: int) -> Frequencies:  # noqa: D102
        return inverse_frequencies(n_dims, self.base(n_dims, base, length)), 1.0


@dataclass(frozen=True)
class AlphaNTK(Scaling, name="alpha", source="NTK-aware scaling with a fixed alpha, as in Hunyuan"):
    """A base that is larger at every length: base alpha^(r / (r - 2)).

    Parameters
    ----------
    alpha : float
    """

    alpha: float

    def frequencies(self, n_dims: int, base: float, length: int) -> Frequencies:  # noqa: ARG002, D102
        return inverse_frequencies(n_dims, self._grown(base, self.alpha, n_dims)), 1.0


@dataclass(frozen=True)
class Yarn(Scaling, name="yarn", source="YaRN, Peng et al. 2024"):
    """High frequencies kept, low ones divided by the factor, a linear ramp over the pairs between.

    Parameters
    ----------
    factor : float
        Ratio of the new context length to the old one.
    original_length : int
        Length trained on (``original_max_position_embeddings``).
    beta_fast, beta_slow : float
        Rotations over the original length above which pairs are kept, and below which they are divided.
    truncate : bool
        Whether the ends of the ramp are rounded outwards to whole channels.
    attention_factor : float
        Of cosines and sines; by default 0.1 log(factor) + 1, or the ratio of the next two.
    mscale, mscale_all_dim : float
        With both, the attention factor is (0.1 mscale log(factor) + 1) / (0.1 mscale_all_dim log(factor) + 1).
    """

    factor: float
    original_length: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta_fast < self.beta_slow:
            raise EncodingError(
                f"yarn scaling, beta_fast {self.beta_fast:g}: expected at least beta_slow {self.beta_slow:g}"
            )
        if (self.mscale is None) != (self.mscale_all_dim is None):
            raise EncodingError("yarn scaling: mscale and mscale_all_dim work together only, give both or neither")

    def ramp(self, n_dims: int, base: float) -> tuple[float, float]:
        """Ends of the ramp, in pairs: those up to the first are kept, those from the second on are divided."""
        if base <= 1:
            raise EncodingError(f"yarn scaling needs a base above 1, got {base:g}")

        def pair_with(rotations: float) -> float:
            return n_dims * log(self.original_length / (rotations * 2 * pi)) / (2 * log(base))

        low, high = pair_with(self.beta_fast), pair_with(self.beta_slow)
        if self.truncate:
            low, high = floor(low), ceil(high)
        return max(low, 0), min(high, n_dims - 1)

    def frequencies(self, n_dims: int, base: float, length: int) -> Frequencies:  # noqa: ARG002, D102
        low, high = self.ramp(n_dims, base)
        # The same width for a ramp of no width as the authors' code has.
        divided = np.clip((np.arange(n_dims // 2) - low) / (high - low if high != low else 0.001), 0, 1)
        kept = inverse_frequencies(n_dims, base)
        return kept / self.factor * divided + kept * (1 - divided), self._attention()

    def _attention(self) -> float:
        if self.attention_factor is not None:
            return self.attention_factor
        if self.mscale is None or self.mscale_all_dim is None:
            return self._mscale(1.0)
        return self._mscale(self.mscale) / self._mscale(self.mscale_all_dim)

    def _mscale(self, weight: float) -> float:
        return 0.1 * weight * log(self.factor) + 1 if self.factor > 1 else 1.0


@dataclass(frozen=True)
class LongRope(Scaling, name="longrope", source="LongRoPE, Ding et al. 2024"):
    """Each frequency divided by its own factor, found by search; one set for short contexts, one for long ones.

    Parameters
    ----------
    short_factor, long_factor : tuple of float
        One per pair, for lengths up to the original one and beyond it.
    original_length : int
        Length trained on (``original_max_position_embeddings``).
    factor : float
        Ratio of the new context length to the old one; decides the default attention factor.
    attention_factor : float
        Of cosines and sines; by default sqrt(1 + log(factor) / log(original_length)).
    length : int
        Length of the sequence; by default the n positions.
    short_mscale, long_mscale : float
        Attention factors up to the original length and beyond it, in place of the one above (Phi-3.5 MoE).
    """

    short_factor: tuple[float, ...]
    long_factor: tuple[float, ...]
    original_length: int
    factor: float
    attention_factor: float | None = None
    length: int | None = None
    short_mscale: float | None = None
    long_mscale: float | None = None

    def frequencies(self, n_dims: int, base: float, length: int) -> Frequencies:  # noqa: D102
        is_long = (self.length or length) > self.original_length
        factors = np.array(self.long_factor if is_long else self.short_factor)
        if factors.size != n_dims // 2:
            name = "long_factor" if is_long else "short_factor"
            raise EncodingError(
                f"longrope scaling, {name} has {factors.size} entries: expected one per pair, {n_dims // 2}"
            )
        own = self.long_mscale if is_long else self.short_mscale
        attention = self.attention_factor if own is None else own
        if attention is None:
            if self.original_length < 2:
                raise EncodingError(f"longrope scaling, original_length {self.original_length}: expected at least 2")
            attention = sqrt(1 + log(self.factor) / log(self.original_length)) if self.factor > 1 else 1.0
        return inverse_frequencies(n_dims, base) / factors, attention


@dataclass(frozen=True)
class Llama3(Scaling, name="llama3", source="Llama 3.1, Grattafiori et al. 2024"):
    """High frequencies kept, low ones divided by the factor, smoothly by wavelength between.

    Parameters
    ----------
    factor : float
        Ratio of the new context length to the old one.
    low_freq_factor, high_freq_factor : float
        Rotations over the original length below which a pair is divided, and above which it is kept.
    original_length : int
        Length trained on (``original_max_position_embeddings``); 8192 is Llama 3's.
    """

    factor: float
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_length: int = 8192

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.high_freq_factor <= self.low_freq_factor:
            raise EncodingError(
                f"llama3 scaling, high_freq_factor {self.high_freq_factor:g}: expected more than low_freq_factor "
                f"{self.low_freq_factor:g}"
            )

    def frequencies(self, n_dims: int, base: float, length: int) -> Frequencies:  # noqa: ARG002, D102
        omega = inverse_frequencies(n_dims, base)
        rotations = self.original_length * omega / (2 * pi)
        kept = np.clip((rotations - self.low_freq_factor) / (self.high_freq_factor - self.low_freq_factor), 0, 1)
        return (1 - kept) * omega / self.factor + kept * omega, 1.0


@dataclass(frozen=True)
class Proportional(Scaling, name="proportional", source="proportional RoPE of Gemma, as in Hugging Face transformers"):
    """The highest frequencies of the whole width, and none for the other pairs.

    Parameters
    ----------
    fraction : float
        Share of the pairs that rotate.
    factor : float
        What their frequencies are divided by.
    """

    fraction: float
    factor: float = 1.0

    def frequencies(self, n_dims: int, base: float, length: int) -> Frequencies:  # noqa: ARG002, D102
        if self.fraction > 1:
            raise EncodingError(f"proportional scaling, fraction {self.fraction:g}: expected at most 1")
        omega = inverse_frequencies(n_dims, base)
        omega[int(self.fraction * n_dims // 2) :] = 0
        return omega / self.factor, 1.0
