"""Grading again what agents did before: no agent runs, nothing is paid twice, and what cannot be put back is said."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from runner.errors import BenchError, JournalError, RunnerError
from runner.evidence import open_world, patch_of
from runner.manifest import Manifest
from runner.prepare import prepare
from runner.records import Attempt, RunResult
from runner.regrading import check_held, regrade
from runner.running import begin, resume, run
from runner.selection import name_of
from runner.stored import verify
from runner.worlds.changes import ChangeSet
from tests.runner.cli.make import told
from tests.runner.scenario.benches import write_bench

TOOL = """#!/bin/sh
prompt=$(cat)
case "$prompt" in
  first) printf 'one\\n' > a.txt; printf 'x\\n' > gone.txt; rm -r old;
     mkdir -p deep/empty; ln -s a.txt link; mkfifo old;;
  second) printf 'two\\n' > a.txt; rm gone.txt link; mkdir link; printf '#!\\n' > link/tool; chmod 755 link/tool;;
  large) head -c 5000 /dev/zero > big.bin;;
esac
echo "heard $prompt"
[ "$prompt" != second ]
"""
TALK = """
    def bench_talk(workspace, agent):
        first = agent.request("first")
        (workspace.path / "ours.txt").write_text("ours")
        seen = ",".join(workspace.changed())
        second = agent.request("second")
        there = sorted(path.relative_to(workspace.path).as_posix() for path in workspace.path.rglob("*"))
        observe("note", f"{first.text.strip()}|{second.text.strip()}|{second.exit_code}|{seen}|{there}")
        observe("share", second.usage.cost or 0.0)
        observe("resolved", workspace.read("a.txt") == "two\\n" and workspace.tests.passed())
        observe("count", len(workspace.changed()))
"""
LARGE = """
    def bench_large(workspace, agent):
        agent.request("large")
        observe("resolved", len(workspace.read_bytes("big.bin")) == 5000)
"""
ASK = """
    def bench_ask(workspace, agent):
        agent.request("old words")
        observe("resolved", True)
