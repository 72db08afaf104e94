from pathlib import Path

import pytest
from tokenizers import Tokenizer

from tests.tokenize.engines.helpers import KINDS


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def bert_tokenizer(bert: Path) -> Tokenizer:
    return Tokenizer.from_file(str(bert))
