from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from runner.errors import RunnerError
from runner.mock_model import MockModel

BASH = {"type": "object", "properties": {"command": {"type": "string"}, "description": {"type": "string"}}}
BASH_TOOL = {"name": "Bash", "input_schema": {**BASH, "required": ["command", "description"]}}
CHAT_TOOL = {"type": "function", "function": {"name": "bash", "parameters": BASH}}
RESPONSE_TOOL = {"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {"type": "string"}}}}
TWO = {
    "replies": [
        {"think": "Hm.", "say": "Looking.", "run": "ls", "usage": {"input": 90, "output": 7, "cached": 40}},
        {"say": "Done."},
    ]
}


def _post(url: str, body: dict[str, Any] | bytes, **headers: str) -> tuple[int, bytes]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def _ask(url: str, body: dict[str, Any], **headers: str) -> Any:
    return json.loads(_post(url, body, **headers)[1])


def _events(data: bytes) -> list[tuple[str | None, Any]]:
    """Read a stream of server-sent events as a client does."""
    found = []
    for block in data.decode().strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        found.append(
            (fields.get("event"), fields["data"] if fields["data"] == "[DONE]" else json.loads(fields["data"]))
        )
    return found


def _user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def test_anthropic_answers_with_a_call_of_the_clients_shell_and_then_in_words() -> None:
    with MockModel(TWO) as model:
        url = f"{model.url}/v1/messages"
        body: dict[str, Any] = {"model": "m", "messages": [_user("hi")], "tools": [{"name": "Read"}, BASH_TOOL]}
        first = _ask(url, body)
        assert [block["type"] for block in first["content"]] == ["thinking", "text", "tool_use"]
        assert first["content"][2]["name"] == "Bash"
        assert first["content"][2]["input"] == {"command": "ls", "description": "Run a command"}
        assert first["stop_reason"] == "tool_use"
        assert (first["usage"]["input_tokens"], first["usage"]["cache_read_input_tokens"]) == (50, 40)
        result = {"type": "tool_result", "tool_use_id": first["content"][2]["id"], "content": "x"}
        body["messages"] += [{"role": "assistant", "content": first["content"]}, {"role": "user", "content": [result]}]
        assert _ask(url, body)["content"] == [{"type": "text", "text": "Done."}]


def test_anthropic_streams_the_same_answer() -> None:
    with MockModel(TWO) as model:
        body = {"model": "m", "messages": [_user("hi")], "tools": [BASH_TOOL], "stream": True}
        events = _events(_post(f"{model.url}/v1/messages", body)[1])
    assert all(name == data["type"] for name, data in events)
    kinds = [name for name, _ in events]
    assert (kinds[0], kinds[-2], kinds[-1]) == ("message_start", "message_delta", "message_stop")
    deltas = [data["delta"] for name, data in events if name == "content_block_delta"]
    assert [delta["type"] for delta in deltas] == ["thinking_delta", "text_delta", "input_json_delta"]
    assert json.loads(deltas[2]["partial_json"])["command"] == "ls"
    starts = [data["content_block"] for name, data in events if name == "content_block_start"]
    assert (starts[1]["text"], starts[2]["input"]) == ("", {})
    assert events[-2][1]["usage"]["output_tokens"] == 7


def test_chat_completions_answers_with_a_call_and_then_in_words() -> None:
    with MockModel(TWO) as model:
        url = f"{model.url}/v1/chat/completions"
        body: dict[str, Any] = {"model": "m", "messages": [_user("hi")], "tools": [CHAT_TOOL]}
        first = _ask(url, body)
        message = first["choices"][0]["message"]
        assert first["choices"][0]["finish_reason"] == "tool_calls"
        assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"command": "ls"}
        assert first["usage"]["prompt_tokens_details"]["cached_tokens"] == 40
        call = message["tool_calls"][0]["id"]
        body["messages"] += [message, {"role": "tool", "tool_call_id": call, "content": "x"}]
        assert _ask(url, body)["choices"][0]["message"]["content"] == "Done."


