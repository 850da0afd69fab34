"""Keepers that serve one trial after another: what one trial leaves never reaches the next."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner import keeper
from runner.keepers import Pool, Pooled, of_trial
from runner.keepers import lent as given
from runner.processes import Keeper, ProcessLost, opened

LEAVE = "(setsid sleep 600 & echo $! > left.pid) ; sleep 0.2"


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    for one in [*made.members.values()]:
        made.take_back(one, False)
    given.clear()


def lend(pool: Pool) -> tuple[Pooled, Keeper]:
    one = pool.lend()
    assert one is not None
    one.hand_over()
    return one, of_trial()


def run(kept: Keeper, command: str, folder: Path) -> int | None:
    with opened(None, None, None) as streams:
        done = kept.run(["sh", "-c", command], env={"PATH": os.defpath}, cwd=str(folder), streams=streams)
    return done.exit_code


def alive(pid: int) -> bool:
    return keeper._stat(str(pid))[2]


def gone(pid: int) -> bool:
    limit = time.monotonic() + 60
    while alive(pid) and time.monotonic() < limit:
        time.sleep(0.01)
    return not alive(pid)


def test_a_keeper_serves_again_and_holds_nothing_of_the_trial_before(pool: Pool, tmp_path: Path) -> None:
    first, kept = lend(pool)
    assert run(kept, LEAVE, tmp_path) == 0
    left = int((tmp_path / "left.pid").read_text())
    assert alive(left)
    kept.close()
    assert not alive(left)
    given.clear()  # another trial's process, which was handed nothing yet
    assert pool.take_back(first, True)
    second, kept = lend(pool)
    assert second is first
    assert run(kept, "exit 7", tmp_path) == 7


def test_a_trial_that_dies_without_a_word_takes_its_processes_with_it(pool: Pool, tmp_path: Path) -> None:
    one, kept = lend(pool)
    run(kept, LEAVE, tmp_path)
    assert not pool.take_back(one, False)
    assert gone(int((tmp_path / "left.pid").read_text()))
    assert gone(one.process[0])


def test_a_server_that_dies_takes_what_its_keepers_have_with_it(pool: Pool, tmp_path: Path) -> None:
    one, kept = lend(pool)
    run(kept, LEAVE, tmp_path)
    one.connection.close()  # what the kernel does for a killed process, and for the trials that go with it
    assert gone(int((tmp_path / "left.pid").read_text()))
    assert gone(one.process[0])


def test_a_trial_has_its_keeper_for_one_session_after_another(pool: Pool, tmp_path: Path) -> None:
    _, kept = lend(pool)
    assert run(kept, "exit 3", tmp_path) == 3
    kept.close()
    again = of_trial()
    assert again is kept
    assert run(again, "exit 4", tmp_path) == 4
    assert not given  # it is in use: were the trial to end now, it would not be lent to another


def test_an_answer_nobody_waited_for_is_none_of_the_next_trial(pool: Pool, tmp_path: Path) -> None:
    one, kept = lend(pool)
    kept._number += 1
    with opened(None, None, None) as streams:
        kept._send(("run", kept._number, ["true"], {"PATH": os.defpath}, str(tmp_path)), streams)
    kept.close()
    given.clear()
    assert pool.take_back(one, True)
    second, kept = lend(pool)
    assert second is one
    assert run(kept, "exit 7", tmp_path) == 7


def test_killing_what_stands_above_a_keeper_ends_it(pool: Pool, tmp_path: Path) -> None:
    one, kept = lend(pool)
    assert run(kept, "true", tmp_path) == 0
    os.kill(one.process[0], signal.SIGKILL)
    with pytest.raises(ProcessLost):
        run(kept, "sleep 600", tmp_path)


def test_a_keeper_that_was_killed_while_it_waited_is_replaced(pool: Pool, tmp_path: Path) -> None:
    one, kept = lend(pool)
    kept.close()
    assert pool.take_back(one, True)
    os.kill(one.process[0], signal.SIGKILL)
    os.waitpid(one.process[0], 0)
    given.clear()
    other, kept = lend(pool)
    assert other is not one
    assert [*pool.members.values()] == [other]
    assert run(kept, "true", tmp_path) == 0
