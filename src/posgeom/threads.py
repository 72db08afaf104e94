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
    """Apply a function to items, one thread a core.

    Parameters
    ----------
    function : callable
        Must not depend on the order in which items are taken.
    items : iterable
    memory : int
        Bytes that a call works on, where these are many: fewer threads then.
    stage : str
        What progress is reported as.
    progress : callable
        Called as ``progress(stage, done, total)``, in the calling thread.

    Returns
    -------
    list
        Results in the order of the items.
    """
    todo, results = list(items), []
    threads = max(1, min(os.cpu_count() or 1, _WORKING_BYTES // max(memory, 1)))
    # Linear algebra with threads of its own inside each of these would have more threads than cores wait in turns.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        for done, result in enumerate(pool.map(function, todo)):
            progress(stage, done, len(todo))
            results.append(result)
    progress(stage, len(todo), len(todo))
    return results
