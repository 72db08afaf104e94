import sysconfig

import pytest

from posgeom.errors import CorpusError
from posgeom.simulation.standard_library import standard_library_files


def test_files_of_this_interpreter() -> None:
    files = standard_library_files()
    names = {f.name for f in files}
    assert {"argparse.py", "typing.py", "textwrap.py"} <= names
    assert files == sorted(files)
    assert not any("site-packages" in f.parts or "test" in f.parts for f in files)


def test_an_interpreter_without_sources(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"stdlib": str(tmp_path)})
    with pytest.raises(CorpusError, match="analyse a file of your own"):
        standard_library_files()
