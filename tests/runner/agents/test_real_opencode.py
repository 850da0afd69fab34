"""The real opencode against the mock model. Its start is slow: few requests, and one trial for all that can share."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.agents import opencode, resolve
from runner.credentials import lend, login_of, take_back
from runner.definition import Cli
from runner.mock_model import MockModel

from .asking import Desk

Make = Callable[..., Desk]
pytestmark = [pytest.mark.clis, pytest.mark.usefixtures("real_opencode")]
FIX = {
    "replies": [
        {"say": "Looking.", "run": "sed -i s/a-b/a+b/ calc.py", "usage": {"input": 900, "output": 40, "cached": 800}},
        {"say": "Fixed.", "usage": {"input": 1000, "output": 10}},
        {"run": "cat /etc/hostname > /dev/null; echo seen; exit 3", "usage": {"input": 1100, "output": 20}},
        {"say": "Noted.", "usage": {"input": 1200, "output": 5}},
    ]
}  # fmt: skip


@pytest.fixture
def real_opencode(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.environ.get("BENCHSITE_CLIS")
    if folder:
        monkeypatch.setenv("PATH", f"{Path(folder).resolve() / 'node_modules' / '.bin'}:{os.environ['PATH']}")
    if shutil.which("opencode") is None:
        pytest.skip("opencode is not on PATH and not in BENCHSITE_CLIS; install it with npm to run this.")
    for name in opencode.KEYS:
        monkeypatch.delenv(name, raising=False)


def test_the_file_is_really_fixed_and_a_second_request_goes_on_where_the_first_ended(desk: Make) -> None:
    with MockModel(FIX) as model:
        one = desk(Cli("opencode", base_url=model.url), {"model": "small"})
        (one.world / "calc.py").write_text("def add(a, b):\n    return a-b\n")
        first, done = one.request("- fix calc.py", timeout=240)
        assert (done.exit_code, first.fault, first.flags, first.text) == (0, None, (), "Fixed.")
        assert (one.world / "calc.py").read_text() == "def add(a, b):\n    return a+b\n"
        assert (first.usage.tokens_in, first.usage.tokens_out, first.usage.tokens_cached) == (1900, 50, 800)
        assert (first.usage.cost, first.usage.model_calls, first.usage.tool_calls) == (None, 2, 1)
        second, done = one.request("Write a note.", timeout=240)
        assert (done.exit_code, second.fault, second.text) == (0, None, "Noted.")
        assert (second.usage.tokens_in, second.session) == (2300, first.session)
        asked = [json.dumps(request["body"]) for request in model.requests]
    (seen,) = [step for step in second.steps if step.kind == "observation"]
    assert ("seen" in seen.text, seen.exit_code) == (True, 3)
    assert any("- fix calc.py" in body for body in asked)
    assert [path.name for path in one.world.iterdir()] == ["calc.py"]
    assert not (one.home / ".npm").exists(), "what is told to be off fetched packages of its own"


def test_a_login_is_what_its_provider_is_asked_with_and_one_that_is_refused_is_a_fault(
    desk: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a key that provider is asked nothing at all, and none but the login's is there."""
    monkeypatch.setenv("HOME", str(tmp_path / "mine"))
    with MockModel({"key": "another", "replies": [{"say": "Hello."}]}) as model:
        one = desk(Cli("opencode", base_url=model.url, credentials=True), {"model": "openai/small"})
        mine = login_of(resolve({"opencode": one.spec}, "opencode"))
        assert mine is not None
        mine.file.parent.mkdir(parents=True)
        mine.file.write_text('{"openai": {"type": "api", "key": "sk-canary-of-a-login"}}')
        lend(mine, one.root, one.home)
        reading, done = one.request(timeout=240)
        assert {request["path"] for request in model.requests} == {"/responses"}
    assert not done.timed_out
    assert reading.fault == ("provider_auth", "opencode reported: 401 invalid x-api-key")
    assert take_back(one.root, one.home) is not None


def test_the_version_is_probed(desk: Make) -> None:
    one = desk(Cli("opencode"))
    found = one.module.probe(one.spec, {})
    assert found.version[0].isdigit()
    assert all(path.exists() for path in found.programs)
