"""What a bench author declares in bench.py: plain frozen records, nothing runs here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Retain = Literal["never", "failed", "unsolved", "always"]
Mode = Literal["none", "reuse", "fresh"]
Isolation = Literal["none", "sandbox", "container"]
Policy = Literal["open", "none"]

RETAIN: tuple[Retain, ...] = ("never", "failed", "unsolved", "always")
MODES: tuple[Mode, ...] = ("none", "reuse", "fresh")
ISOLATION: tuple[Isolation, ...] = ("none", "sandbox", "container")
"""From least to most; an environment below a bench's minimum is refused."""
DEFAULT_IGNORE = (
    ".git", "node_modules", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".coverage",
)  # fmt: skip


@dataclass(frozen=True)
class Measure:
    """Beside a field's type: `Annotated[int, Measure(objective="minimize", unit="files")]`."""

    objective: str = ""
    unit: str = ""
    label: str = ""
    aggregate: str = ""
    required: bool = False
    headline: bool = False
    worst: float | None = None


@dataclass(frozen=True)
class Capture:
    """`ignore` uses .gitignore rules and governs capture only; larger files than `max_bytes` are hashed, not stored."""

    ignore: Sequence[str] = DEFAULT_IGNORE
    max_bytes: int | str = "10 MiB"


@dataclass(frozen=True)
class Workspace:
    source: str = "./workspace"
    retain: Retain = "failed"
    git: bool = False
    capture: Capture = Capture()


@dataclass(frozen=True)
class Timeouts:
    """Seconds: one request, a whole trial, one run of the workspace's suite."""

    request: float = 1800
    trial: float = 3600
    suite: float = 600


@dataclass(frozen=True)
class Budget:
    """Dollars as text ("$2") or numbers, per trial and for the whole run; None is no limit."""

    trial: str | float | None = None
    total: str | float | None = None


@dataclass(frozen=True)
class Network:
    """Of the two stages. "none" reaches the cell's model and, while the agent works, the hosts of `allow` ("pypi.org",
    "example.com:8443") and nothing else."""

    execution: Policy = "open"
    evaluation: Policy = "open"
    allow: Sequence[str] = ()


@dataclass(frozen=True)
class Limits:
    """What one trial may use: memory and disk as sizes ("2 GiB"), processes at a time. None is no limit; wall time is
    `Timeouts(trial=...)`."""

    memory: int | str | None = None
    processes: int | None = None
    disk: int | str | None = None


@dataclass(frozen=True)
class Collect:
    """A command run in the environment before files are collected."""

    command: str
    timeout: float = 60


@dataclass(frozen=True)
class Artifact:
    """A file or folder to collect, by its path in the environment. `exclude` holds .gitignore rules for what lies below
    a folder."""

    path: str
    exclude: Sequence[str] = ()


@dataclass(frozen=True)
class Transfer:
    """What may be carried out of a trial's environment, all declared paths together, and the seconds it may take."""

    max_bytes: int | str = "64 MiB"
    max_files: int = 2000
    timeout: float = 600


@dataclass(frozen=True)
class Command:
    """Any program. The template is split by shlex and filled per argument, never by a shell: {prompt_file}, {prompt},
    {model}, {workspace}, {python} and every axis name. Without {prompt} or {prompt_file} the prompt comes by stdin."""

    template: str
    env: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    """A command that prints the version, e.g. "tool --version"."""
    credentials: str = ""
    """A login of yours, "~/.tool/auth.json": handed to one trial at a time, at the same place below its own HOME."""


@dataclass(frozen=True)
class Python:
    """A callable `agent(prompt: str, workspace: Path, axes: dict[str, str]) -> str | None`, named "module:function"
    (below the bench folder) or given itself when it is a top-level function of a module of the bench."""

    target: str | Callable[..., Any]


@dataclass(frozen=True)
class Scripted:
    """Steps played in order for each request; `runner.steps` builds them (write, patch, run, say, sleep ...)."""

    steps: Sequence[Mapping[str, Any]]
    seeded: Sequence[tuple[float, Sequence[Mapping[str, Any]]]] = ()
    """(probability, steps): chosen by the trial's recorded seed, so a flaky agent is flaky in the same way again."""
    when: Sequence[tuple[str, Sequence[Mapping[str, Any]]]] = ()
    """(text, steps): the first whose text stands in the prompt is played in place of `steps`."""


@dataclass(frozen=True)
class Cli:
    """A built-in adapter with settings of its own: `Cli("claude-code", base_url="http://127.0.0.1:9000")`."""

    adapter: str
    base_url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()
    credentials: bool | str = False
    """True: your login with the program, in place of a key; or a file of your home. One trial at a time has it."""


AgentSpec = Command | Python | Scripted | Cli


@dataclass(frozen=True)
class Judge:
    """A model that grades, asked by `bench.judge(prompt)`; the same for every cell, and never a cell's own model.

    `key` names the variable that holds its key, `base_url` an endpoint other than the provider's, `version` what the
    author calls the rubric, `same_model` the reason in words where a cell's own model may judge after all.
    """

    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    protocol: str = "openai"
    """openai (chat completions) or anthropic (messages)."""
    system: str = ""
    version: str = ""
    base_url: str = ""
    key: str = ""
    same_model: str = ""
    prices: tuple[float, float] | None = None
    """Dollars for a million tokens in and out; without them its cost is unknown."""
    timeout: float = 120
    retries: int = 2


@dataclass(frozen=True)
class Bench:
    """A declared bench, as `define_bench` checked it. `file` is its bench.py, `root` the folder that holds it."""

    name: str
    version: str
    schema: type
    file: Path
    workspace: Workspace | None
    suite: str
    agents: Mapping[str, AgentSpec]
    matrix: Mapping[str, Any]
    trials: int
    timeouts: Timeouts
    budget: Budget
    retries: int
    environment: str
    isolation: Isolation
    network: Network
    limits: Limits
    image: str
    evaluation: Mode
    save_artifacts: bool
    transfer: Transfer
    setup: Callable[..., None] | None
    judge: Judge | None
    tests: str
    title: str
    secrets: Sequence[str]

    @property
    def root(self) -> Path:
        return self.file.parent

    def __fspath__(self) -> str:
        """A declared bench stands for its folder: `runner.run(bench)`."""
        return str(self.root)


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(B|KB|KIB|MB|MIB|GB|GIB)?\s*", re.IGNORECASE)
_UNITS = {"b": 1, "kb": 10**3, "kib": 2**10, "mb": 10**6, "mib": 2**20, "gb": 10**9, "gib": 2**30}


def parse_size(value: int | str) -> int:
    """Read "10 MiB" or a number of bytes; raises ValueError for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if not found:
        raise ValueError(f"{value!r} is not a size; write it as '10 MiB' or a number of bytes")
    return int(float(found[1]) * _UNITS[(found[2] or "b").lower()])
