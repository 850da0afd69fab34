"""Which cases a bench has: its scenario files are imported once, in a process of their own, and nothing is run."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from runner.errors import BenchError, BenchErrors
from runner.standby import Standby

PLUGINS_OFF = (
    "cacheprovider", "doctest", "unittest", "faulthandler", "unraisableexception", "threadexception", "warnings",
    "logging", "junitxml", "pastebin", "stepwise", "tmpdir", "setuponly", "setupplan", "debugging",
)  # fmt: skip
"""Parts of pytest that a trial has no use for; each costs a little per item, some take descriptors over."""
COLLECT_TIMEOUT = 300


@dataclass(frozen=True)
class CollectedCase:
    """One case as pytest sees it; `pin` is the id of a `scenario` mark, `case` the id of its parameter set or ""."""

    file: str
    line: int
    function: str
    pin: str | None = None
    case: str = ""
    params: dict[str, str] = field(default_factory=dict)
    doc: str = ""
    evaluation: dict[str, Any] | None = None
    environment: dict[str, Any] | None = None
    uses_evaluation: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        return self.file, self.function, self.case


@dataclass(frozen=True)
class Collected:
    cases: tuple[CollectedCase, ...]


@dataclass(frozen=True)
class Complaint:
    """Something in a scenario file that stops the bench; `file` is relative to the bench."""

    sentence: str
    file: str
    line: int | None = None


def scenario_files(root: Path, tests: str) -> list[Path]:
    """Find a bench's scenario files; hidden folders and caches are never looked into."""
    found = (path for path in root.glob(tests) if path.is_file())
    return sorted(p for p in found if not any(part.startswith((".", "__")) for part in p.relative_to(root).parts))


def collect(sealed_root: Path, tests: str, shown_root: Path, standby: Standby | None = None) -> Collected:
    """Collect a sealed bench; faults are told with the paths of `shown_root`, where the author can mend them.

    The process that did it goes on living in `standby`, where one is given."""
    if not scenario_files(sealed_root, tests):
        raise BenchError(f"No scenario found: no file matches {tests!r}. Add tests/bench_<name>.py.", file=shown_root)
    with tempfile.TemporaryDirectory(prefix="benchsite-collect-") as folder, closing(Standby()) as passing:
        answer, output = Path(folder) / "collected.json", Path(folder) / "output"
        argv = [*server_argv(), "--collect", str(answer), "--root", str(sealed_root), "--tests", tests]
        _run(standby or passing, argv, output, tests, shown_root)
        if not answer.exists():
            tail = output.read_bytes().decode(errors="replace").strip()[-4000:]
            said = tail or "importing them ended the process without a word"
            raise BenchError(f"The scenarios could not be collected: {said}", file=shown_root)
        report = json.loads(answer.read_text(encoding="utf-8"))
    complaints = list(dict.fromkeys(Complaint(**row) for row in report["complaints"]))
    if complaints:
        raise _told(complaints, sealed_root, shown_root)
    return Collected(tuple(CollectedCase(**row) for row in report["cases"]))


def server_argv() -> list[str]:
    return [sys.executable, "-m", "runner.scenario.server"]


def server_env() -> dict[str, str]:
    """Give the environment of a server process: pytest must not be steered from outside, nor import other plugins."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")}
    here = str(Path(__file__).parents[2])
    path = [here, *(part for part in env.get("PYTHONPATH", "").split(os.pathsep) if part and part != here)]
    return {**env, "PYTHONPATH": os.pathsep.join(path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def pytest_args(root: Path, files: list[Path]) -> list[str]:
    off = [part for name in PLUGINS_OFF for part in ("-p", f"no:{name}")]
    ini = Path(__file__).with_name("bench.ini")
    head = ["-c", str(ini), f"--rootdir={root}", f"--confcutdir={root}", "--capture=no", "--import-mode=importlib"]
    return [*head, "-q", "--continue-on-collection-errors", *off, "-p", "runner.scenario.plugin", *map(str, files)]


def report_json(cases: list[CollectedCase], complaints: list[Complaint]) -> str:
    return json.dumps({"cases": [asdict(c) for c in cases], "complaints": [asdict(c) for c in complaints]})


def _run(standby: Standby, argv: list[str], output: Path, tests: str, shown_root: Path) -> None:
    with output.open("wb") as stream:
        standby.start(argv, server_env(), stream)
    try:
        standby.collected(COLLECT_TIMEOUT)
    except TimeoutError as error:
        sentence = f"Importing the scenarios ({tests}) took longer than {COLLECT_TIMEOUT} s; move work into functions."
        raise BenchError(sentence, file=shown_root) from error


def _told(complaints: list[Complaint], sealed_root: Path, shown_root: Path) -> BenchError:
    errors = [
        BenchError(c.sentence.replace(str(sealed_root), str(shown_root)), file=shown_root / c.file, line=c.line)
        for c in complaints
    ]
    return errors[0] if len(errors) == 1 else BenchErrors(errors)
