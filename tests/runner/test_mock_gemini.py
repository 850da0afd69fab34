"""Google's protocol of the mock model, as its clients speak it: the model in the path, parts in and out."""

from __future__ import annotations

import http.client
from typing import Any

import pytest

from runner.mock_model import MockModel

from .test_mock_model import TWO, _ask, _events, _post

SHELL = {"type": "OBJECT", "properties": {"command": {"type": "STRING"}, "wait": {"type": "BOOLEAN"}}}
TOOLS = [{"functionDeclarations": [{"name": "run_shell_command", "parameters": {**SHELL, "required": ["wait"]}}]}]


def _body(*more: dict[str, Any]) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, *more], "tools": TOOLS}


def test_gemini_answers_with_a_call_of_the_clients_shell_and_then_in_words() -> None:
    with MockModel(TWO) as model:
        url = f"{model.url}/v1beta/models/gemini-2.5-flash:generateContent"
        first = _ask(url, _body())
        (candidate,) = first["candidates"]
        thought, text, call = candidate["content"]["parts"]
        assert (thought["thought"], text["text"]) == (True, "Looking.")
        assert call["functionCall"] == {"name": "run_shell_command", "args": {"wait": False, "command": "ls"}}
        assert (first["modelVersion"], candidate["finishReason"]) == ("gemini-2.5-flash", "STOP")
        spent = first["usageMetadata"]
        assert (spent["promptTokenCount"], spent["candidatesTokenCount"], spent["cachedContentTokenCount"]) == (
            90,
            7,
            40,
        )
        given = {"functionResponse": {"name": "run_shell_command", "response": {"output": "x"}}}
        second = _ask(url, _body(candidate["content"], {"role": "user", "parts": [given]}))
        assert second["candidates"][0]["content"]["parts"] == [{"text": "Done."}]


def test_gemini_streams_its_parts_and_tells_at_the_last_why_it_ended() -> None:
    with MockModel(TWO) as model:
        events = _events(_post(f"{model.url}/v1beta/models/m:streamGenerateContent?alt=sse", _body())[1])
    pieces = [data["candidates"][0] for _, data in events]
    assert [list(piece["content"]["parts"][0]) for piece in pieces] == [["text", "thought"], ["text"], ["functionCall"]]
    assert ["finishReason" in piece for piece in pieces] == [False, False, True]


def test_gemini_breaks_off_within_an_answer_in_words_alone() -> None:
    with MockModel({"replies": [{"say": "A long story.", "fault": "broken", "times": 1}]}) as model:
        url = f"{model.url}/v1beta/models/m:streamGenerateContent?alt=sse"
        with pytest.raises(http.client.IncompleteRead) as cut:
            _post(url, _body())
        assert b"A long" in cut.value.partial
        assert b"finishReason" not in cut.value.partial
        pieces = [data["candidates"][0] for _, data in _events(_post(url, _body())[1])]
    assert "".join(piece["content"]["parts"][0]["text"] for piece in pieces) == "A long story."
    assert ["finishReason" in piece for piece in pieces] == [False, True]


@pytest.mark.parametrize(
    ("reply", "status", "code"),
    [
        ({"fault": 429}, 429, "RESOURCE_EXHAUSTED"),
        ({"fault": "context"}, 400, "INVALID_ARGUMENT"),
        ({"fault": 404}, 404, "NOT_FOUND"),
    ],
)
def test_gemini_refuses_as_google_does(reply: dict[str, Any], status: int, code: str) -> None:
    with MockModel({"replies": [reply]}) as model:
        url = f"{model.url}/v1beta/models/m:generateContent"
        assert _post(url, _body())[0] == status
        assert _ask(url, _body())["error"]["status"] == code


def test_gemini_clients_send_their_key_in_a_header_of_their_own_and_count_tokens() -> None:
    with MockModel({"key": "right", "replies": [{"say": "Hello."}]}) as model:
        url = f"{model.url}/v1beta/models/m:generateContent"
        assert _post(url, _body())[0] == 401
        assert _post(url, _body(), **{"x-goog-api-key": "right"})[0] == 200
        assert _ask(f"{model.url}/v1beta/models/m:countTokens", _body())["totalTokens"] > 0


def test_a_function_sees_what_geminis_tools_gave_back() -> None:
    def reply(asked: Any) -> dict[str, Any]:
        return {"say": f"{asked.model} {asked.turns} {asked.said} {asked.seen}"}

    given = {"functionResponse": {"name": "run_shell_command", "response": {"output": "x"}}}
    with MockModel({"function": reply}) as model:
        url = f"{model.url}/v1beta/models/m:generateContent"
        answer = _ask(url, _body({"role": "model", "parts": []}, {"role": "user", "parts": [given]}))
    assert answer["candidates"][0]["content"]["parts"] == [{"text": "m 1 hi ('x',)"}]