"""
AGENTS = """{
    "tool": Command("TOOL"), "garbled": Python("helpers:leave"),
    "paid": Scripted([usage(cost=0.25)], when=[
        ("first", [write("a.txt", "two\\n"), write("zoo/.venv/__pycache__/a.pyc", "x"), usage(cost=0.5)]),
        ("large", [write("big.bin", "0" * 5000), write("zoo/.venv/six.py", "2"), write("zoo/node_modules/l.js", "x")]),
    ]),
}"""


@dataclass
class Graded:
    """A run whose agents worked, and the run that graded their work again with changed scenarios."""

    folder: Path
    before: RunResult
    after: RunResult

    @property
    def run_dir(self) -> Path:
        return self.folder / ".bench" / "runs" / self.before.manifest.run

    def of(self, result: RunResult, scenario: str, agent: str) -> Attempt:
        for trial in result.trials:
            name = name_of(result.manifest, trial.planned.index)
            if name[0] == scenario and f"agent={agent}" in name[2]:
                assert trial.final is not None
                return trial.final
        raise LookupError(scenario, agent)


def edit(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    base = tmp_path_factory.mktemp("regrade")
    tool = base / "tool"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    folder = write_bench(
        base / "bench",
        {"talk": TALK, "large": LARGE, "ask": ASK},
        declare='matrix={"agent": ["tool", "garbled", "paid"]}, suite="{python} -c pass", '
        'workspace=Workspace(retain="never", capture=Capture(max_bytes="1 KiB"))',
        agents=AGENTS.replace("TOOL", str(tool)),
        world={"old/one.txt": "1", "old/two.txt": "2", "zoo/.venv/six.py": "1"},
        helpers="import os\ndef leave(prompt, workspace, axes):\n    os._exit(0)\n",
    )
    before = run(folder, workers=2)
    tool.unlink()
    edit(folder, "tests/bench_talk.py", 'observe("count", len(', 'observe("count", 100 + len(')
    edit(folder, "tests/bench_ask.py", "old words", "new words")
    return Graded(folder, before, regrade(folder / ".bench" / "runs" / before.manifest.run, workers=2, tags=["again"]))


def test_a_changed_check_is_answered_by_what_the_agent_did_then(graded: Graded) -> None:
    was, now = (graded.of(result, "talk", "tool") for result in (graded.before, graded.after))
    assert (was.state, was.outcome) == (now.state, now.outcome) == ("scored", "solved"), now.reason
    values = [{key: one.value for key, one in attempt.observations.items()} for attempt in (was, now)]
    assert "first|heard second|1|a.txt,deep" not in str(values[0]["note"])
    assert "heard first|heard second|1|a.txt,gone.txt,link,old,old/one.txt,old/two.txt|" in str(values[0]["note"])
    assert "'deep/empty', 'link', 'link/tool', 'old', 'ours.txt'" in str(values[0]["note"])
    count = values[0].pop("count")
    assert isinstance(count, int)
    assert values[1].pop("count") == 100 + count, "the check is the changed one"
    assert values[0] == values[1], "everything the scenario could see is as it was"


def test_record_reply_and_flags_are_those_of_then(graded: Graded) -> None:
    was, now = (graded.of(result, "talk", "tool") for result in (graded.before, graded.after))
    assert was.changes == now.changes
    assert was.flags == now.flags == ("exit_code",)
    first, second = now.requests
    assert first.replayed
    assert second.replayed
    assert (first.prompt, second.text, second.seconds) == (
        was.requests[0].prompt,
        was.requests[1].text,
        was.requests[1].seconds,
    )
    delta = second.delta
    assert delta is not None
    assert delta != second.changes
    blobs = graded.folder / ".bench" / "blobs" / delta[:2] / delta
    assert ChangeSet.from_json(json.loads(blobs.read_text())).paths() == ["a.txt", "gone.txt", "link", "link/tool"]


def test_what_the_agent_cost_is_not_counted_twice(graded: Graded) -> None:
    was, now = (graded.of(result, "talk", "paid") for result in (graded.before, graded.after))
    assert was.usage.cost == 0.75
    assert now.usage.cost is None
    assert now.seconds is None
    assert now.observations["share"].value == 0.25, "the scenario sees the reply as it was"
    assert [request.usage.cost for request in now.requests] == [0.5, 0.25]


def test_the_new_run_says_whose_work_it_graded_and_is_of_the_changed_definition(graded: Graded) -> None:
    was, now = graded.before.manifest, graded.after.manifest
    assert (now.parent, now.regrades, now.regraded, was.regraded) == (was.run, was.run, True, False)
    assert json.loads((graded.run_dir.parent / now.run / "manifest.json").read_text())["regraded"] is True
    assert now.definition != was.definition
    assert now.cohort != was.cohort
    assert (now.cells, now.seed, now.rows, now.tags) == (was.cells, was.seed, was.rows, ("again",))
    assert verify(graded.run_dir.parent / now.run).problems == ()


def test_what_ended_at_the_agents_door_stays_as_it_ended(graded: Graded) -> None:
    for scenario in ("talk", "large", "ask"):
        was, now = (graded.of(result, scenario, "garbled") for result in (graded.before, graded.after))
        assert (was.state, was.fault) == ("run_error", "protocol")
        assert (now.state, now.fault, now.reason) == (was.state, was.fault, was.reason)
        assert len(graded.after.trials[0].attempts) == 1


def test_another_prompt_and_a_file_that_was_not_kept_are_named(graded: Graded) -> None:
    asked, large = graded.of(graded.after, "ask", "tool"), graded.of(graded.after, "large", "tool")
    assert (asked.state, asked.fault) == (large.state, large.fault) == ("run_error", "regrade")
    run_id = graded.before.manifest.run
    assert asked.reason == f"Request 1 asks something else than in the run {run_id}: 'new words', not 'old words'"
    assert "its workspace was not kept: big.bin: its 5,000 bytes were not stored" in large.reason
    assert not asked.observations


def test_a_run_that_was_graded_again_can_be_graded_again(graded: Graded) -> None:
    """The work is always that of the first run: what was refused once is not lost."""
    second = regrade(graded.run_dir.parent / graded.after.manifest.run, scenarios=["ask"], cells=["agent=tool"])
    assert (second.manifest.parent, second.manifest.regrades) == (
        graded.after.manifest.run,
        graded.before.manifest.run,
    )
    edit(graded.folder, "tests/bench_ask.py", "new words", "old words")
    try:
        mended = regrade(graded.run_dir.parent / second.manifest.run)
    finally:
        edit(graded.folder, "tests/bench_ask.py", "old words", "new words")
    assert [(trial.state, trial.reason) for trial in mended.trials] == [("scored", "")]
    aside = graded.run_dir.rename(graded.folder / "aside")
    try:
        with pytest.raises(RunnerError, match=r"whose agents did the work .* is not in"):
            regrade(graded.run_dir.parent / second.manifest.run)
    finally:
        aside.rename(graded.run_dir)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("1 KiB", "2 KiB", "capture"),
        ('suite="{python} -c pass"', 'suite="{python} -c pass", timeouts=Timeouts(request=5)', "timeouts.request"),
    ],
)
def test_what_the_agents_worked_in_may_not_have_changed(graded: Graded, old: str, new: str, part: str) -> None:
    edit(graded.folder, "bench.py", old, new)
    try:
        with pytest.raises(BenchError, match=rf"cannot be graded again: .* has changed since \({part}\)"):
            regrade(graded.run_dir)
    finally:
        edit(graded.folder, "bench.py", new, old)


def test_what_one_scenario_allowed_its_agent_may_not_have_changed_either(graded: Graded) -> None:
    was = graded.before.manifest
    now = replace(was, plans=tuple({**plan, "resources": {"memory": 1 << 30}} for plan in was.plans))
    check_held(was, was, Path("bench.py"))
    with pytest.raises(BenchError, match=r"has changed since \(resources of ask, resources of large, .*\)"):
        check_held(was, now, Path("bench.py"))


def test_another_start_world_is_refused_and_so_is_a_run_that_goes_on_or_was_made_elsewhere(graded: Graded) -> None:
    (graded.folder / "workspace" / "more.txt").write_text("more")
    try:
        with pytest.raises(BenchError, match=r"has changed since \(template\)"):
            regrade(graded.run_dir)
    finally:
        (graded.folder / "workspace" / "more.txt").unlink()
    going = begin(prepare(graded.folder, probe=False), "tries")
    with pytest.raises(RunnerError, match="has not ended"):
        regrade(going)
    manifest = Manifest.read(going / "manifest.json").to_json() | {"sealed": None, "origin": "junit"}
    Manifest.from_json(manifest).write(going / "manifest.json")
    with pytest.raises(JournalError, match="was not made by this runner"):
        regrade(going)


def test_what_was_not_stored_comes_from_the_kept_world_and_another_world_is_named(tmp_path: Path) -> None:
    """Setup writes something else each time: the agent's patch would lie on a world it never saw."""
    setup = "import uuid\ndef setup(world, cell):\n    (world / 'id.txt').write_text(uuid.uuid4().hex)\n"
    folder = write_bench(
        tmp_path / "bench",
        {
            "large": LARGE + '        observe("note", f"{sorted(map(str, workspace.path.glob(\'pkg/*/*\')))}")\n',
            "odd": LARGE.replace("bench_large", "bench_odd").replace('"large"', '"odd"'),
        },
        declare='setup=helpers.setup, workspace=Workspace(retain="always", capture=Capture(max_bytes="1 KiB"))',
        agents='{"shell": Scripted([steps.run("sh -c \'head -c 5000 /dev/zero > big.bin\'"), '
        'write("pkg/node_modules/lib.js", "x"), write("pkg/.venv/new.txt", "x"), steps.delete("pkg/.venv/old.txt")], '
        'when=[("odd", [write("id.txt", "mine"), write("big.bin", "x")])])}',
        helpers=setup,
        world={"pkg/.venv/old.txt": "1", "pkg/.venv/same.txt": "1"},
    )
    edit(folder, "bench.py", "from enum import Enum", "import helpers\nfrom enum import Enum")
    before = run(folder, workers=1)
    after = regrade(folder / ".bench" / "runs" / before.manifest.run, workers=1)
    states = {name_of(after.manifest, t.planned.index)[0]: (t.state, t.reason) for t in after.trials}
    assert states["large"] == ("scored", "")
    (note,) = [t.final.observations["note"].value for t in after.trials if t.final and "note" in t.final.observations]
    there = [part.split("/pkg/")[1].rstrip("]'") for part in str(note).split(", ")]
    assert there == [".venv/new.txt", ".venv/same.txt", "node_modules/lib.js"], "what the capture ignores, too"
    assert states["odd"][0] == "run_error"
    assert states["odd"][1] == "The world is not the one that the agent worked in; these differ: id.txt."


