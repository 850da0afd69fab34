"""The server: one thread a request, four protocols, no state but the script's."""

from __future__ import annotations

import gzip
import json
import select
import signal
import socket
import threading
from collections import deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from runner.errors import RunnerError

from . import anthropic, chat, gemini, responses
from .functions import Functions
from .script import BROKEN, CONTEXT, DROP, NEVER, SPENT, Call, Conversation, Reply, Script, Tool, Trouble
from .shell_tools import shell_call
from .wire import ServerEvent

MAX_BODY = 64 << 20
HOST = "127.0.0.1"


class Wire(Protocol):
    """The shape of a protocol's module."""

    CONTEXT_MESSAGE: str

    def parse(self, body: Mapping[str, Any]) -> Conversation: ...
    def whole(self, reply: Reply, conversation: Conversation) -> dict[str, Any]: ...
    def events(self, reply: Reply, conversation: Conversation) -> Any: ...
    def trouble(self, problem: Trouble) -> dict[str, Any]: ...


WIRES: dict[str, Wire] = {"/messages": anthropic, "/chat/completions": chat, "/responses": responses}
"""By path below /v1; a client whose base URL lacks /v1 is understood too."""
_WORDS = {
    401: "invalid x-api-key", 403: "This key may not use this model", 429: "Rate limit reached; please slow down",
    500: "Internal server error", 503: "The server is overloaded", 529: "Overloaded",
}  # fmt: skip


