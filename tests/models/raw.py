"""Checkpoints written byte by byte, and small ones of BERT's shape."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file


def file_of(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


CONFIG = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "hidden_size": 128,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "initializer_range": 0.02,
    "max_position_embeddings": 24,
}


def bert_tensors(n_positions: int = 24, width: int = 128, layers: int = 2, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(n_positions, width)).cumsum(axis=0)
    tensors = {"embeddings.position_embeddings.weight": steps.astype(np.float32)}
    for layer in range(layers):
        for name in ("query", "key"):
            prefix = f"encoder.layer.{layer}.attention.self.{name}"
            tensors[f"{prefix}.weight"] = rng.normal(scale=0.1, size=(width, width)).astype(np.float32)
            tensors[f"{prefix}.bias"] = rng.normal(size=width).astype(np.float32)
    return tensors


def save_bert(directory: Path, tensors: dict[str, np.ndarray] | None = None, **changes: Any) -> Path:
    directory.mkdir(exist_ok=True)
    (directory / "config.json").write_text(json.dumps(CONFIG | changes))
    save_file(bert_tensors() if tensors is None else tensors, directory / "model.safetensors")
    return directory
