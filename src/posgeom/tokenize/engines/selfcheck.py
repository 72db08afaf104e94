"""Texts on which tokenizers are known to disagree, and the comparison of an engine with the reference on them."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from posgeom.corpus.texts import Texts
from posgeom.messages import one_line
from posgeom.tokenize.engines.base import Engine, EngineError, Ragged, UnsupportedTokenizer
from posgeom.tokenize.engines.panics import reraise_interrupt, without_panic_lines
from posgeom.tokenize.engines.reference import Reference

_N_MIXED = 240
_N_WORDS = 400

FRAGMENTS = (
    # white space of every kind, and what looks like it
    *" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0",
    *"\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000\u180e\u200b\u200c\u200d\u2060\ufeff\xad",
    *("  ", "   ", " \n", "\n ", "\r\n", "\n\n\n", " \t "),
    # controls, non-characters, private and unassigned code points, tags, the replacement character
    *"\x00\x01\x08\x1b\x7f\x80\x9f\ue000\ufdd0\uffff\U000e0041\U000f0000\U0010ffff\u0378\ufffd\ufff9",
    # combining marks, alone and on a base, in and out of order; Hangul by part and whole
    *("\u0301", "e\u0301", "\xe9", "a\u0323\u0307", "a\u0307\u0323", "\u1100\u1161\u11a8", "\uac01", "\u0e33"),
    *("\u0345\u03b1", "\u0915\u094d\u0937", "\u0b95\u0bcb", "i\u0307", "\u1e9b\u0323", "\u212b", "\u2126"),
    # case that changes length or depends on its surroundings
    *("\u0130stanbul", "I\u0131", "stra\xdfe", "STRASSE\u1e9e", "\u039f\u03a3", "\u01c5", "\ufb03", "\u1f88"),
    # compatibility characters and numbers of every script
    *("\xb2\xb3", "\u2460", "\uff21\uff11", "\u337b", "\u0664\u0665", "\u0967", "\xbd", "\u3007", "\u216b", "1,234.5"),
    *("0", "12", "123", "1234", "12345", "1e-7", "0x1F", "2026-11-30", "3rd"),
    # scripts: CJK and its extensions, kana, Thai, Devanagari, and from right to left
    *("\u4e2d\u6587", "\U00020000\U0002a6d6", "\uf900", "\u3042\u30ab\uff76\uff9e", "\u0e20\u0e32\u0e29\u0e32"),
    *("\u0928\u092e\u0938\u094d\u0924\u0947", "\u05e9\u05dc\u05d5\u05dd", "\u0627\u0644\u0633\u064e\u0644\u0627\u0645"),
    *(
        "\u202eabc\u202c",
        "\u2067x\u2069",
        "\u0440\u0443\u0441\u0441\u043a\u0438\u0439",
        "\u03b5\u03bb\u03bb\u03ac\u03c2",
    ),
    # emoji: skin tone, families, flags, keycaps, variation selectors
    *("\U0001f600", "\U0001f44d\U0001f3fd", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1eb\U0001f1f7"),
    *("1\ufe0f\u20e3", "\u2764\ufe0f", "\u263a\ufe0e"),
    # punctuation, contractions, code
    *("don't", "DON'T", "we'll've", "'s", "'S", "''", "\u2019s", "l\u2019eau", "rock'n'roll", "'", '"', "--", "\u2014"),
    *("...", "\u2026", "?!", "$9.99", "#tag", "@user", "a_b", "__init__", "x+=1;", "</p>", "<br />", "\\n", "^", "`"),
    *(
        "http://example.org/a?b=c#d",
        "e.g.",
        "U.S.A.",
        "C++",
        "\xa3\u20ac\xa5",
        "\u00ab\u00bb",
        "\u3002\uff0c",
        "~",
        "|",
    ),
    # words, plain, long and very long
    *("the", "The", "THE", "of", "positional", "encoding", "a", "I", "x", "antidisestablishmentarianism", "ab" * 70),
    *("a" * 99, "a" * 100, "a" * 101, "\xe9" * 100, "\u4e2d" * 120, "z" * 600, "!" * 150, "9" * 130, "_" * 90),
)
"""What the texts are made of."""


def adversarial_texts(words: Sequence[str] = (), seed: int = 0, n_mixed: int = _N_MIXED) -> list[str]:
    """Texts that tell tokenizers apart: fragments, words of the vocabulary, and random mixtures, always the same."""
    rng = random.Random(seed)  # noqa: S311  not for secrets
    chosen = list(words) if len(words) <= _N_WORDS else rng.sample(list(words), _N_WORDS)
    texts = ["", *FRAGMENTS, *(f"x{f}y {f} z" for f in FRAGMENTS), " ".join(chosen), "".join(chosen)]
    pool = [*FRAGMENTS, *chosen]
    for _ in range(n_mixed):
        joint = rng.choice(["", " ", " ", "  "])
        pieces = rng.choices(pool, k=rng.randint(1, 24)) + [_any_character(rng) for _ in range(rng.randint(0, 3))]
        rng.shuffle(pieces)
        texts.append(joint.join(pieces))
    return texts


def _any_character(rng: random.Random) -> str:
    below = rng.choice([0x80, 0x800, 0xD800, 0x20000, 0x110000])
    code = rng.randrange(below)
    return chr(code if not 0xD800 <= code < 0xE000 else code - 0x800)


def check_engine(engine: Engine, reference: Reference, texts: Sequence[str], n_tokens: int = 10_000) -> None:
    """Compare an engine with the reference on texts without added tokens; a difference or crash is an `EngineError`."""
    documents = Texts.from_strings(texts)
    given = guarded(engine, documents, n_tokens)
    place = first_difference(given, reference.encode(documents, n_tokens), n_tokens)
    if place is not None:
        raise EngineError(f"{engine.name} differs from {reference.name} on a self-check text, {texts[place][:40]!a}")


def guarded(engine: Engine, texts: Texts, n_tokens: int) -> Ragged:
    """Run an engine; whatever it raises becomes an `EngineError`."""
    with crashes_as_errors(engine.name):
        return engine.encode(texts, n_tokens)


@contextmanager
def crashes_as_errors(name: str) -> Iterator[None]:
    """Turn whatever an engine raises into an `EngineError`."""
    try:
        with without_panic_lines():
            yield
    except (EngineError, UnsupportedTokenizer):
        raise
    except BaseException as error:  # noqa: BLE001  a panic of compiled Rust code is no Exception
        reraise_interrupt(error)
        raise EngineError(f"{name} crashed ({type(error).__name__}: {one_line(error)[:120]})") from None


def first_difference(given: Ragged, expected: Ragged, n_tokens: int) -> int | None:
    """Number of the first row whose first `n_tokens` values differ, None when all agree."""
    if given[0].size != expected[0].size or int(given[0].sum()) != given[1].size:
        return 0
    a_ends, b_ends = np.cumsum(given[0]), np.cumsum(expected[0])
    for row in range(expected[0].size):
        a = given[1][a_ends[row] - given[0][row] : a_ends[row]][:n_tokens]
        b = expected[1][b_ends[row] - expected[0][row] : b_ends[row]][:n_tokens]
        if not np.array_equal(a, b):
            return row
    return None
