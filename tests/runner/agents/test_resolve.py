from __future__ import annotations

import pytest

from runner.agents import BUILT_IN, adapter, resolve
from runner.definition import Cli, Command, Python, Scripted
from runner.errors import BenchError


def test_every_kind_of_declaration_finds_its_module() -> None:
    declared = {
        "a": Command("x"),
        "b": Python("m:f"),
        "c": Scripted([]),
        "d": Cli("codex", base_url="http://x"),
        "e": Cli("noop"),
    }
    assert [resolve(declared, name).kind for name in declared] == ["command", "python", "scripted", "codex", "noop"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_names_need_no_declaration(name: str) -> None:
    found = resolve({}, name)
    assert (found.kind, found.module) == (name, adapter(name))


def test_the_benchs_own_declaration_goes_first() -> None:
    assert resolve({"codex": Command("my-codex")}, "codex").kind == "command"


def test_an_unknown_agent_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(BenchError, match="no agent 'claud-code': did you mean 'claude-code'"):
        resolve({}, "claud-code")


def test_an_unknown_adapter_is_refused_with_what_there_is() -> None:
    with pytest.raises(BenchError, match="adapter 'cursor'; there are oracle, noop, claude-code, codex"):
        resolve({"x": Cli("cursor")}, "x")
