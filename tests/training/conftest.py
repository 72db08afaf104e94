"""What needs torch is imported when a test asks for it, so that the tests can be collected without."""

from typing import Any

import pytest


@pytest.fixture
def torch() -> Any:
    import torch

    return torch


@pytest.fixture
def training() -> Any:
    import posgeom.training

    return posgeom.training
