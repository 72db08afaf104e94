"""Token ids of torch: tensors and batches of a DataLoader count as lists do."""

import numpy as np
import pytest

import posgeom as pg


@pytest.mark.models
def test_tensors_and_a_dataloader() -> None:
    import torch

    ids = torch.tensor(np.random.default_rng(0).integers(0, 70_000, (40, 6)))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(ids), batch_size=7)
    mask = torch.ones_like(ids)
    mask[:, 4:] = 0
    expected = pg.count_ids(ids.tolist(), 70_000, n_positions=6).checksum
    assert pg.count_ids([ids], 70_000, n_positions=6).checksum == expected
    assert pg.count_ids((batch for (batch,) in loader), 70_000, n_positions=6).checksum == expected
    masked = pg.count_ids([{"input_ids": ids, "attention_mask": mask}], 70_000, n_positions=6)
    assert masked.checksum == pg.count_ids(ids[:, :4].tolist(), 70_000, n_positions=6).checksum
