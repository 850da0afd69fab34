"""What the mock model can be told to do wrong, and replies that a function gives."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from runner.errors import RunnerError
from runner.mock_model import Conversation, MockModel, load_functions

from .test_mock_model import BASH_TOOL, _ask, _post, _user

ASKED = {"model": "m", "messages": [_user("hi")], "tools": [BASH_TOOL]}
PATHS = pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses"])


def _said(answer: dict[str, Any]) -> str:
    return str(answer["content"][-1]["text"])


@PATHS
@pytest.mark.parametrize("stream", [True, False])
def test_a_broken_answer_begins_and_never_comes_whole(path: str, stream: bool) -> None:
    with MockModel({"replies": [{"say": "A long story.", "fault": "broken"}]}) as model:
        body = json.dumps({**ASKED, "input": "hi", "stream": stream}).encode()
        with pytest.raises(http.client.IncompleteRead) as caught:
            _post(f"{model.url}{path}", body)
    assert caught.value.partial
    assert b"[DONE]" not in caught.value.partial
    assert b"message_stop" not in caught.value.partial


def test_a_broken_answer_comes_whole_once_its_times_are_over() -> None:
    with MockModel({"replies": [{"say": "Whole.", "fault": "broken", "times": 1}]}) as model:
        with pytest.raises(http.client.IncompleteRead):
            _post(f"{model.url}/v1/messages", ASKED)
        assert _said(_ask(f"{model.url}/v1/messages", ASKED)) == "Whole."


def test_a_request_that_is_never_answered_holds_up_nobody_else() -> None:
    talks = [{"when": "hang", "fault": "never", "replies": [{"say": "x"}]}, {"replies": [{"say": "Here."}]}]
    with MockModel({"talks": talks}) as model:
        hanging = http.client.HTTPConnection(urlsplit(model.url).netloc, timeout=0.3)
        hanging.request("POST", "/v1/messages", json.dumps({"model": "m", "messages": [_user("hang")]}))
        assert _said(_ask(f"{model.url}/v1/messages", ASKED)) == "Here."
        with pytest.raises(socket.timeout):
            hanging.getresponse()
        hanging.close()


def test_a_slow_first_token_comes_after_the_headers() -> None:
    with MockModel({"replies": [{"say": "At last.", "first_token": 0.4}]}) as model:
        slow = http.client.HTTPConnection(urlsplit(model.url).netloc, timeout=20)
        slow.request("POST", "/v1/messages", json.dumps({**ASKED, "stream": True}))
        answer = slow.getresponse()
        assert slow.sock is None or answer.status == 200
        assert b"At last." in answer.read()


def test_a_talks_own_fault_is_for_its_first_requests_whichever_reply_is_due() -> None:
    talks = [
        {"model": "a", "fault": 429, "times": 2, "replies": [{"say": "one"}, {"say": "two"}]},
        {"model": "b", "replies": [{"say": "b"}]},
    ]
    later = [_user("hi"), {"role": "assistant", "content": "one"}, _user("go on")]
    with MockModel({"talks": talks}) as model:
        url = f"{model.url}/v1/messages"
        codes = [
            _post(url, {"model": name, "messages": messages})[0]
            for name, messages in (("a", [_user("hi")]), ("b", [_user("hi")]), ("a", later))
        ]
        assert codes == [429, 200, 429]
        assert _said(_ask(url, {"model": "a", "messages": later})) == "two"


def test_a_function_answers_by_what_was_said_and_seen(tmp_path: Path) -> None:
    file = tmp_path / "replies.py"
    file.write_text(
        "def reply(asked):\n"
        "    if not asked.seen:\n        return {'run': 'ls'}\n"
        "    return {'say': f'I saw {asked.seen[-1]} and was told {asked.said!r} as {asked.model}.'}\n"
    )
    with MockModel({"talks": [{"function": "reply"}]}, functions=load_functions(file)) as model:
        first = _ask(f"{model.url}/v1/messages", ASKED)
        assert first["content"][-1]["input"]["command"] == "ls"
        result = {"type": "tool_result", "tool_use_id": first["content"][-1]["id"], "content": "a.py"}
        messages = [_user("hi"), {"role": "assistant", "content": first["content"]}, _user([result])]
        assert _said(_ask(f"{model.url}/v1/messages", {**ASKED, "messages": messages})) == (
            "I saw a.py and was told 'hi\\n' as m."
        )


@pytest.mark.parametrize(
    ("path", "key", "row"),
    [
        ("/v1/chat/completions", "messages", {"role": "tool", "tool_call_id": "c", "content": "a.py"}),
        ("/v1/responses", "input", {"type": "function_call_output", "call_id": "c", "output": "a.py"}),
    ],
)
def test_a_function_sees_tool_output_in_every_protocol(path: str, key: str, row: dict[str, Any]) -> None:
    seen: list[tuple[str, ...]] = []

    def reply(asked: Conversation) -> dict[str, Any]:
        seen.append(asked.seen)
        return {"say": "ok"}

    with MockModel({"function": reply}) as model:
        assert _post(f"{model.url}{path}", {"model": "m", key: [_user("hi"), row]})[0] == 200
    assert seen == [("a.py",)]


@pytest.mark.parametrize(("body", "why"), [("1/0", "ZeroDivisionError"), ("return {'sya': 'x'}", "unknown key 'sya'")])
def test_what_goes_wrong_in_a_function_is_told_to_the_client(tmp_path: Path, body: str, why: str) -> None:
    (tmp_path / "f.py").write_text(f"def reply(asked):\n    {body}\n")
    with MockModel({"function": "reply"}, functions=load_functions(tmp_path / "f.py")) as model:
        code, data = _post(f"{model.url}/v1/messages", ASKED)
    assert code == 400
    assert why in json.loads(data)["error"]["message"]


def test_a_script_alone_never_runs_code(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="Talk 1 asks for the function 'reply'; name their file with --functions"):
        MockModel({"talks": [{"function": "reply"}]})
    (tmp_path / "f.py").write_text("def other(asked):\n    return {}\n")
    with pytest.raises(RunnerError, match="the file given has other"):
        MockModel({"function": "reply"}, functions=load_functions(tmp_path / "f.py"))


@pytest.mark.parametrize(("text", "why"), [("def reply(:", "SyntaxError"), (None, "cannot be read")])
def test_a_file_of_functions_that_cannot_be_used_is_refused_in_a_sentence(
    tmp_path: Path, text: str | None, why: str
) -> None:
    if text is not None:
        (tmp_path / "f.py").write_text(text)
    with pytest.raises(RunnerError, match=why):
        load_functions(tmp_path / "f.py")


@pytest.mark.parametrize("reply", [{"first_token": "long"}, {"delay": -1}, {"fault": 429, "times": "two"}])
def test_a_number_that_is_none_is_refused_where_it_stands(reply: dict[str, Any]) -> None:
    with pytest.raises(RunnerError, match=r"Reply 1 of talk 1 has .* it must be a number from 0"):
        MockModel({"replies": [reply]})