def test_what_the_capture_ignores_is_refused_by_name_where_no_world_was_kept(graded: Graded) -> None:
    was, now = (graded.of(result, "large", "paid") for result in (graded.before, graded.after))
    assert (was.state, was.outcome, was.ignored) == ("scored", "solved", ("zoo/.venv/six.py", "zoo/node_modules"))
    assert (now.state, now.fault, now.observations) == ("run_error", "regrade", {})
    assert now.reason == (
        "The end state cannot be rebuilt, and its workspace was not kept: big.bin: its 5,000 bytes were not stored "
        "(larger than max_bytes of the capture, or removed since), zoo/.venv/six.py: the capture ignores it, "
        'zoo/node_modules: the capture ignores it. Keep worlds (retain="always"), or have the capture record them '
        "(Capture: a larger max_bytes, a shorter ignore), to grade such trials again."
    )
    assert graded.of(graded.before, "talk", "paid").ignored == (), "a cache makes no trial one that cannot be rebuilt"


def test_opened_and_shown_such_a_trial_names_the_same(graded: Graded, tmp_path: Path) -> None:
    index = graded.of(graded.before, "large", "paid").trial
    opened = open_world(graded.run_dir, index, tmp_path / "world")
    ignored = ["zoo/.venv/six.py: the capture ignores it", "zoo/node_modules: the capture ignores it"]
    assert [*opened.missing][:2] == ignored
    patch = patch_of(graded.run_dir, index)
    assert patch.decode().splitlines()[:2] == [f"# left out: {line}" for line in ignored]
    assert b"# left out: big.bin (added file, 5000 bytes)" in patch


