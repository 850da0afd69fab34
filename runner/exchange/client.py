"""HTTP as a push needs it: a bearer token, retries for what may pass, no redirects, and errors that say what to do."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from runner.errors import RunnerError

TRIES = 5
TIMEOUT = 120.0
LONGEST_ANSWER = 64 << 20
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that another try may get past."""


class _NoRedirects(HTTPRedirectHandler):
    """Following one would carry the token to another host, and turn a POST into a GET."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """Speaks to one site. `pause` sleeps between tries (1, 2, 4, 8 seconds)."""

    def __init__(
        self, site: str, token: str, *, tries: int = TRIES, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.site = _checked(site)
        self._token, self._tries, self._pause = token, tries, pause
        self._opener = build_opener(_NoRedirects)

    def json(self, method: str, path: str, body: Any) -> dict[str, Any]:
        data = json.dumps(body).encode()
        return self._read(self._send(method, path, lambda: data, {"Content-Type": "application/json"}))

    def get(self, path: str) -> dict[str, Any]:
        return self._read(self._send("GET", path, lambda: None, {}))

    def wait(self, seconds: float) -> None:
        self._pause(seconds)

    def _read(self, answer: bytes) -> dict[str, Any]:
        try:
            value = json.loads(answer)
        except ValueError as error:
            raise RunnerError(f"{self.site} did not answer as a Benchsite upload API does.") from error
        if not isinstance(value, dict):
            raise RunnerError(f"{self.site} did not answer as a Benchsite upload API does.")
        return value

    def put_file(self, path: str, file: Path) -> None:
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(file.stat().st_size)}
        self._send("PUT", path, lambda: file.open("rb"), headers)

    def _send(
        self, method: str, path: str, body: Callable[[], bytes | IO[bytes] | None], headers: dict[str, str]
    ) -> bytes:
        for number in range(self._tries):
            last = number == self._tries - 1
            try:
                return self._once(method, path, body(), headers)
            except HTTPError as error:
                if last or error.code not in PASSING:
                    raise RunnerError(self._sentence(error)) from error
            except (URLError, http.client.HTTPException, OSError) as error:
                if last:
                    reason = getattr(error, "reason", None) or error
                    raise RunnerError(f"{self.site} cannot be reached after {self._tries} tries: {reason}.") from error
            self._pause(2.0**number)
        raise AssertionError("the last try returns or raises")

    def _once(self, method: str, path: str, body: bytes | IO[bytes] | None, headers: dict[str, str]) -> bytes:
        try:
            sent = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", **headers}
            request = Request(f"{self.site}/api/v1/{path}", data=body, method=method, headers=sent)
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                data: bytes = answer.read(LONGEST_ANSWER)
                return data
        finally:
            if body is not None and not isinstance(body, bytes):
                body.close()

    def _sentence(self, error: HTTPError) -> str:
        if error.code == 401:
            return f"{self.site} refused the token: make a new one on its page /settings/tokens/."
        if 300 <= error.code < 400:
            return (
                f"{self.site} redirects to {error.headers.get('Location', 'another address')}; give that one to --to."
            )
        said = _detail(error)
        if error.code == 404 and not said:
            return f"There is no Benchsite upload API at {self.site}/api/v1/."
        return f"{self.site} answered {error.code}: {said or error.reason}"


def _detail(error: HTTPError) -> str:
    """Give the one sentence of an error answer, "" where there is none."""
    try:
        said = json.loads(error.read(1 << 16))["detail"]
    except (ValueError, KeyError, TypeError, OSError):
        return ""
    return said if isinstance(said, str) else json.dumps(said)


def _checked(site: str) -> str:
    parts = urlsplit(site)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise RunnerError(f"{site!r} is not the address of a site; write it as https://bench.example.org.")
    return site.rstrip("/")
