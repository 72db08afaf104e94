"""Encodings of real tensors, parameters and layers of torch."""

import numpy as np
import pytest

import posgeom as pg
from posgeom.errors import EncodingError
from posgeom.simulation.synthetic import synthetic

pytestmark = pytest.mark.models


def test_tensors_parameters_and_layers_are_encodings() -> None:
    import torch

    torch.manual_seed(0)
    layer = torch.nn.Embedding(40, 6)
    rows = layer.weight.detach().double().numpy()
    geometry = pg.geometry(synthetic().counts)
    given = {
        "array": rows,
        "tensor": layer.weight.detach(),
        "parameter": torch.nn.Parameter(layer.weight.clone()),
        "layer": layer,
        "batch": layer.weight[None],
        "bfloat16": layer.weight.bfloat16(),
    }
    card = pg.scorecard(given, geometry)
    for name in ("tensor", "parameter", "layer", "batch"):
        assert card[name].alignment == pytest.approx(card["array"].alignment, rel=1e-6), name
    assert card["bfloat16"].alignment == pytest.approx(card["array"].alignment, rel=0.05)
    coordinates = pg.learned(layer.weight.bfloat16()).coordinates()
    np.testing.assert_array_equal(coordinates, layer.weight.bfloat16().float().detach().numpy())
    assert pg.alignment(layer, geometry) == pytest.approx(card["array"].alignment, rel=1e-6)
    with pytest.raises(EncodingError, match=r"keeps row 1 for padding.*layer.weight\[2:\]"):
        pg.scorecard({"shifted": torch.nn.Embedding(40, 6, padding_idx=1)}, geometry)
