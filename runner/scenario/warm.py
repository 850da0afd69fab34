"""What a server process knows before the first trial: loaded once, inherited by every fork."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from runner.agents import Resolved, resolve
from runner.agents.base import interpreter
from runner.blobs import BlobStore
from runner.define import parse_money
from runner.definition import Bench, Capture
from runner.environments import choose
from runner.environments.base import SYSTEM_PATH, Environment, Needs, program_path
from runner.errors import RunnerError
from runner.expected import Expected
from runner.journal import MANIFEST
from runner.judges import key_of
from runner.load import load_bench
from runner.manifest import Manifest, PlannedTrial
from runner.matrix import agent_of, real_axes, with_agents
from runner.pins import check_version, probe_again
from runner.processes import keeper_script
from runner.recorded import Recorded
from runner.redaction import Redactor, pairs_of_cell
from runner.sealing import Sealed, open_sealed
from runner.surroundings import needs_of
from runner.worlds.backends import Copying, Overlay, backend
from runner.worlds.clock import times_can_be_trusted
from runner.worlds.places import check_parents, owned, worlds_root
from runner.worlds.rules import Rules
from runner.worlds.suite import suite_argv

HIDDEN = ("fixtures", "tests", ".bench")
"""What of a bench no agent may reach, whatever the environment shows it."""


@dataclass(frozen=True)
class Subject:
    """A cell, made ready: its real values, its agent, and what that agent needs to be shown."""

    axes: dict[str, Any]
    agent: Resolved
    needs: Needs


@dataclass
class Warm:
    run_dir: Path
    manifest: Manifest
    sealed: Sealed
    bench: Bench
    blobs: BlobStore
    rules: Rules
    environment: Environment
    budget: float | None
    worlds_at: str = ""
    """Where worlds live, once it was found good."""
    subjects: dict[int, Subject] = field(default_factory=dict)
    redactors: dict[int, Redactor] = field(default_factory=dict)
    needs: dict[tuple[int, int], Needs] = field(default_factory=dict)

    @classmethod
    def load(cls, run_dir: Path) -> Warm:
        manifest = Manifest.read(run_dir / MANIFEST)
        dot_bench = run_dir.parent.parent
        if manifest.sealed is None:
            raise RunnerError(f"The run {manifest.run} has no sealed bench; it was not made here and cannot be run.")
        sealed = open_sealed(dot_bench, manifest.sealed)
        bench = _as_run(load_bench(sealed.root), manifest)
        capture = bench.workspace.capture if bench.workspace else Capture()
        environment = choose(manifest.environment, bench.isolation, bench.network)
        return cls(
            run_dir=run_dir,
            manifest=manifest,
            sealed=sealed,
            bench=bench,
            blobs=BlobStore(dot_bench / "blobs"),
            rules=Rules.from_capture(capture),
            environment=environment,
            budget=parse_money(bench.budget.trial),
            worlds_at=_find_out_early(bench, environment, manifest),
        )

    @cached_property
    def owner(self) -> str:
        """Whose the trials' places are: they end with this process."""
        return owned(self.run_dir)

    @cached_property
    def recorded(self) -> Recorded | None:
        """What is graded again, where no agent works in this run."""
        return Recorded.of(self.run_dir, self.manifest) if self.manifest.regraded else None

    @cached_property
    def worlds(self) -> Copying | Overlay:
        """How trials get their worlds."""
        kind, sealed = str(self.manifest.host.get("world", "")), self.sealed
        return backend(kind, sealed.world, sealed.template, self.environment.name, self.rules)

    @cached_property
    def expected(self) -> Expected:
        return Expected.of(self.sealed.root / "fixtures")

    def redactor(self, cell: int) -> Redactor:
        """Give what is known of a cell's secrets before its agent is asked; empty where the cell has no agent."""
        if cell not in self.redactors:
            try:
                axes = real_axes(self.bench, self.manifest.cells[cell].id)
                agent = resolve(self.bench.agents, agent_of(self.bench, axes))
            except RunnerError:
                return Redactor()
            variables = dict(getattr(agent.spec, "env", {})) | {"base_url": getattr(agent.spec, "base_url", "")}
            keys = (*getattr(agent.module, "KEYS", ()), *((key_of(self.bench.judge),) if self.bench.judge else ()))
            self.redactors[cell] = Redactor(pairs_of_cell(self.bench.secrets, axes, variables, keys))
        return self.redactors[cell]

    def subject(self, cell: int) -> Subject:
        """Prepare a cell the first time one of its trials comes, before the fork, so that no later one pays again."""
        if cell not in self.subjects:
            self.redactor(cell)
            if (template := self.sealed.template) is not None:
                _ = template.by_path, self.rules.leave_out(template)
            _ = self.expected, self.recorded, self.worlds
            manifest = self.manifest
            _ = self.owner, manifest.trials, manifest.by_key, manifest.required, manifest.headline
            self.subjects[cell] = self._subject(cell)
        return self.subjects[cell]

    def needed(self, planned: PlannedTrial) -> Needs:
        """What a trial's agent needs, by its cell and its plan; worked out before the fork, too."""
        key = planned.cell, planned.plan
        if key not in self.needs:
            plan = self.manifest.plans[planned.plan] if self.manifest.plans else {}
            self.needs[key] = needs_of(self.subject(planned.cell).needs, plan, "execution")
        return self.needs[key]

    def check_agent(self, cell: int) -> None:
        """Every trial asks before its agent works, as it does after. Where it only grades again none works."""
        subject = self.subject(cell)
        if not self.manifest.regraded:
            check_version(subject.agent, subject.axes, self.manifest.cells[cell])

    def _subject(self, cell: int) -> Subject:
        declared = self.manifest.cells[cell]
        axes = real_axes(self.bench, declared.id)
        agent = resolve(self.bench.agents, agent_of(self.bench, axes))
        probe = None if self.manifest.regraded else probe_again(agent, axes, declared)
        needs = Needs(
            programs=tuple(dict.fromkeys((*(probe.programs if probe else ()), *interpreter()))),
            fixtures=None,
            network=self.bench.network.execution,
            endpoint=None if self.manifest.regraded else agent.module.endpoint(agent.spec, axes),
            hidden=tuple(self.run_dir.parents[2] / name for name in HIDDEN),
        )
        program_path(needs.programs, os.environ.get("PATH", SYSTEM_PATH))  # looked up once
        return Subject(axes, agent, needs)


def _find_out_early(bench: Bench, environment: Environment, manifest: Manifest) -> str:
    """What is looked up once per process: here for all trials. What is wrong they meet again, and tell. Gives where
    worlds live, if that is good."""
    good = ""
    with contextlib.suppress(RunnerError, OSError):
        root = worlds_root()
        check_parents(root)
        root.mkdir(parents=True, exist_ok=True)
        times_can_be_trusted(root)
        good = str(root)
    with contextlib.suppress(RunnerError):
        suite_argv(bench.suite, sys.executable)
    keeper_script()
    for plan in manifest.plans:
        environment.refusal(needs_of(Needs(), plan, "execution"))
    return good


def _as_run(bench: Bench, manifest: Manifest) -> Bench:
    """A run may have been asked for other agents than the matrix names."""
    agents = next((axis.values for axis in manifest.axes if axis.name == "agent"), ())
    return with_agents(bench, agents)
