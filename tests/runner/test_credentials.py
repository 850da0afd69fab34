"""A login of the user's own: lent to one trial at a time, renewed where the user has it, and written down nowhere."""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.agents import resolve
from runner.cleaning import Left
from runner.credentials import Login, Turns, lend, login_of, pairs_of, take_back
from runner.definition import Cli
from runner.doctor import diagnose
from runner.errors import AgentMissing, BenchError
from runner.prepare import prepare
from runner.records import RunResult
from runner.running import run
from tests.runner.scenario.benches import write_bench
from tests.runner.test_redaction import written

TOOL = """
import base64, json, os, sys
path = os.path.expanduser("~/.tool/auth.json")
login = json.load(open(path))
old = login["tokens"]["refresh_token"]
with open(LOG, "a") as log:
    log.write(f"in {old} {os.stat(path).st_mode & 0o7777:o}\\n")
new = f"canary-refresh-{int(old.split('-')[-1]) + 1:04d}"
with open(path + ".new", "w") as file:
    json.dump({**login, "tokens": {**login["tokens"], "refresh_token": new}}, file)
os.replace(path + ".new", path)
if "two" in sys.stdin.read():
    open("mine.json", "w").write(json.dumps(login))
    os.makedirs("node_modules", exist_ok=True)
    os.makedirs(f"of-{old}")
    os.symlink(f"/srv/{old}", f"of-{old}/link")
    open("node_modules/deep.txt", "w").write("x" * 3_000_000 + base64.b64encode(old.encode()).decode())
    open("run.sh", "w").write("#!/bin/sh\\n")
    os.chmod("run.sh", 0o755)
for secret in (old, new, login["account"]):
    print(secret, base64.b64encode(b"ab" + secret.encode() + b"c").decode(), json.dumps(json.dumps(secret)))
    print(secret.encode().hex(), file=sys.stderr)
with open(LOG, "a") as log:
    log.write(f"out {new}\\n")
"""
ASK = """
    def bench_ask(workspace, agent):
        first, again = agent.request("one"), agent.request("two")
        observe("note", first.text)
        observe("resolved", again.exit_code == 0)
        bench.attach("said", again.text)
"""
START = {"account": "canary-account-77aa", "mode": "login", "tokens": {"refresh_token": "canary-refresh-0000"}}


@dataclass
class Desk:
    """A user with a login, and the provider's log of which token was used when."""

    home: Path
    log: Path
    file: Path

    def bench(self, folder: Path, log: str = "", **more: str) -> Path:
        declare = {"trials": "2", "workspace": 'Workspace(retain="always")', **more}
        return write_bench(
            folder,
            {"ask": ASK},
            declare=", ".join(f"{name}={value}" for name, value in declare.items()),
            agents='{"tool": Command("{python} tool.py", credentials="~/.tool/auth.json")}',
            world={"tool.py": TOOL.replace("LOG", repr(log or str(self.log)))},
        )


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    home, log = tmp_path / "home", tmp_path / "provider.log"
    (home / ".tool").mkdir(parents=True)
    (home / ".tool" / "auth.json").write_text(json.dumps(START))
    (home / ".tool" / "auth.json").chmod(0o600)
    log.touch()
    monkeypatch.setenv("HOME", str(home))
    return Desk(home, log, home / ".tool" / "auth.json")


def leaks(folder: Path, secrets: list[str]) -> list[tuple[str, str]]:
    """Name each file of a bench's runs and blobs that holds a secret, plainly or in hexadecimal."""
    files = written(folder).items()
    return [
        (file.name, secret) for file, data in files for secret in secrets
        if secret.encode() in data or secret.encode().hex().encode() in data
        or base64.b64encode(f"ab{secret}c".encode())[3:-4] in data
    ]  # fmt: skip