@pytest.mark.sandbox
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt install bubblewrap)")
def test_what_was_collected_is_collected_again_for_a_fresh_evaluation(tmp_path: Path) -> None:
    scenario = """
        @pytest.mark.evaluation("fresh", artifacts=["/workspace/out.txt"], collect=[Collect("cp a.txt out.txt")])
        def bench_one(workspace, agent, evaluation):
            agent.request("first")
            with evaluation() as env:
                observe("resolved", env.exec(["cat", "/workspace/out.txt"]).stdout == "one\\n")
                observe("count", 1)
    """
    folder = write_bench(
        tmp_path / "bench",
        {"one": scenario},
        declare='environment="sandbox"',
        agents='{"writer": Scripted([write("a.txt", "one\\n")])}',
    )
    before = run(folder, workers=1)
    edit(folder, "tests/bench_one.py", 'observe("count", 1)', 'observe("count", 2)')
    (after,) = regrade(folder / ".bench" / "runs" / before.manifest.run, workers=1).trials
    assert after.final is not None
    values = {key: one.value for key, one in after.final.observations.items()}
    assert (after.state, values) == ("scored", {"resolved": True, "count": 2}), after.reason


def test_trials_that_never_ran_are_not_run_and_a_cut_regrade_goes_on(tmp_path: Path) -> None:
    folder = write_bench(
        tmp_path / "bench",
        {"one": ASK},
        declare='trials=3, budget=Budget(total="$0.2")',
        agents='{"dear": Scripted([usage(cost=0.3)])}',
    )
    before = run(folder, workers=1)
    assert before.counts == {"scored": 1, "not_run": 2}
    run_dir = folder / ".bench" / "runs" / before.manifest.run
    after = regrade(run_dir, workers=1)
    assert after.counts == before.counts
    reasons = {trial.reason for trial in after.trials if trial.state == "not_run"}
    assert reasons == {f"Nothing to grade again: in the run {before.manifest.run} it is not run."}
    again = run_dir.parent / after.manifest.run
    (again / "events.jsonl").write_bytes((again / "events.jsonl").read_bytes().splitlines(keepends=True)[0])
    assert resume(again, workers=1).counts == before.counts


def test_the_command_tells_the_parent_in_words_and_in_json(graded: Graded) -> None:
    parent = graded.before.manifest.run
    code, said = told("regrade", parent, "--cell", "agent=paid", "--scenario", "talk", cwd=graded.folder)
    assert (code, f"regraded from {parent}" in " ".join(said.split())) == (0, True), said
    shown = " ".join(told("result", cwd=graded.folder)[1].split())
    assert f"regraded from {parent}: no agent ran, costs and times are there" in shown
    made = json.loads(told("result", "--json", cwd=graded.folder)[1])
    assert (made["regraded"], made["parent"], made["regrades"]) == (True, parent, parent)
    listed = json.loads(told("list", "--json", cwd=graded.folder)[1])["runs"]
    assert [(row["regraded"], row["parent"]) for row in listed if row["run"] == made["run"]] == [(True, parent)]
    assert "regraded" in told("list", cwd=graded.folder)[1]
