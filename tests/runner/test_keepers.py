"""Keepers that serve one trial after another: what one trial leaves never reaches the next."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner import keeper
from runner.keepers import Pool, Pooled
from runner.processes import Keeper, ProcessLost, opened
from runner.processes import lent as given

LEAVE = "(setsid sleep 600 & echo $! > left.pid) ; sleep 0.2"


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    for one in [*made.members]:
        made.take_back(one, False)
    given.clear()


def lend(pool: Pool) -> tuple[Pooled, Keeper]:
    one = pool.lend()
    assert one is not None
    one.hand_over()
    return one, Keeper.of_trial()


def run(kept: Keeper, command: str, folder: Path) -> int | None:
    with opened(None, None, None) as (read, out, error):
        done = kept.run(
            ["sh", "-c", command], env={"PATH": os.defpath}, cwd=str(folder), stdin=read, stdout=out, stderr=error
        )
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
    assert pool.take_back(first, True)
    second, kept = lend(pool)
    assert second is first
    assert run(kept, "exit 7", tmp_path) == 7


def test_a_trial_that_dies_without_a_word_takes_its_processes_with_it(pool: Pool, tmp_path: Path) -> None:
    one, kept = lend(pool)
    run(kept, LEAVE, tmp_path)
    kept._connection.close()  # what the kernel does for a killed process
    assert gone(int((tmp_path / "left.pid").read_text()))
    assert not pool.take_back(one, False)
    assert gone(one.process[0])


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
    one.control.settimeout(10)
    assert one.control.recv(1) == b""  # it went with what stood above it
    other, kept = lend(pool)
    assert other is not one
    assert pool.members == [other]
    assert run(kept, "true", tmp_path) == 0
