"""Which environment a run gets, and that none is weaker than the bench demands."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.definition import Network
from runner.environments import ENVIRONMENTS, Needs, _module, bubblewrap, choose, local, sandbox
from runner.environments.base import program_path
from runner.errors import EnvironmentRefused
from runner.worlds.places import Place


@pytest.fixture
def broken_bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bwrap that is there and does not work, as where the kernel forbids user namespaces."""
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for cached in (sandbox.unusable, bubblewrap.bwrap, bubblewrap.version):
        cached.cache_clear()


@pytest.mark.sandbox
@pytest.mark.skipif(bool(sandbox.unusable()), reason=f"The sandbox cannot be tested here: {sandbox.unusable()}")
def test_auto_takes_the_sandbox_where_it_works() -> None:
    assert choose("auto").name == "sandbox"
    assert choose("auto", "sandbox", Network("none", "none")).isolation == "sandbox"


def test_auto_runs_bubblewrap_and_falls_back_to_local(broken_bwrap: None) -> None:
    chosen = choose("auto")
    assert (chosen.name, chosen.isolation) == ("local", "none")


def test_auto_never_gives_less_than_the_bench_demands(broken_bwrap: None) -> None:
    with pytest.raises(EnvironmentRefused, match="No permissions to create new namespace"):
        choose("auto", "sandbox")
    with pytest.raises(EnvironmentRefused, match="No permissions"):
        choose("sandbox")
    with pytest.raises(EnvironmentRefused, match="cut off the network"):
        choose("auto", "none", Network(execution="none"))


def test_a_named_environment_that_is_too_weak_is_refused() -> None:
    with pytest.raises(EnvironmentRefused, match="demands isolation='sandbox'"):
        choose("local", "sandbox")
    with pytest.raises(EnvironmentRefused, match="cut off the network"):
        choose("local", "none", Network(evaluation="none"))
    with pytest.raises(EnvironmentRefused, match="auto, container, sandbox, local"):
        choose("vm")


def test_an_open_that_asks_local_for_no_network_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentRefused):
        local.ENVIRONMENT.open(Place(str(tmp_path)), Needs(network="none"))


def test_every_environment_is_found_by_its_own_name() -> None:
    assert [_module(name).ENVIRONMENT.name for name in ENVIRONMENTS] == list(ENVIRONMENTS)


def test_a_program_is_found_first_and_what_is_on_the_path_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "prefix").mkdir()
    tool = tmp_path / "tools" / "agent"
    assert program_path((tmp_path / "prefix", Path("/usr/bin/sed"), tool), "/opt/x:/usr/bin") == (
        f"{tool.parent}:/opt/x:/usr/bin"
    )
