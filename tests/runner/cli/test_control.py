"""Selecting, trying, opening and proving: the commands around a run, each as a process of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.errors import RunnerError
from runner.evidence import open_world, patch_of
from runner.replay import read
from runner.stored import RESULT, verify

from .make import benchsite, command_line, json_of
from .make_control import make_control


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_control(tmp_path_factory.mktemp("benches") / "control")


@pytest.fixture(scope="module")
def run_dir(bench: Path) -> Path:
    """Give a run of one cell with an error in it: trial 0 solved, 1 scored, 2 broken."""
    done = benchsite("run", bench, "--cell", "agent=g*,size=small", "--trials", 1, "--tag", "night", "--seed", 5)
    assert done.returncode == 3, done.stderr
    (found,) = (bench / ".bench" / "runs").iterdir()
    return found


def index_of(run_dir: Path, scenario: str, case: str = "") -> int:
    manifest = read(run_dir).manifest
    return next(
        trial.index
        for trial in manifest.trials
        if (manifest.scenarios[trial.scenario].id, manifest.scenarios[trial.scenario].cases[trial.case].key)
        == (scenario, case)
    )


def test_a_dry_run_shows_the_selected_plan_and_runs_nothing(tmp_path: Path) -> None:
    bench = make_control(tmp_path / "b")
    chosen = ("--dry-run", "--scenario", "ask[one]", "--scenario", "sol*", "--cell", "size=large")
    shown = benchsite("run", bench, *chosen)
    assert shown.returncode == 0, shown.stderr
    rows = [line.split() for line in shown.stdout.splitlines() if "large" in line]
    assert [row[0] for row in rows] == ["ask", "ask", "solve", "solve"]
    assert {row[-1] for row in rows} == {"2"}
    assert "two" not in shown.stdout
    assert "= 8 trials" in shown.stdout
    assert not (bench / ".bench" / "runs").exists()


def test_a_selection_keeps_only_its_cells_cases_and_axis_values_and_the_tag(run_dir: Path) -> None:
    manifest = read(run_dir).manifest
    assert [cell.axes for cell in manifest.cells] == [{"agent": "good", "size": "small"}]
    assert {axis.name: axis.values for axis in manifest.axes} == {"agent": ("good",), "size": ("small",)}
    assert (len(manifest.rows), manifest.tags) == (3, ("night",))


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (("--cell", "agent=nobody"), "No cell matches 'agent=nobody'; there are: agent=good,size=small"),
        (("--cell", "agent=good,lost"), "write --cell agent=good --cell agent=lost."),
        (("--scenario", "slove"), "did you mean 'solve'?"),
        (("--tag", "a\x1bb"), "is no tag"),
    ],
)
def test_a_selection_of_nothing_is_refused_with_what_there_is(bench: Path, chosen: tuple[str, str], said: str) -> None:
    done = benchsite("run", bench, *chosen)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_an_agent_that_nobody_declared_is_refused_in_one_sentence(bench: Path) -> None:
    done = benchsite("try", "solve", "--agent", "ghost", cwd=bench)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'agent' names 'ghost', which is not declared; known are: good, bad" in done.stderr
    assert "Traceback" not in done.stderr


def test_only_what_failed_runs_again(bench: Path, run_dir: Path) -> None:
    planned = json_of("run", bench, "--only-failed", run_dir.name, "--dry-run")["manifest"]
    (scenario,) = planned["scenarios"]
    assert (scenario["id"], [case["key"] for case in scenario["cases"]]) == ("ask", ["two"])
    assert [cell["id"] for cell in planned["cells"]] == ["agent=good,size=small"]
    assert len(planned["rows"]) == 1


def test_fail_fast_lets_no_trial_begin_after_an_error(tmp_path: Path) -> None:
    bench = make_control(tmp_path / "b")
    ran = json_of("run", bench, "--scenario", "ask[two]", "--fail-fast", "--workers", 1)
    assert (ran["exit_code"], ran["counts"]) == (3, {"eval_error": 1, "not_run": 7})
    reasons = {trial["reason"] for trial in json_of("result", bench, "--trials")["trials"]}
    assert any("first error (--fail-fast), that of ask[two]" in reason for reason in reasons)


def test_try_tells_one_trial_in_words_and_keeps_its_world_apart_from_the_runs(bench: Path, run_dir: Path) -> None:
    done = benchsite("try", "solve", "--bench", bench, cwd=bench.parent)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for said in ("      the scenario speaks", "observed resolved = True", "scored solved"):
        assert said in lines
    assert "\x1b" not in done.stdout
    (world,) = (Path(line.removeprefix("world  ")) for line in lines if line.startswith("world  "))
    assert (world / "answer.txt").read_text() == "yes\n"
    assert "tries" in world.parts
    advised = lines[-1].removeprefix("more   benchsite ").split()
    assert benchsite(*advised, cwd=bench.parent).stdout.startswith("diff --git a/answer.txt")
    assert json_of("result", "latest", cwd=bench)["run"] == run_dir.name


def test_try_opens_the_debugger_where_the_scenario_raised(bench: Path) -> None:
    done = subprocess.run(
        command_line("try", "ask", "--case", "two", "--agent", "good", "--pdb"),
        cwd=bench, input="p 'word=' + word\nq\n", capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "word=b" in done.stdout, done.stdout + done.stderr
    assert "eval_error" in done.stdout
    assert done.returncode == 3


def test_check_passes_a_sound_scenario_and_names_the_unsound_ones(bench: Path) -> None:
    sound = benchsite("check", bench, "--scenario", "solve")
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "The bench is sound" in sound.stdout
    checked = json_of("check", bench)
    problems = {f"{case['scenario']}[{case['case']}]": case["problem"] for case in checked["cases"]}
    assert checked["ok"] is False
    assert problems["solve[]"] == ""
    assert "An agent that does nothing reaches resolved" in problems["ask[one]"]
    assert "oracle was not scored (eval_error)" in problems["ask[two]"]
    assert benchsite("check", bench, "--scenario", "ask[one]").returncode == 1


def test_rerun_is_a_new_run_of_that_one_trial_with_its_seed(bench: Path, run_dir: Path) -> None:
    index = index_of(run_dir, "solve")
    done = json_of("rerun", f"{run_dir.name[-8:]}:{index}", "--bench", bench)
    try:
        again, before = read(Path(done["path"])), read(run_dir).manifest
        assert (len(again.trials), again.manifest.seed) == (1, before.seed)
        assert again.manifest.where(0) == before.where(index)
        assert done["outcomes"] == {"solved": 1}
    finally:
        for path in sorted(Path(done["path"]).rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        Path(done["path"]).rmdir()


def test_transcript_and_diff_are_shown_for_a_terminal_and_as_bytes(bench: Path, run_dir: Path) -> None:
    index = index_of(run_dir, "solve")
    told = benchsite("transcript", index, cwd=bench)
    assert "Write yes into answer.txt." in told.stdout
    assert "\\x1b[31mdone" in told.stdout
    assert benchsite("diff", f"{run_dir}:{index}").stdout.encode() == patch_of(run_dir, index)
    wrong = benchsite("diff", "latest:99", cwd=bench)
    assert wrong.returncode == 2
    assert "has no trial 99: its trials are 0 to 2." in wrong.stderr


def test_a_world_that_was_not_kept_is_rebuilt_and_what_is_lost_is_named(
    bench: Path, run_dir: Path, tmp_path: Path
) -> None:
    index = index_of(run_dir, "solve")
    opened = json_of("open", f"{run_dir.name}/{index}", "--to", tmp_path / "world", cwd=bench)
    assert (opened["source"], opened["missing"]) == ("rebuilt", [])
    found = {path.relative_to(tmp_path / "world").as_posix() for path in (tmp_path / "world").rglob("*")}
    assert found == {"question.txt", "answer.txt", ".env", ".env/.keep"}
    with pytest.raises(RunnerError, match="is in the way"):
        open_world(run_dir, index, tmp_path / "world")

    blob = BlobStore(bench / ".bench" / "blobs").path(BlobStore(tmp_path / "other").put(b"yes\n"))
    aside = blob.rename(tmp_path / "aside")
    try:
        lost = open_world(run_dir, index, tmp_path / "again")
    finally:
        aside.rename(blob)
    assert [line.split(":")[0] for line in lost.missing] == ["answer.txt"]


def test_replay_proves_a_run_and_finds_what_was_altered(bench: Path, run_dir: Path) -> None:
    proved = benchsite("replay", run_dir)
    assert proved.returncode == 0, proved.stdout + proved.stderr
    assert "The stored result is what the journal says" in proved.stdout

    stored = (run_dir / RESULT).read_bytes()
    altered = json.loads(stored)
    altered["trials"][1]["state"] = "excluded"
    (run_dir / RESULT).write_text(json.dumps(altered))
    try:
        found = benchsite("replay", run_dir)
    finally:
        (run_dir / RESULT).write_bytes(stored)
    assert found.returncode == 1
    assert "Trial 1 differs in state" in found.stdout

    blob = BlobStore(bench / ".bench" / "blobs").path(BlobStore(run_dir / "other").put(b"yes\n"))
    kept = blob.read_bytes()
    blob.chmod(0o644)
    blob.write_bytes(b"no\n")
    try:
        assert any("other bytes than its name says" in problem for problem in verify(run_dir).problems)
    finally:
        blob.write_bytes(kept)
