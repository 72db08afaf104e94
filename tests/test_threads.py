"""Work shared by threads."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from posgeom.threads import thread_map


def test_results_are_in_order_and_progress_in_the_calling_thread() -> None:
    seen: list[tuple[str, int, int | None, bool]] = []
    here = threading.get_ident()

    def square(x: int) -> int:
        time.sleep(0.01 * (x % 3))
        return x * x

    found = thread_map(
        square, iter(range(7)), stage="s", progress=lambda *a: seen.append((*a, threading.get_ident() == here))
    )
    assert found == [x * x for x in range(7)]
    assert seen == [("s", done, 7, True) for done in range(8)]
    assert thread_map(square, []) == []


def test_an_error_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        thread_map(lambda x: 1 // x, [1, 0])


def test_linear_algebra_has_one_thread_inside_and_as_many_as_before_after() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))

    def threads() -> list[int]:
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2, "blas"):  # which the environment may have made one
        before = threads()
        (inside,) = thread_map(lambda _: threads(), [0])
        assert set(inside) == {1}
        assert threads() == before
        assert set(before) == {2}


def test_much_memory_means_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    running, most, lock = 0, 0, threading.Lock()

    def work(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    thread_map(work, range(16), memory=1 << 40)
    assert most == 1
    thread_map(work, range(16), memory=1 << 29)
    assert 1 < most <= 4
