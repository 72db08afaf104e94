"""Every test that needs torch is one that `make test-models` runs, since `make test` leaves it out."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_of_models_is_run_by_the_target_for_them() -> None:
    listed = re.search(r"^MODEL_TESTS := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert listed
    places = [ROOT / name for name in listed[1].replace("\\\n", " ").split()]
    assert all(place.exists() for place in places)
    marked = [
        path
        for path in (ROOT / "tests").rglob("*.py")
        if re.search(r"^(@|pytestmark = )pytest\.mark\.models", path.read_text(), re.MULTILINE)
    ]
    assert len(marked) > 10
    assert not [path for path in marked if not any(path.is_relative_to(place) for place in places)]
