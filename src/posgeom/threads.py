"""Work that is shared by threads: compiled code lets go of the interpreter."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import threadpool_limits

from posgeom.progress import ProgressHook, silent

_WORKING_BYTES = 2 << 30

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    memory: int = 0,
    stage: str = "",
    progress: ProgressHook = silent,
) -> list[Result]:
    """Apply a function to items, whose order results keep: a thread a core, fewer where calls need much memory."""
    todo, results = list(items), []
    threads = max(1, min(os.cpu_count() or 1, _WORKING_BYTES // max(memory, 1)))
    # Linear algebra with threads of its own inside each of these would have more threads than cores wait in turns.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        for done, result in enumerate(pool.map(function, todo)):
            progress(stage, done, len(todo))
            results.append(result)
    progress(stage, len(todo), len(todo))
    return results