def test_chat_completions_streams_deltas_usage_and_the_end_mark() -> None:
    with MockModel(TWO) as model:
        body = {"model": "m", "messages": [_user("hi")], "tools": [CHAT_TOOL], "stream": True}
        events = [data for _, data in _events(_post(f"{model.url}/v1/chat/completions", body)[1])]
    assert events[-1] == "[DONE]"
    assert events[-2]["usage"]["completion_tokens"] == 7
    deltas = [event["choices"][0]["delta"] for event in events[:-2]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "Looking."
    assert [delta["tool_calls"][0]["index"] for delta in deltas if "tool_calls" in delta] == [0]
    assert events[-3]["choices"][0]["finish_reason"] == "tool_calls"


def test_responses_answers_with_items_and_counts_a_call_and_its_text_as_one_turn() -> None:
    with MockModel(TWO) as model:
        url = f"{model.url}/v1/responses"
        body: dict[str, Any] = {"model": "m", "input": [_user("hi", type="message")], "tools": [RESPONSE_TOOL]}
        first = _ask(url, body)
        assert [item["type"] for item in first["output"]] == ["reasoning", "message", "function_call"]
        assert json.loads(first["output"][2]["arguments"]) == {"cmd": "ls"}
        output = {"type": "function_call_output", "call_id": first["output"][2]["call_id"], "output": "x"}
        body["input"] += [*first["output"], output]
        assert _ask(url, body)["output"][0]["content"][0]["text"] == "Done."
        named = {"model": "m", "previous_response_id": first["id"], "input": [output], "tools": [RESPONSE_TOOL]}
        assert _ask(url, named)["output"][0]["content"][0]["text"] == "Done."


def test_responses_streams_items_and_completes_with_usage() -> None:
    with MockModel(TWO) as model:
        body = {"model": "m", "input": "hi", "tools": [RESPONSE_TOOL], "stream": True}
        events = _events(_post(f"{model.url}/v1/responses", body)[1])
    kinds = [name for name, _ in events]
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert kinds.count("response.output_item.done") == 3
    usage = events[-1][1]["response"]["usage"]
    assert (usage["input_tokens"], usage["input_tokens_details"]["cached_tokens"]) == (90, 40)


@pytest.mark.parametrize(
    ("tool", "name", "arguments"),
    [
        (
            {"name": "shell", "parameters": {"properties": {"command": {"type": "array"}}}},
            "shell",
            ["bash", "-lc", "ls"],
        ),
        ({"name": "run_shell_command", "parameters": BASH}, "run_shell_command", "ls"),
        ({"name": "my_terminal", "parameters": {"properties": {"script": {"type": "string"}}}}, "my_terminal", "ls"),
    ],
)
def test_an_intent_fits_the_shell_that_a_client_has(tool: dict[str, Any], name: str, arguments: Any) -> None:
    with MockModel(TWO) as model:
        tools = [{"type": "function", "function": {"name": "edit_file"}}, {"type": "function", "function": tool}]
        body = {"model": "m", "messages": [_user("hi")], "tools": tools}
        function = _ask(f"{model.url}/chat/completions", body)["choices"][0]["message"]["tool_calls"][0]["function"]
    assert function["name"] == name
    assert arguments in json.loads(function["arguments"]).values()


def test_a_client_without_a_shell_is_answered_in_words() -> None:
    with MockModel(TWO) as model:
        answer = _ask(f"{model.url}/v1/messages", {"model": "m", "messages": [_user("title?")], "tools": []})
    assert (answer["stop_reason"], answer["content"][-1]["text"]) == ("end_turn", "Looking.")


@pytest.mark.parametrize("status", [401, 404, 429, 500, 529])
def test_a_fault_is_the_status_in_each_protocols_own_words(status: int) -> None:
    with MockModel({"replies": [{"fault": status}]}) as model:
        body = {"model": "m", "messages": [_user("hi")], "stream": True}
        code, data = _post(f"{model.url}/v1/messages", body)
        assert (code, json.loads(data)["type"]) == (status, "error")
        code, data = _post(f"{model.url}/v1/responses", {"model": "m", "input": "hi"})
        assert code == status
        assert json.loads(data)["error"]["message"]


def test_too_long_a_prompt_is_told_as_the_vendors_tell_it() -> None:
    with MockModel({"replies": [{"fault": "context"}]}) as model:
        anthropic = _post(f"{model.url}/v1/messages", {"model": "m", "messages": [_user("hi")]})
        openai = _post(f"{model.url}/v1/chat/completions", {"model": "m", "messages": [_user("hi")]})
    assert anthropic[0] == openai[0] == 400
    assert "prompt is too long" in json.loads(anthropic[1])["error"]["message"]
    assert json.loads(openai[1])["error"]["code"] == "context_length_exceeded"


def test_a_dropped_connection_is_no_answer_at_all() -> None:
    with MockModel({"replies": [{"fault": "drop"}]}) as model, pytest.raises((OSError, urllib.error.URLError)):
        _post(f"{model.url}/v1/messages", {"model": "m", "messages": [_user("hi")]})


def test_a_fault_with_times_goes_away() -> None:
    with MockModel({"replies": [{"fault": 429, "times": 2, "say": "Back."}]}) as model:
        body = {"model": "m", "messages": [_user("hi")]}
        codes = [_post(f"{model.url}/v1/messages", body)[0] for _ in range(4)]
    assert codes == [429, 429, 200, 200]


def test_models_have_scripts_of_their_own_and_others_do_not_exist() -> None:
    talks = [{"model": "a", "replies": [{"say": "I am a."}]}, {"model": "b", "replies": [{"say": "I am b."}]}]
    with MockModel({"talks": talks}) as model:
        said = {
            name: _post(f"{model.url}/v1/messages", {"model": name, "messages": [_user("hi")]})
            for name in ("a", "b", "c")
        }
        with urllib.request.urlopen(f"{model.url}/v1/models", timeout=60) as answer:
            listed = [row["id"] for row in json.load(answer)["data"]]
    assert listed == ["a", "b"]
    assert b"I am a." in said["a"][1]
    assert b"I am b." in said["b"][1]
    assert said["c"][0] == 404


def test_what_the_user_says_chooses_the_talk() -> None:
    talks = [{"when": "parser", "replies": [{"say": "parsing"}]}, {"replies": [{"say": "anything else"}]}]
    with MockModel({"talks": talks}) as model:
        url = f"{model.url}/v1/responses"
        said = [
            _ask(url, {"model": "m", "input": text})["output"][0]["content"][0]["text"] for text in ("a parser", "b")
        ]
    assert said == ["parsing", "anything else"]


def test_after_the_last_reply_its_words_are_repeated_but_never_its_command() -> None:
    with MockModel({"replies": [{"say": "Again.", "run": "ls"}]}) as model:
        spoken = [{"role": "assistant", "content": "x"}, _user("go on")] * 3
        answer = _ask(
            f"{model.url}/v1/messages", {"model": "m", "messages": [_user("hi"), *spoken], "tools": [BASH_TOOL]}
        )
    assert [block["type"] for block in answer["content"]] == ["text"]


def test_many_conversations_at_once_do_not_disturb_each_other() -> None:
    def turn(number: int) -> str:
        spoken = [{"role": "assistant", "content": "x"}, _user("go on")] * (number % 2)
        body = {"model": "m", "messages": [_user("hi"), *spoken]}
        return str(_ask(f"{model.url}/v1/messages", body)["content"][-1]["text"])

    with MockModel(TWO) as model, ThreadPoolExecutor(8) as pool:
        said = list(pool.map(turn, range(40)))
    assert said == ["Looking.", "Done."] * 20


def test_a_key_is_asked_for_where_the_script_has_one_and_never_kept() -> None:
    with MockModel({"key": "good-key", "replies": [{"say": "hi"}]}) as model:
        body = {"model": "m", "messages": [_user("hi")]}
        codes = [
            _post(f"{model.url}/v1/messages", body, **{"x-api-key": "bad"})[0],
            _post(f"{model.url}/v1/messages", body, **{"x-api-key": "good-key"})[0],
            _post(f"{model.url}/v1/chat/completions", body, Authorization="Bearer good-key")[0],
        ]
        assert codes == [401, 200, 200]
        assert "good-key" not in repr(model.requests)


def test_the_doors_clients_knock_at_first_are_open() -> None:
    with MockModel(TWO) as model:
        head = urllib.request.Request(model.url, method="HEAD")
        with urllib.request.urlopen(head, timeout=60) as answer:
            assert answer.status == 200
        counted = _ask(f"{model.url}/v1/messages/count_tokens", {"model": "m", "messages": [_user("hi")]})
        assert counted["input_tokens"] > 0
        assert _post(f"{model.url}/v1/nothing", {})[0] == 404
        assert _post(f"{model.url}/v1/messages", b"[not json")[0] == 400


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ({}, "needs 'talks'"),
        ({"talks": []}, "needs 'talks'"),
        ({"talks": [{"model": "a"}]}, "Talk 1 .* no 'replies'"),
        ({"replies": [{"say": "a"}, {"sya": "b"}]}, "Reply 2 of talk 1 has the unknown key 'sya'"),
        ({"replies": [{"fault": 200}]}, "has the fault 200"),
        ({"replies": [{"stop": "bored"}]}, "has stop 'bored'"),
        ({"replies": ["Done."]}, "must be an object"),
    ],
)
def test_a_broken_script_is_refused_in_a_sentence(script: dict[str, Any], why: str) -> None:
    with pytest.raises(RunnerError, match=why):
        MockModel(script)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_a_file_until_it_is_stopped(tmp_path: Path, number: int) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps(TWO))
    command = [sys.executable, "-m", "runner.mock_model", "--script", str(file), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = server.stdout.readline().strip()
        answer = _ask(f"{url}/v1/messages", {"model": "m", "messages": [_user("hi")]})
        server.send_signal(number)
        try:
            assert server.wait(60) == 0
        finally:
            server.kill()
    assert answer["content"][-1]["text"] == "Looking."


@pytest.mark.parametrize(
    ("text", "why"), [("{", "is not JSON"), ("[]", "must hold an object"), (None, "cannot be read")]
)
def test_the_command_says_in_one_line_what_is_wrong_with_a_file(tmp_path: Path, text: str | None, why: str) -> None:
    file = tmp_path / "script.json"
    if text is not None:
        file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "runner.mock_model", "--script", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_taken_port_is_said_plainly() -> None:
    with MockModel(TWO) as model, pytest.raises(RunnerError, match="cannot listen on port"):
        MockModel(TWO, port=int(model.url.rsplit(":", 1)[1]))
    with pytest.raises(RunnerError, match="cannot listen on port 99999: a port is a number from 0 to 65535"):
        MockModel(TWO, port=99_999)
