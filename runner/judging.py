"""One question to a judge: the request of its protocol, the answer's text and usage, and what a failure means."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .definition import Judge
from .errors import RunnerError
from .judges import ANTHROPIC, endpoint_of, key_of
from .records import Usage

LARGEST = 8 << 20
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
REFUSED = frozenset({401, 403, 404})
MAX_TOKENS = 4096
"""Anthropic's protocol demands a limit; parameters may set another."""
LONGEST_PAUSE = 30.0


class JudgeFault(RunnerError):
    """A judge that did not answer. `code` is the row of the table of faults."""

    def __init__(self, sentence: str, code: str = "judge") -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True)
class Answer:
    """`model` is what the provider says has answered: an alias may stand for another version tomorrow."""

    text: str
    model: str
    usage: Usage
    seconds: float
    cut: bool = False
    """Whether the answer was cut short at its limit of tokens."""


class _Trouble(Exception):
    """A failed try. `pause`: seconds to wait before another may help; None where none will."""

    def __init__(self, fault: JudgeFault, pause: float | None) -> None:
        self.fault, self.pause = fault, pause


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Following one would show the key to whoever is named."""

    def redirect_request(self, *_: Any) -> None:
        return None


def ask(judge: Judge, prompt: str, environ: Mapping[str, str], deadline: float) -> Answer:
    """Ask once and wait for the whole answer; passing troubles are tried again. `deadline` is on monotonic's clock."""
    request, began = _request(judge, prompt, environ), time.monotonic()
    for tries in range(judge.retries + 1):
        try:
            data = _sent(judge, request, min(judge.timeout, max(0.1, deadline - time.monotonic())))
            return _answer(judge, data, time.monotonic() - began)
        except _Trouble as trouble:
            pause = None if trouble.pause is None else min(LONGEST_PAUSE, max(trouble.pause, 0.5 * 2**tries))
            if pause is None or tries == judge.retries or time.monotonic() + pause > deadline:
                raise trouble.fault from None
            time.sleep(pause)
    raise AssertionError("unreachable")


def _request(judge: Judge, prompt: str, environ: Mapping[str, str]) -> urllib.request.Request:
    key, headers = environ.get(key_of(judge), ""), {"content-type": "application/json"}
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    body: dict[str, Any] = {"model": judge.model, **judge.parameters}
    if judge.protocol == ANTHROPIC:
        path = "/messages"
        headers |= {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
        body |= {"max_tokens": judge.parameters.get("max_tokens", MAX_TOKENS), "messages": messages}
        body |= {"system": judge.system} if judge.system else {}
    else:
        path = "/chat/completions"
        headers |= {"authorization": f"Bearer {key}"} if key else {}
        body["messages"] = [{"role": "system", "content": judge.system}, *messages] if judge.system else messages
    data = json.dumps(body, ensure_ascii=True).encode()  # lone surrogates are escaped
    return urllib.request.Request(endpoint_of(judge, environ) + path, data, headers, method="POST")


def _sent(judge: Judge, request: urllib.request.Request, timeout: float) -> dict[str, Any]:
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=timeout) as response:
            data = response.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        raise _refused(judge, error) from error
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "reason", None) or error
        said = f"did not answer within {timeout:.0f} s" if isinstance(why, TimeoutError) else f"was not reached: {why}"
        raise _Trouble(JudgeFault(f"The judge {judge.model!r} {said}."), 0.0) from error
    try:
        found = json.loads(data) if len(data) <= LARGEST else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _Trouble(JudgeFault(f"What the judge {judge.model!r} answered is not what its protocol demands."), 0.0)
    return found


def _refused(judge: Judge, error: urllib.error.HTTPError) -> _Trouble:
    with error:
        said = _message(error.read(1 << 16))
    code = "judge_refused" if error.code in REFUSED else "judge"
    what = {401: "refused the key", 403: "refused the key", 404: "does not know the model", 429: "limits the rate"}
    sentence = f"The provider of the judge {judge.model!r} {what.get(error.code, 'answered with an error')}"
    fault = JudgeFault(f"{sentence} ({error.code}){f': {said}' if said else ''}.", code)
    if error.code not in AGAIN:
        return _Trouble(fault, None)
    after = error.headers.get("retry-after", "")
    return _Trouble(fault, float(after) if after.isdecimal() else 0.0)


def _message(data: bytes) -> str:
    try:
        error = json.loads(data)["error"]
        said = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return " ".join(str(said).split())[:300].rstrip(".")


def _answer(judge: Judge, data: dict[str, Any], seconds: float) -> Answer:
    try:
        text, stop = _anthropic(data) if judge.protocol == ANTHROPIC else _openai(data)
    except (KeyError, IndexError, TypeError, AttributeError):
        fault = JudgeFault(f"What the judge {judge.model!r} answered is not what its protocol demands.")
        raise _Trouble(fault, 0.0) from None
    if not text.strip():
        why = (
            "declined" if stop in ("refusal", "content_filter") else f"gave no text (it stopped at {stop or 'nothing'})"
        )
        raise _Trouble(JudgeFault(f"The judge {judge.model!r} {why}."), None)
    return Answer(
        text=text,
        model=str(data.get("model") or judge.model)[:200],
        usage=_usage(judge, data.get("usage")),
        seconds=seconds,
        cut=stop in ("max_tokens", "length"),
    )


def _openai(data: dict[str, Any]) -> tuple[str, str]:
    choice = data["choices"][0]
    content = choice["message"].get("content") or ""
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(str(part.get("text") or "") for part in parts), str(choice.get("finish_reason") or "")


def _anthropic(data: dict[str, Any]) -> tuple[str, str]:
    texts = (block["text"] for block in data["content"] if block.get("type") == "text")
    return "".join(map(str, texts)), str(data.get("stop_reason") or "")


def _usage(judge: Judge, spent: Any) -> Usage:
    """Unknown is unknown. What Anthropic counts as read from and written to its cache are tokens in, too."""
    row = spent if isinstance(spent, dict) else {}
    if judge.protocol == ANTHROPIC:
        cached = _count(row.get("cache_read_input_tokens"))
        parts = [_count(row.get(name)) for name in ("input_tokens", "cache_creation_input_tokens")]
        known = [part for part in (*parts, cached) if part is not None]
        into, out = sum(known) if parts[0] is not None else None, _count(row.get("output_tokens"))
    else:
        details = row.get("prompt_tokens_details")
        cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
        into, out = _count(row.get("prompt_tokens")), _count(row.get("completion_tokens"))
    cost = None
    if judge.prices is not None and into is not None and out is not None:
        cost = (into * judge.prices[0] + out * judge.prices[1]) / 1_000_000
    return Usage(into, out, cached, cost, model_calls=1, estimated=cost is not None)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 60 else None
