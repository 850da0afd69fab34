"""A small upload site on a real socket: it keeps what it is sent, and can be told to stumble."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "bs_test"


class Site(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.has: set[str] = set()
        self.requests: list[str] = []
        self.announced: dict[str, Any] = {}
        self.stumbles: list[int] = []
        """Statuses to answer with before any real answer; 0 closes the connection without one."""
        self.states: list[dict[str, Any]] = []
        """What a job says of itself, one answer after the other; none: the run is taken in at once."""
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def puts(self) -> list[str]:
        return [request.rsplit("/", 1)[1] for request in self.requests if request.startswith("PUT")]


class Answering(BaseHTTPRequestHandler):
    server: Site

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self._body())
        if self._stumbled():
            return
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._answer(401, {"detail": "This token is not known."})
        elif self.path == "/api/v1/uploads":
            self.server.announced = body
            missing = [digest for digest in body["digests"] if digest not in self.server.has]
            self._answer(201, {"upload": "k/1", "missing": missing})
        elif set(self.server.announced["digests"]) <= self.server.has:
            run = self.server.announced["run"]
            if self.server.states:
                self._answer(202, {"job": "j/1", **self.server.states.pop(0)})
                return
            self._answer(200, {"run": run, "url": f"{self.server.url}/runs/{run}/", "verdict": "submitted"})
        else:
            self._answer(422, {"detail": "Blobs are missing."})

    def do_GET(self) -> None:
        if not self._stumbled():
            known = self.path == "/api/v1/jobs/j%2F1"
            self._answer(200, {"job": "j/1", **self.server.states.pop(0)}) if known else self._answer(404, None)

    def do_PUT(self) -> None:
        data = self._body()
        if self._stumbled():
            return
        digest = self.path.rsplit("/", 1)[1]
        if hashlib.sha256(data).hexdigest() != digest:
            self._answer(422, {"detail": "The bytes have another digest."})
            return
        self.server.has.add(digest)
        self._answer(204, None)

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def _stumbled(self) -> bool:
        with self.server.lock:
            self.server.requests.append(f"{self.command} {self.path}")
            if not self.server.stumbles:
                return False
            status = self.server.stumbles.pop(0)
        if status == 0:
            self.close_connection = True
        elif 300 <= status < 400:
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._answer(status, {"detail": f"Stumbled with {status}."})
        return True

    def _answer(self, status: int, body: Any) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        thread.join()
        site.server_close()
