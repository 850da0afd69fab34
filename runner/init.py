"""`benchsite init`: a small bench that runs as generated, to be changed into one's own."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import BenchError
from .load import BENCH_FILE

TEMPLATE = Path(__file__).with_name("template")


def init(folder: Path | str, name: str | None = None) -> list[Path]:
    """Write a new bench into a folder that holds none; gives the files that were made, nothing is overwritten."""
    folder = Path(folder).resolve()
    if (folder / BENCH_FILE).exists():
        raise BenchError(f"There is a bench in {folder} already; choose another folder.", file=folder / BENCH_FILE)
    if folder.exists() and not folder.is_dir():
        raise BenchError(f"{folder} is no folder; choose another name.")
    name = name or f"me/{_slug(folder.name)}"
    contents = {_target(source): source.read_text(encoding="utf-8") for source in _sources()}
    if taken := [path for path in contents if (folder / path).exists()]:
        raise BenchError(f"{folder / taken[0]} is in the way; choose an empty folder.", file=folder)
    for path, text in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text.replace("me/my-bench", name), encoding="utf-8")
    return [folder / path for path in contents]


def _sources() -> list[Path]:
    """The template's files end in .txt: neither a linter nor a test runner may take them for ours."""
    return sorted(path for path in TEMPLATE.rglob("*.txt") if path.is_file())


def _target(source: Path) -> Path:
    return source.relative_to(TEMPLATE).with_suffix("")


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:60] or "my-bench"
