"""Settings of an environment: the bench's, a scenario's own, and what is refused before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.environments import sandbox
from runner.errors import BenchError
from runner.prepare import prepare
from tests.runner.scenario.benches import write_bench

UNUSABLE = sandbox.unusable()
real = pytest.mark.skipif(bool(UNUSABLE), reason=f"The sandbox cannot be tested here: {UNUSABLE}")
TWO = """
    from runner import Limits, Network

    def bench_plain(workspace, agent):
        agent.request("go")
        observe("resolved", True)

    @pytest.mark.environment({mark})
    def bench_own(workspace, agent):
        agent.request("go")
        observe("resolved", True)
"""
MODEL = '{"worker": Cli("claude-code", base_url="http://10.1.2.3")}'


def _bench(folder: Path, mark: str, declare: str, **more: Any) -> Path:
    return write_bench(folder, {"two": TWO.format(mark=mark)}, declare=declare, **more)


def _plans(folder: Path) -> dict[str, dict[str, Any]]:
    manifest = prepare(folder, probe=False).manifest
    return {manifest.scenarios[row[1]].id.partition("::")[2]: manifest.plans[row[4]] for row in manifest.rows}


@real
@pytest.mark.sandbox
def test_a_mark_gives_a_scenario_its_own_settings(tmp_path: Path) -> None:
    mark = 'limits=Limits(disk="2 MiB"), network=Network("none", "none", allow=["pypi.org"])'
    folder = _bench(tmp_path / "bench", mark, 'environment="sandbox", limits=Limits(disk="1 GiB", processes=50)')
    plans = _plans(folder)
    assert plans["plain"]["resources"] == {"processes": 50, "disk": 1 << 30}
    assert plans["plain"]["network"] == {"execution": "open", "evaluation": "open"}
    assert plans["own"]["resources"] == {"disk": 2 << 20}
    assert plans["own"]["network"] == {"execution": "none", "evaluation": "none", "allow": ["pypi.org:443"]}
    assert plans["own"]["held"]["network"] == "a network namespace of its own"
    assert set(plans["plain"]["held"]) == {"processes", "disk", "loopback"}


@real
@pytest.mark.sandbox
def test_limits_part_the_runs_that_had_them_from_those_that_had_not(tmp_path: Path) -> None:
    hashes = []
    for number, limits in enumerate(("Limits()", 'Limits(disk="1 GiB")', 'Limits(disk="1024 MiB")')):
        folder = _bench(tmp_path / str(number), "", f'environment="sandbox", limits={limits}')
        hashes.append(prepare(folder, probe=False).manifest.definition)
    assert hashes[0] != hashes[1] == hashes[2]


@pytest.mark.parametrize(
    ("mark", "declare", "sentence"),
    [
        ("limits=Limits(memory='1 GiB')", 'environment="local"', "bench_own asks for .* cannot limit memory"),
        ("network=Network('none', 'none')", 'environment="local"', "bench_own asks for .* cannot cut off the network"),
        ("image='x'", 'environment="local"', "bench_own asks for .* has no images"),
        ("network=Network('none')", 'environment="sandbox"', "bench_own is evaluated in mode 'reuse' with another"),
        ("limits='1 GiB'", "", "must give limits as Limits"),
        ("limits=Limits(memory='lots')", "", "is not a size"),
        ("network=Network('shut')", "", "is not one of: open, none"),
        ("network=Network('open', allow=['a'])", "", "declare that too"),
        ("size=3", "", "takes image=, limits= and network=, nothing else"),
    ],
)
def test_what_cannot_be_held_is_refused_with_file_and_line(
    tmp_path: Path, mark: str, declare: str, sentence: str
) -> None:
    if "sandbox" in declare and UNUSABLE:
        declare = ""
    with pytest.raises(BenchError, match=rf"(?s)tests/bench_two\.py:\d+: .*{sentence}"):
        prepare(_bench(tmp_path / "bench", mark, declare), probe=False)


@pytest.mark.parametrize(
    ("declare", "sentence"),
    [
        ("limits=Limits(processes=2)", "too small"),
        ("limits=Limits(processes='9')", "is no number"),
        ("limits=Limits(disk=True)", "is no size"),
        ("network=Network('none', 'none', allow='pypi.org')", "a list of hosts, not one text"),
        ("network=Network('none', 'none', allow=['http://x'])", "is no host"),
        ("image=3", "is not the name of a container's image"),
        ("image='x', environment='sandbox'", "has no images"),
    ],
)
def test_a_setting_that_cannot_stand_is_refused_at_its_line(tmp_path: Path, declare: str, sentence: str) -> None:
    with pytest.raises(BenchError, match=rf"bench\.py:\d+: .*{sentence}"):
        prepare(_bench(tmp_path / "bench", "", declare), probe=False)


@real
@pytest.mark.sandbox
def test_a_model_that_nothing_leads_to_is_refused(tmp_path: Path) -> None:
    declare = 'environment="sandbox", network=Network("none", "none"), matrix={"agent": "worker", "model": "m"}'
    folder = _bench(tmp_path / "bench", "", declare, agents=MODEL)
    with pytest.raises(BenchError, match=r"10\.1\.2\.3 is neither; give that machine a name"):
        prepare(folder, probe=False)
