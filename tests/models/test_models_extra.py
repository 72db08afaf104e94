"""What needs torch and transformers: files that those libraries write are read as they mean them."""

import json
from pathlib import Path

import numpy as np
import pytest

from posgeom.counts.counting import count_texts
from posgeom.encodings.registry import build_encoding
from posgeom.encodings.rope import rope
from posgeom.encodings.tables import load_matrix
from posgeom.scores.separation import minimum_separation
from posgeom.tokenize.tokenizer_files import load_tokenizer

pytestmark = pytest.mark.models

TEXTS = ["Position matters.", "a longer sentence, with [MASK] and \u00fcnicode \u4e2d\u6587", "", "word " * 400]


def test_a_tokenizer_directory_saved_by_transformers(minilm: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(minilm)
    tokenizer.save_pretrained(tmp_path)
    n = 32
    counts = count_texts(TEXTS, tmp_path, n_positions=n, n_folds=1)
    expected: dict[tuple[int, int], int] = {}
    for text in TEXTS:
        encoded = tokenizer(text, truncation=True, max_length=n, return_special_tokens_mask=True)
        for position, (token, special) in enumerate(
            zip(encoded["input_ids"], encoded["special_tokens_mask"], strict=True)
        ):
            # transformers marks every special id; one spelled out in the text is content all the same.
            if not special or token == tokenizer.mask_token_id:
                expected[position, token] = expected.get((position, token), 0) + 1
    got = {(int(p), int(t)): int(c) for p, t, c in zip(counts.position, counts.token, counts.count, strict=True)}
    assert got == expected


def test_a_tokenizer_object_of_transformers(minilm: Path) -> None:
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(minilm)
    tokenizer = load_tokenizer(theirs)
    assert tokenizer.identity.name == str(minilm)
    assert tokenizer.identity.matches(load_tokenizer(minilm).identity)
    assert tokenizer.encode(["word " * 400], 300).lengths.tolist() == [298]


def test_padding_and_truncation_of_the_file_do_not_leak(minilm: Path) -> None:
    stored = json.loads((minilm / "tokenizer.json").read_text())
    assert stored["truncation"]["max_length"] == stored["padding"]["strategy"]["Fixed"] == 128
    batch = load_tokenizer(minilm).encode(["word " * 400, "word"], 300)
    assert batch.lengths.tolist() == [298, 1]


def test_berts_position_table(minilm: Path) -> None:
    spec = f"{minilm / 'model.safetensors'}:tensor=embeddings.position_embeddings.weight"
    encoding = build_encoding(spec, n_positions=128, n_dims=384)
    assert encoding.n_dims == 384
    closest = minimum_separation(encoding.distances(), np.arange(128))
    assert closest.distance == pytest.approx(0.1975, abs=5e-5)


def test_bfloat16_written_by_torch(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    table = torch.randn(7, 5, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    save_file({"table": table, "other": torch.ones(3)}, tmp_path / "t.safetensors")
    got = load_matrix(tmp_path / "t.safetensors", "table")
    np.testing.assert_array_equal(got, table.float().numpy())


def test_rope_orbits_agree_with_transformers() -> None:
    import torch
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    n, d = 20, 16
    reference = rope(n, d, pairing="interleaved", reference="gaussian", seed=1).coordinates()
    assert reference is not None
    omega = torch.tensor(10000.0 ** (-np.arange(0, d, 2) / d))
    angles = torch.arange(n, dtype=torch.float64)[:, None] * omega
    cos, sin = (torch.cat([f(angles)] * 2, dim=-1)[None] for f in (torch.cos, torch.sin))
    # That family keeps the two channels of a pair d/2 apart, here they are neighbours.
    halves = torch.tensor(np.concatenate([reference[0, 0::2], reference[0, 1::2]])).expand(1, 1, n, d)
    rotated, _ = apply_rotary_pos_emb(halves, halves, cos, sin)
    got = rotated[0, 0].numpy()
    np.testing.assert_allclose(got[:, : d // 2], reference[:, 0::2], atol=1e-12)
    np.testing.assert_allclose(got[:, d // 2 :], reference[:, 1::2], atol=1e-12)
