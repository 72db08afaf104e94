import json
from pathlib import Path

import numpy as np

from posgeom.encodings.catalog import catalog, catalog_entry, plain
from posgeom.encodings.registry import SCHEMES
from posgeom.encodings.rotary_scaling import Linear, Scaling


def test_every_scheme_is_there_and_json() -> None:
    entries = json.loads(json.dumps(catalog(), allow_nan=False))
    assert [entry["name"] for entry in entries][: len(SCHEMES)] == list(SCHEMES)
    for entry in entries:
        assert entry["summary"]
        assert entry["source"]


def test_one_with_choices() -> None:
    entry = catalog_entry("rope")
    assert [c["name"] for c in entry["choices"]] == [f"scaling={name}" for name in Scaling.choices]
    factor = entry["choices"][0]["options"][0]
    assert (factor["name"], factor["required"], factor["default"]) == ("factor", True, None)
    assert catalog_entry("mds")["needs"] == ["geometry", "n_dims"]
    assert catalog_entry("alibi")["choices"] == []


def test_values_as_json() -> None:
    assert plain(Linear(2)) == {"name": "linear", "factor": 2}
    assert plain({"a": (1, Path("x"))}) == {"a": [1, "x"]}
    assert plain(np.ones((2, 3))) == "array of shape (2, 3)"
