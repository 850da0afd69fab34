"""Rehearsals: they go the way of a trial, and leave nothing that a trial or its reader could see."""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner import keeper
from runner.prepare import prepare
from runner.processes import lent
from runner.running import begin, run
from runner.scenario.rehearsing import PAYS_FROM, rehearse, rounds_for
from runner.scenario.warm import Warm
from runner.standby import SERVER_LOG
from runner.worlds.places import worlds_root
from tests.runner.scenario.benches import write_bench

TRUE = '{"worker": Command("true")}'
SETUP = """
def set_up(world, axes):
    assert "rehearsals" not in str(world), "A rehearsal ran the bench's setup."
"""
SCENARIO = """
def bench_nothing(workspace, agent):
    observe("resolved", workspace.exists("readme.txt"))
    observe("count", __import__("random").randrange(1 << 30))
"""


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    folder = write_bench(tmp_path_factory.mktemp("rehearsals") / "bench", {"it": SCENARIO}, helpers=SETUP, agents=TRUE)
    bench = folder / "bench.py"
    declared = bench.read_text(encoding="utf-8").replace("Schema, ", "Schema, setup=set_up, ")
    bench.write_text("from helpers import set_up\n" + declared, encoding="utf-8")
    yield Warm.load(begin(prepare(folder)))
    gc.unfreeze()


def seen(warm: Warm) -> tuple[Any, ...]:
    """What a rehearsal could leave: files, descriptors, children, the process's own state."""
    files = sorted(warm.run_dir.parents[1].rglob("*"))
    descriptors, children = sorted(Path("/proc/self/fd").iterdir()), keeper.descendants(os.getpid())
    return files, (worlds_root() / "rehearsals").exists(), descriptors, children, Path.cwd(), [*lent]


def test_a_rehearsal_goes_a_trials_whole_way_and_leaves_nothing(warm: Warm) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    before, state = seen(warm), random.getstate()
    rehearse(warm, iter([1, 2]), lambda type, **fields: told.append((type, fields)))
    assert (seen(warm), random.getstate()) == (before, state)
    ends = [fields for type, fields in told if type == "trial.finished"]
    assert [end["state"] for end in ends] == ["scored", "scored"], told
    assert [fields["counts"]["modified"] for type, fields in told if type == "changes"] == [1, 1]
    assert [fields["exit_code"] for type, fields in told if type == "request"] == [0, 0]
    assert not [fields for type, fields in told if type == "issue"]


def test_only_many_quick_trials_are_rehearsed_for(warm: Warm, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rounds_for(warm) == 0
    monkeypatch.setattr("runner.scenario.rehearsing.PAYS_FROM", 1)
    assert rounds_for(warm) == 1
    monkeypatch.setitem(warm.manifest.cells[0].pin, "version", "1.0")
    assert rounds_for(warm) == 0


def test_a_run_that_was_rehearsed_for_has_the_trials_it_would_have_had(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"it": SCENARIO}, agents=TRUE)
    result = run(folder, trials=PAYS_FROM, workers=2, seed=7)
    (run_dir,) = (folder / ".bench" / "runs").iterdir()
    assert result.counts == {"scored": PAYS_FROM}
    assert len({trial.final.observations["count"].value for trial in result.trials if trial.final}) == PAYS_FROM
    assert (run_dir / SERVER_LOG).read_text(encoding="utf-8") == ""
    assert not (worlds_root() / "rehearsals").exists()
