"""The way of a new user: init, prepare, run, result, list, bundle, push; each as a process of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from runner.exchange.bundle import open_bundle
from runner.replay import read
from runner.statistics.summary import summary
from tests.runner.exchange.site import TOKEN, serving

from .make import benchsite, json_of, make_bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bench(tmp_path_factory.mktemp("benches") / "tiny")


@pytest.fixture(scope="module")
def ran(bench: Path) -> subprocess.CompletedProcess[str]:
    return benchsite("run", bench, "--seed", 7)


@pytest.fixture(scope="module")
def run_dir(bench: Path, ran: subprocess.CompletedProcess[str]) -> Path:
    (found,) = (bench / ".bench" / "runs").iterdir()
    return found


def test_a_generated_bench_runs_as_it_is(tmp_path: Path) -> None:
    made = benchsite("init", "mine", cwd=tmp_path)
    assert made.returncode == 0
    assert "benchsite run mine" in made.stdout
    done = json_of("run", "mine", "--trials", 1, cwd=tmp_path)
    assert (done["state"], done["complete"], done["exit_code"]) == ("finished", True, 0)
    assert done["outcomes"] == {"solved": 1, "unsolved": 1}


def test_init_never_writes_over_a_bench(bench: Path) -> None:
    before = (bench / "bench.py").read_bytes()
    done = benchsite("init", bench)
    assert (done.returncode, done.stdout) == (2, "")
    assert "choose another folder" in done.stderr
    assert (bench / "bench.py").read_bytes() == before


def test_prepare_says_what_a_run_would_be_and_makes_none(bench: Path) -> None:
    before = sorted((bench / ".bench" / "runs").glob("*")) if (bench / ".bench").exists() else []
    done = benchsite("prepare", bench)
    assert done.returncode == 0, done.stderr
    assert "2 agents x 1 scenario x 2 trials = 4 trials" in done.stdout
    assert "isolation: none" in done.stdout
    after = sorted((bench / ".bench" / "runs").glob("*")) if (bench / ".bench").exists() else []
    assert after == before


def test_prepare_takes_the_options_that_shape_a_plan(bench: Path) -> None:
    planned = json_of("prepare", bench, "--trials", 5, "--seed", 11)
    assert (len(planned["manifest"]["rows"]), planned["manifest"]["seed"]) == (10, 11)


def test_a_run_tells_its_size_first_and_every_trial_in_a_log(ran: subprocess.CompletedProcess[str]) -> None:
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == "2 agents x 1 scenario x 2 trials = 4 trials"
    trials = [line for line in lines if line.startswith("[")]
    assert [line.split("]")[0] for line in trials] == ["[1/4", "[2/4", "[3/4", "[4/4"]
    assert sum("scored solved  ask · agent=yes,colour=red · trial" in line for line in trials) == 2
    assert "4 scored, 2 solved, 2 unsolved" in lines[-2]
    assert "\x1b" not in ran.stdout
    assert ran.stderr == ""


def test_the_command_a_run_ends_with_can_be_pasted(ran: subprocess.CompletedProcess[str], bench: Path) -> None:
    said = ran.stdout.splitlines()[-1].removeprefix("See it: benchsite ").split()
    done = benchsite(*said)
    assert done.returncode == 0, done.stderr
    assert "t/tiny 1.0" in done.stdout


def test_result_shows_every_cell_with_its_n_and_what_the_numbers_rest_on(bench: Path, run_dir: Path) -> None:
    done = benchsite("result", cwd=bench)
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.startswith(("yes ", "no  "))}
    assert "100 % 2/2" in rows["yes"]
    assert "kind 2" in rows["yes"]
    assert "2/2" in rows["yes"].split("kind 2")[1]
    assert "0 % 0/2" in rows["no"]
    assert "scored/1: Only scored trials count" in done.stdout
    assert "few trials, no interval, too few scenarios: resolved, words." in done.stdout


def test_result_as_json_is_what_the_functions_of_statistics_give(run_dir: Path) -> None:
    for policy in ("scored/1", "errors-fail/1"):
        told = json.loads(benchsite("result", run_dir, "--policy", policy, "--json").stdout)
        assert told == json.loads(json.dumps(summary(read(run_dir), policy)))


@pytest.mark.parametrize("name", ["latest", "whole", "end", "beginning", "path", "bench"])
def test_a_run_is_found_by_every_name_people_use(bench: Path, run_dir: Path, name: str) -> None:
    written = {
        "latest": "latest",
        "whole": run_dir.name,
        "end": run_dir.name[-6:].lower(),
        "beginning": run_dir.name[:12],
        "path": run_dir,
        "bench": bench,
    }[name]
    assert json_of("result", written, cwd=bench)["run"] == run_dir.name


def test_list_shows_the_newest_first_and_hides_no_unreadable_run(bench: Path, run_dir: Path, tmp_path: Path) -> None:
    broken = run_dir.parent / "01ZZZZZZZZZZZZZZZZZZZZZZZZ"
    broken.mkdir()
    (broken / "manifest.json").write_text("{}")
    try:
        listed = json_of("list", bench)["runs"]
        shown = benchsite("list", cwd=bench)
    finally:
        (broken / "manifest.json").unlink()
        broken.rmdir()
    assert [row["run"] for row in listed] == [broken.name, run_dir.name]
    assert "not a run manifest" in listed[0]["error"]
    assert (listed[1]["counts"], listed[1]["solved"], listed[1]["planned"]) == ({"scored": 4}, 2, 4)
    assert "4 trials: 4 scored (2 solved)" in shown.stdout


def test_a_bundle_holds_the_run(bench: Path, run_dir: Path, tmp_path: Path) -> None:
    made = json_of("bundle", "--bench", bench, cwd=tmp_path)
    assert made["run"] == run_dir.name
    target = tmp_path / f"{run_dir.name}.zip"
    assert (made["path"], made["bytes"]) == (str(target), target.stat().st_size)
    with open_bundle(target) as opened:
        assert opened.run == run_dir.name


def test_a_run_is_pushed_with_the_token_of_the_environment_or_a_file(
    bench: Path, run_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(TOKEN + "\n")
    with serving() as site:
        first = benchsite("push", "--to", site.url, cwd=bench, BENCHSITE_TOKEN=TOKEN)
        again = json_of("push", run_dir, "--to", site.url, "--token-file", tmp_path / "token")
    assert first.returncode == 0, first.stderr
    assert first.stdout.endswith(f"/runs/{run_dir.name}/\n")
    assert "the run is submitted" in first.stdout
    assert (again["sent"], again["verdict"]) == (0, "submitted")


def test_without_a_token_nothing_is_sent(bench: Path, run_dir: Path) -> None:
    with serving() as site:
        done = benchsite("push", "--to", site.url, cwd=bench)
    assert done.returncode == 2
    assert "set BENCHSITE_TOKEN or give --token-file" in done.stderr
    assert site.requests == []


def test_a_finished_run_resumes_to_the_same_end(bench: Path, run_dir: Path) -> None:
    done = json_of("run", "--resume", "latest", bench)
    assert (done["run"], done["counts"], done["exit_code"]) == (run_dir.name, {"scored": 4}, 0)


def test_a_run_cannot_be_resumed_as_another_one(bench: Path, run_dir: Path) -> None:
    done = benchsite("run", "--resume", "latest", "--trials", 9, bench)
    assert done.returncode == 2
    assert "--trials cannot change a run that was begun" in done.stderr
