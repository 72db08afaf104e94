"""Schemes of images and of relative vectors against the code of transformers."""

import numpy as np
import pytest

from posgeom.encodings.relative import log_buckets
from posgeom.encodings.rope_grid import rope_grid

pytestmark = pytest.mark.models


@pytest.mark.parametrize("name", ["qwen2_vl", "pixtral", "dinov3_vit"])
def test_angles_are_those_of_transformers(name: str) -> None:
    import torch
    from transformers import DINOv3ViTConfig, PixtralVisionConfig
    from transformers.models.dinov3_vit.modeling_dinov3_vit import DINOv3ViTRopePositionEmbedding
    from transformers.models.pixtral.modeling_pixtral import PixtralVisionRotaryEmbedding
    from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLVisionConfig
    from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLVisionRotaryEmbedding

    rows, columns = np.divmod(np.arange(12), 4)
    places = torch.tensor(np.stack([rows, columns], axis=1))
    if name == "qwen2_vl":
        module = Qwen2VLVisionRotaryEmbedding(Qwen2VLVisionConfig(embed_dim=64, num_heads=2))
        cosines, sines = module(torch.zeros(1), places)
        layout, base = "split", 1e4
    elif name == "pixtral":
        module = PixtralVisionRotaryEmbedding(PixtralVisionConfig(hidden_size=64, num_attention_heads=2))
        cosines, sines = module(torch.zeros(1), places)
        layout, base = "alternate", 1e4
    else:
        config = DINOv3ViTConfig(hidden_size=64, num_attention_heads=2, patch_size=2, image_size=8)
        cosines, sines = DINOv3ViTRopePositionEmbedding(config).eval()(torch.zeros(1, 3, 6, 8))
        layout, base = "unit", 100.0
    half = cosines.shape[-1] // 2
    points = np.concatenate([cosines[:, :half].numpy(), sines[:, :half].numpy()], axis=1)
    expected = np.linalg.norm(points[:, None] - points[None], axis=2)
    got = rope_grid(12, 32, grid=(3, 4), layout=layout, base=base).distances()  # type: ignore[arg-type]
    np.testing.assert_allclose(got, expected, atol=1e-5)


def test_deberta_s_buckets_are_those_of_transformers() -> None:
    import torch
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    lags = np.arange(-600, 601)
    for n_buckets, max_distance in ((256, 512), (32, 128), (8, 20)):
        theirs = make_log_bucket_position(torch.tensor(lags), n_buckets, max_distance).long().numpy()
        np.testing.assert_array_equal(log_buckets(lags, n_buckets=n_buckets, max_distance=max_distance), theirs)
