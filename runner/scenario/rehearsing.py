"""A server goes through trials of its own while its first ones are under way, so that later ones start warm.

A trial begins with what its server has. Bytecode that never ran, attributes that nobody looked up and classes without
an instance would be warmed by each trial anew, with a copied page of memory for each. Here nothing of the bench runs,
no process starts, and nothing is left behind: worlds, blobs and answers are a rehearsal's own."""

from __future__ import annotations

import gc
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from runner import keeper
from runner.agents import Resolved, adapter
from runner.blobs import BlobStore
from runner.definition import Command
from runner.environments.base import Needs
from runner.jobs import TrialJob
from runner.processes import LentKeeper, lent
from runner.sealing import WORLD, Sealed
from runner.worlds.backends import COPY
from runner.worlds.places import Place, drop_place, make_place
from runner.worlds.tree import scan

from .body import go_through, setting_of
from .live import Emit, LiveTrial
from .warm import Subject, Warm

PAYS_FROM = 40
"""Trials for which one rehearsal costs less than it saves."""
ROUNDS = 10
"""The first fills what is empty; Python adapts bytecode once it has run it eight times."""
FILES = {"one.py": "a = 1\n", "two/three.md": "It stays.\n"}
NOBODY = 1 << 30
"""A number that no process can have."""


def rounds_for(warm: Warm) -> int:
    """Trials that are isolated, or whose agent has a version to ask for, take seconds: there it would not be felt."""
    manifest = warm.manifest
    copied = manifest.host.get("world", COPY) == COPY
    slow = manifest.regraded or any(cell.pin.get("version") for cell in manifest.cells)
    quick = warm.environment.name == "local" and copied and not slow
    return min(ROUNDS, len(manifest.trials) // PAYS_FROM) if quick else 0


def rehearse(warm: Warm, rounds: Iterator[int], emit: Emit) -> None:
    """Go through trials as long as there are rounds: a world, a request, a run of the suite, measures, audit, end."""
    shelf = make_place("rehearsals", os.getpid(), 0, warm.run_dir)
    try:
        own = _own(warm, shelf.root)
        for number in rounds:
            place = make_place("rehearsals", os.getpid(), number, warm.run_dir)
            try:
                _go_through(own, place, TrialJob(warm.run_dir, 0, number, seed=0), emit)
            finally:
                drop_place(place)
    finally:
        lent.clear()
        drop_place(shelf)
    gc.collect()  # whatever was there before is frozen: this looks at the rehearsals alone
    gc.freeze()


def _own(warm: Warm, folder: Path) -> Warm:
    """What a server knows, of another bench: one without setup, with a small world and an agent that does nothing."""
    root = folder / "sealed"
    for path, text in FILES.items():
        file = root / WORLD / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    agent = Resolved("rehearsal", "command", adapter("command"), Command("true"))
    return replace(
        warm,
        sealed=Sealed(root, "", scan(root / WORLD), {}, {}),
        bench=replace(warm.bench, workspace=None, setup=None, suite="true", judge=None),
        blobs=BlobStore(folder / "blobs"),
        subjects={warm.manifest.trials[0].cell: Subject({}, agent, Needs())},
    )


def _go_through(warm: Warm, place: Place, job: TrialJob, emit: Emit) -> None:
    trial = LiveTrial(setting_of(warm, job, place, time.monotonic()), emit, warm.redactor(warm.manifest.trials[0].cell))
    streams = place.root / "stdout", place.root / "stderr"
    for file in streams:
        file.touch()
    ours, theirs = socket.socketpair()
    with theirs:
        _answer(theirs, commands=2)
        lent.append(LentKeeper(ours, NOBODY))
        go_through(warm, trial, place, job, partial(_play, trial, place.world), streams)


def _play(trial: LiveTrial, world: Path) -> None:
    (world / "one.py").write_text("a = 2\n", encoding="utf-8")  # in the agent's stead
    trial.agent.request("Rehearse.")
    passed = trial.workspace.tests.passed()
    for key in trial.measures:
        trial.observe(key, passed)


def _answer(connection: socket.socket, commands: int) -> None:
    """Nobody keeps a rehearsal's commands: that they are over is said before they are given."""
    for number in range(1, commands + 1):
        connection.sendall(keeper.ANSWER.pack(number, keeper.EXITED, 0))
    connection.shutdown(socket.SHUT_WR)