@pytest.mark.sandbox
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt install bubblewrap)")
def test_one_trial_at_a_time_of_all_runs_has_it_and_the_renewed_one_is_handed_on(desk: Desk, tmp_path: Path) -> None:
    """One run is on this machine itself, the other in sandboxes, whose HOME is in memory."""
    sandboxed = {"environment": '"sandbox"', "limits": 'Limits(disk="50 MiB")'}
    one, two = desk.bench(tmp_path / "one"), desk.bench(tmp_path / "two", log="log", **sandboxed)
    argv = [sys.executable, "-m", "runner", "run", str(two), "--workers", "4"]
    results: list[RunResult] = []
    here = threading.Thread(target=lambda: results.append(run(one, workers=4)))
    here.start()
    there = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    here.join(timeout=300)
    assert there.returncode == 0, there.stdout + there.stderr
    assert "One trial at a time has the login of tool" in there.stdout
    (result,) = results
    assert result.counts == {"scored": 2}, [trial.reason for trial in result.trials]
    tokens = [f"canary-refresh-{number:04d}" for number in range(9)]
    assert json.loads(desk.file.read_text()) == {**START, "tokens": {"refresh_token": tokens[-1]}}
    rows = [line.split() for line in desk.log.read_text().splitlines()]
    assert [row[0] for row in rows] == ["in", "out"] * 4, "no two trials had it at once"
    assert len({row[1] for row in rows[::2]}) == 4, "each token was used once"
    assert {row[2] for row in rows[::4]} == {"600"}, "at each trial's first request"
    assert stat.S_IMODE(desk.file.stat().st_mode) == 0o600

    for folder in (one, two):
        assert leaks(folder, [*tokens, "canary-account-77aa"]) == []
        assert not list((folder / ".bench").rglob("auth.json"))
        worlds = list((folder / ".bench" / "runs").glob("*/workspaces/*"))
        assert {json.loads((world / "mine.json").read_text())["mode"] for world in worlds} == {"login"}
        assert {stat.S_IMODE((world / "run.sh").stat().st_mode) for world in worlds} == {0o755}
    notes = [str(trial.final.observations["note"].value) for trial in result.trials if trial.final]
    assert all("[redacted auth.json.refresh_token]" in note for note in notes)
    flags = {trial.final.flags for trial in result.trials if trial.final}
    assert flags == {("secret_in_file",)}
    held = [issue.sentence for issue in result.trials[0].final.issues] if result.trials[0].final else []
    struck = "mine.json held the agent's login, which is struck out there: auth.json.account, auth.json.refresh_token."
    assert held[0] == struck
    of = "of-[redacted auth.json.refresh_token]"
    for path in (f"{of}/link", of):
        assert any(told.endswith(f"{path} had the agent's login in its name, or in what it links to: "
                                 "auth.json.refresh_token.") for told in held)  # fmt: skip
    (world,) = (one / ".bench" / "runs").glob("*/workspaces/0-1")
    assert str((world / of / "link").readlink()) == "/srv/[redacted auth.json.refresh_token]"
    (pin,) = [cell.pin for cell in result.manifest.cells]
    assert pin["credentials"]["file"] == "~/.tool/auth.json"
    assert pin["credentials"]["hash"].startswith("secret~")


@dataclass
class Lent:
    login: Login
    root: Path

    @property
    def inside(self) -> Path:
        return self.root / "home" / self.login.at


@pytest.fixture
def lent(desk: Desk, tmp_path: Path) -> Lent:
    root = tmp_path / "worlds" / "3-1"
    (root / "home").mkdir(parents=True)
    (root / "world").mkdir()
    login = Login("~/.tool/auth.json", desk.file, ".tool/auth.json")
    lend(login, root, root / "home")
    return Lent(login, root)


def test_what_a_killed_trial_renewed_is_put_back_when_its_world_is_put_away(lent: Lent) -> None:
    renewed = {**START, "more": 1, "tokens": {"refresh_token": "canary-refresh-0009"}}
    lent.inside.write_text(json.dumps(renewed))
    Left("world", str(lent.root)).remove()
    assert json.loads(lent.login.file.read_text()) == renewed
    assert not lent.root.exists()


