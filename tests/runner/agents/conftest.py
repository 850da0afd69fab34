from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.agents import claude_code, codex
from runner.definition import AgentSpec

from .asking import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Callable[..., Desk]:
    """Make a trial's desk: `desk(spec, axes)`."""

    def make(spec: AgentSpec, axes: dict[str, Any] | None = None, **more: Any) -> Desk:
        return Desk(tmp_path, spec, axes or {}, **more)

    return make


@pytest.fixture
def clis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the real command lines on PATH; BENCHSITE_CLIS names the folder that holds node_modules/.bin."""
    folder = os.environ.get("BENCHSITE_CLIS")
    if folder:
        monkeypatch.setenv("PATH", f"{Path(folder).resolve() / 'node_modules' / '.bin'}:{os.environ['PATH']}")
    absent = [name for name in ("claude", "codex") if shutil.which(name) is None]
    if absent:
        pytest.skip(f"{' and '.join(absent)} not on PATH and not in BENCHSITE_CLIS; install them with npm to run this.")
    for name in (*claude_code.NEEDED, *codex.KEYS):
        monkeypatch.delenv(name, raising=False)
