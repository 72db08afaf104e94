"""A web server on the loopback that can misbehave in the ways servers do."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Page:
    """What the server answers for one path."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    ranges: bool = False
    cut: int = 0
    delay: float = 0
    password: str = ""


class Server(ThreadingHTTPServer):
    """Serves `pages`, by path with or without the query; the requests it got are in `log`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, Page] = {}
        self.missing = Page(status=404)
        self.log: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves early is no news."""


@contextmanager
def running() -> Iterator[Server]:
    """Serve in a thread."""
    with Server() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""

    def _answer(self, *, with_body: bool) -> None:
        self.server.log.append(f"{self.command} {self.path} {self.headers.get('Range', '')}".strip())
        pages = self.server.pages
        page = pages.get(self.path) or pages.get(self.path.partition("?")[0]) or self.server.missing
        if page.password and page.password not in self.headers.get("Authorization", ""):
            page = Page(status=401)
        time.sleep(page.delay)
        body, status, headers = page.body, page.status, dict(page.headers)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if page.ranges and asked:
            first, last = int(asked[1]), min(int(asked[2]), len(body) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
            body, status = body[first : last + 1], 206
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body[: len(body) - page.cut])
        if page.cut and with_body:
            self.close_connection = True