@pytest.mark.parametrize("left", ["", "half of {", '"a text"', "{}", '{"tokens": {}}'])
def test_what_is_no_login_any_more_is_not_put_back(lent: Lent, left: str) -> None:
    lent.inside.write_text(left)
    found = take_back(lent.root)
    assert found is not None
    assert "you may have to log in again" in found.flaw
    assert json.loads(lent.login.file.read_text()) == START
    again = take_back(lent.root)
    assert again is not None
    assert again.flaw == "", "it is told once"


def test_a_login_that_the_user_renewed_meanwhile_stays(lent: Lent) -> None:
    lent.login.file.write_text('{"by": "the user"}')
    lent.inside.write_text(json.dumps({**START, "mode": "other"}))
    found = take_back(lent.root)
    assert found is not None
    assert "changed while a trial had it" in found.flaw
    assert lent.login.file.read_text() == '{"by": "the user"}'


@pytest.mark.parametrize("where", ["file", "folder", "fifo", "gone", "huge"])
def test_no_link_of_an_agent_leads_to_files_of_the_user(lent: Lent, where: str, tmp_path: Path) -> None:
    other = tmp_path / "private"
    other.mkdir()
    (other / "auth.json").write_text(json.dumps({**START, "key": "private"}))
    lent.inside.unlink()
    if where == "file":
        lent.inside.symlink_to(other / "auth.json")
    elif where == "folder":
        lent.inside.parent.rmdir()
        lent.inside.parent.symlink_to(other)
    elif where == "fifo":
        os.mkfifo(lent.inside)
    elif where == "huge":
        lent.inside.write_text(json.dumps({**START, "much": "x" * (1 << 20)}))
    assert take_back(lent.root) is None
    assert json.loads(lent.login.file.read_text()) == START


def test_a_login_that_is_there_has_one_lock_and_a_missing_one_is_told_before_anything_runs(
    desk: Desk, tmp_path: Path
) -> None:
    folder = desk.bench(tmp_path / "bench", suite='""')
    found = diagnose(folder)
    assert found.ok, found.problems
    assert [agent.login for agent in found.agents] == ["~/.tool/auth.json"]
    manifest = prepare(folder).manifest
    first, second = Turns(manifest), Turns(manifest)
    assert (first.take(0), first.take(0), second.take(0)) == (True, False, False), "one lock holds for all runs"
    first.free(0)
    assert second.take(0)
    second.free(0)
    desk.file.unlink()
    sentence = r"credential file ~/\.tool/auth\.json is not there; log in with the program itself first"
    with pytest.raises(AgentMissing, match=sentence):
        prepare(folder)
    assert [problem.split(":")[0] for problem in diagnose(folder).problems] == ["tool"]


def test_a_program_that_nobody_logs_in_to_is_lent_no_login() -> None:
    with pytest.raises(BenchError, match=r"'qwen' cannot be lent a login: .* give it a key, OPENAI_API_KEY"):
        login_of(resolve({"qwen": Cli("qwen-code", credentials=True)}, "qwen"))


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (b'{"a": {"token": "abcd"}, "mode": "chatgpt", "list": ["longer-than-8"], "n": 1}', ["abcd", "longer-than-8"]),
        (b'token = "abcd"\n# no\nuser: longer-than-8\n', ["abcd", "longer-than-8"]),
        (b"machine api.example.org login me password hush-hush", ["api.example.org", "hush-hush"]),
    ],
)  # fmt: skip
def test_every_text_of_a_login_that_is_no_short_word_is_secret(data: bytes, values: list[str]) -> None:
    assert set(values) <= {value for _, value in pairs_of("login", data)}
    assert "chatgpt" not in {value for _, value in pairs_of("login", data)}
