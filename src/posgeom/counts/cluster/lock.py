"""One client at a time in a run directory."""

import json
import os
import socket
import threading
import time
import uuid
from types import TracebackType
from typing import Any

from posgeom.counts.cluster.run_directory import LOCK, RunDirectory
from posgeom.errors import OutputError
from posgeom.messages import shown

HEARTBEAT_SECONDS = 10
STALE_SECONDS = 60


class RunLock:
    """Keeps a second client out, as a courtesy: two of them would do the work twice, with the same result.

    The lock of a client that died on this machine is taken over at once, of one elsewhere when it has not been
    renewed for a minute.
    """

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        self._token = uuid.uuid4().hex
        self._done = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="posgeom-heartbeat", daemon=True)

    def __enter__(self) -> "RunLock":
        holder = self._read()
        if holder is not None and _is_alive(holder):
            raise OutputError(
                f"run directory {shown(self._directory.place)}: in use by process {holder['pid']} on"
                f" {shown(holder['host'])}: wait for it, or name another --run-dir"
            )
        self._write()
        self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._done.set()
        self._heart.join()
        holder = self._read()
        if holder is not None and holder["token"] == self._token:
            self._directory.remove_file(LOCK)

    def _beat(self) -> None:
        while not self._done.wait(HEARTBEAT_SECONDS):
            try:
                self._write()
            except OutputError:  # the work itself will fail, and say why
                continue

    def _write(self) -> None:
        holder = {"token": self._token, "host": socket.gethostname(), "pid": os.getpid(), "time": time.time()}
        self._directory.write_text(LOCK, json.dumps(holder))

    def _read(self) -> dict[str, Any] | None:
        text = self._directory.read_text(LOCK)
        try:
            holder = json.loads(text or "null")
            known = isinstance(holder, dict) and isinstance(holder["time"] + holder["pid"], int | float)
            return holder if known and {"token", "host"} <= holder.keys() else None
        except (ValueError, TypeError, LookupError):
            return None


def _is_alive(holder: dict[str, Any]) -> bool:
    if time.time() - holder["time"] > STALE_SECONDS:
        return False
    if holder["host"] != socket.gethostname():
        return True
    import psutil

    return bool(psutil.pid_exists(holder["pid"]))