class MockModel:
    """`with MockModel(script) as model: model.url`. `requests` keeps what was asked (path, body), never a key."""

    def __init__(
        self, script: Script | Path | str | Mapping[str, Any], port: int = 0, functions: Functions | None = None
    ) -> None:
        self.script = Script.of(script, functions)
        self.requests: deque[dict[str, Any]] = deque(maxlen=1000)
        self.closing = threading.Event()
        try:
            self._server = _Server((HOST, port), _Handler, self)
        except (OSError, OverflowError) as error:
            why = error.strerror if isinstance(error, OSError) else "a port is a number from 0 to 65535"
            raise RunnerError(f"The mock model cannot listen on port {port}: {why}.") from error
        self.url = f"http://{HOST}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> MockModel:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def serve(self) -> None:
        """Serve in this thread until interrupted or terminated, also where a shell had interrupts ignored ("&")."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
        try:
            self._server.serve_forever()
        except KeyboardInterrupt:
            pass
        finally:
            self.closing.set()
            self._server.server_close()

    def answer(self, conversation: Conversation, wire: Wire) -> Reply | Trouble:
        row = self.script.due(conversation)
        if row is None:
            return Trouble(404, f"The model `{conversation.model}` does not exist or you do not have access to it.")
        self.closing.wait(float(row.get("delay", 0)))
        if "fault" in row and row["fault"] != BROKEN:
            return _trouble(row, conversation, wire)
        return _reply(row, conversation)


def _trouble(row: Mapping[str, Any], conversation: Conversation, wire: Wire) -> Trouble:
    fault, said = row["fault"], row.get("say")
    if fault in (DROP, NEVER):
        return Trouble(0, "", fault)
    if fault == CONTEXT:
        return Trouble(400, said or wire.CONTEXT_MESSAGE, "context_length_exceeded")
    if fault == 404:
        return Trouble(404, said or f"The model `{conversation.model}` does not exist.")
    return Trouble(fault, said or _WORDS.get(fault, "The mock model was told to fail"))


def _reply(row: Mapping[str, Any], conversation: Conversation) -> Reply:
    call = _call(row, conversation)
    spent = {**SPENT, **(row.get("usage") or {})}
    stop = row.get("stop") or ("tools" if call else "end")
    text = str(row.get("say") or ("" if call else "Done."))
    return Reply(
        text,
        str(row.get("think") or ""),
        call,
        stop,
        **spent,
        turn=conversation.turns,
        first_token=float(row.get("first_token", 0)),
        broken=row.get("fault") == BROKEN,
    )


def _call(row: Mapping[str, Any], conversation: Conversation) -> Call | None:
    """A request without a shell tool (a title, a summary) is answered in words alone."""
    if "tool" in row:
        wanted = row["tool"]["name"]
        tool = next((tool for tool in conversation.tools if tool.name == wanted), Tool(wanted))
        return Call(tool, dict(row["tool"].get("arguments") or {}))
    return shell_call(conversation.tools, row["run"]) if "run" in row else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], model: MockModel) -> None:
        self.model = model
        super().__init__(address, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is killed in the middle of an answer is everyday here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the output of a trial is no place for access logs."""

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        if self._path() == "/models":
            rows = [{"id": name, "object": "model", "type": "model"} for name in self.server.model.script.models]
            self._json(200, {"object": "list", "data": rows, "has_more": False})
        else:
            self._json(200 if self.path == "/" else 404, {"name": "benchsite mock model"})

    def do_POST(self) -> None:
        body = self._body()
        path = self._path()
        if body is None:
            self._json(400, {"error": {"message": "The body is no JSON object, or is too large."}})
            return
        self.server.model.requests.append({"path": path, "body": body})
        google = gemini.PATH.search(self.path.split("?", 1)[0])
        if path == "/messages/count_tokens":
            self._json(200, {"input_tokens": _tokens(body)})
        elif path in WIRES:
            self._converse(WIRES[path], body)
        elif google and google["method"] in gemini.METHODS:
            self._converse(gemini, {**body, "model": google["model"], "stream": gemini.METHODS[google["method"]]})
        elif google and google["method"] == "countTokens":
            self._json(200, {"totalTokens": _tokens(body)})
        else:
            self._json(404, {"error": {"message": f"There is nothing at {self.path}."}})

    def _converse(self, wire: Wire, body: dict[str, Any]) -> None:
        conversation = wire.parse(body)
        model = self.server.model
        refused = Trouble(401, _WORDS[401]) if not self._key_fits() else None
        answer = refused or model.answer(conversation, wire)
        if isinstance(answer, Trouble):
            self._fail(answer, wire)
        elif conversation.stream:
            self._stream(answer, list(wire.events(answer, conversation)))
        else:
            model.closing.wait(answer.first_token)
            self._json(200, wire.whole(answer, conversation), broken=answer.broken)

    def _key_fits(self) -> bool:
        wanted = self.server.model.script.key
        bearer = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        return not wanted or wanted in (self.headers.get("x-api-key"), self.headers.get("x-goog-api-key"), bearer)

    def _fail(self, problem: Trouble, wire: Wire) -> None:
        if problem.status == 0:
            if problem.code == NEVER:
                self._hold()
            self.close_connection = True
            return
        self._json(problem.status, wire.trouble(problem))

    def _hold(self) -> None:
        """Say nothing until the client has left or the server ends."""
        while not self.server.model.closing.wait(0.1):
            readable = select.select([self.connection], [], [], 0)[0]
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                return

    def _stream(self, answer: Reply, events: list[ServerEvent]) -> None:
        """Send the events; a broken answer ends in the middle, in chunks whose last one never comes."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        if answer.broken:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        self.server.model.closing.wait(answer.first_token)
        for event in events[: max(1, len(events) // 2)] if answer.broken else events:
            data = _encoded(event)
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if answer.broken else data)
        self.wfile.flush()
        self.close_connection = True

    def _path(self) -> str:
        return self.path.split("?", 1)[0].rstrip("/").removeprefix("/v1")

    def _body(self) -> dict[str, Any] | None:
        size = int(self.headers.get("Content-Length") or 0)
        if size > MAX_BODY:
            self.close_connection = True
            return None
        data = self.rfile.read(size)
        try:
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            body = json.loads(data)
        except (ValueError, OSError, EOFError, RecursionError):
            return None
        return body if isinstance(body, dict) else None

    def _json(self, status: int, value: dict[str, Any], *, broken: bool = False) -> None:
        self._send(status, json.dumps(value).encode(), broken=broken)

    def _send(self, status: int, data: bytes, *, broken: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if broken else data)
        self.close_connection = self.close_connection or broken


def _tokens(body: dict[str, Any]) -> int:
    return max(1, len(json.dumps(body)) // 4)


def _encoded(event: ServerEvent) -> bytes:
    name, data = event
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()
