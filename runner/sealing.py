"""Seal a bench: a copy of world, fixtures and code by content, which every trial, resume and regrade reads.

Editing a bench in the middle of a run changes nothing. The world keeps its modes (trials get them), all else is
made read-only; what the modes cannot promise, the digest does: a seal is checked when a run opens it."""

from __future__ import annotations

import ast
import inspect
import json
import os
import shutil
import stat
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .definition import Bench
from .digests import digest, sha256_file
from .dotbench import dot_bench
from .errors import BenchError
from .load import line_of

if TYPE_CHECKING:
    from .worlds.tree import Tree

FORMAT = "benchsite/sealed/1"
SEALED, WORLD, FIXTURES, TESTS = "sealed", "workspace", "fixtures", "tests"
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
Files = dict[str, tuple[str, str]]
"""Relative path -> (mode as git keeps it, sha256)."""


@dataclass(frozen=True)
class Sealed:
    """`<root>/workspace`, `<root>/fixtures`, `<root>/tests`, `<root>/bench.py` as they were when sealed."""

    root: Path
    digest: str
    template: Tree | None
    parts: dict[str, str]
    """Hashes of template, fixtures, code and setup."""
    files: Files
    """Code and what lies beside bench.py; without world and fixtures."""

    @property
    def world(self) -> Path | None:
        return self.root / WORLD if self.template is not None else None

    @property
    def fixtures(self) -> Path | None:
        folder = self.root / FIXTURES
        return folder if folder.is_dir() else None


def seal(bench: Bench) -> Sealed:
    """Copy a bench into `.bench/sealed/<digest>/`; links, devices, fifos and sockets are refused first."""
    store = dot_bench(bench.root) / SEALED
    store.mkdir(exist_ok=True)
    world = world_source(bench)
    sources = {WORLD: world, FIXTURES: _folder(bench.root / FIXTURES)}
    trees = {name: _scan(source) for name, source in sources.items() if source}
    files = _files(bench.root, world)
    name = _digest(trees, files)
    if not (store / f"{name}.json").is_file() or not _intact(store, name):
        name = _copy(bench.root, store, sources, files)
    return _described(store, name, bench)


def open_sealed(dot_bench: Path, digest: str, *, verify: bool = False) -> Sealed:
    """Open a seal by its digest; `verify` reads every byte again."""
    store = dot_bench / SEALED
    try:
        row = json.loads((store / f"{digest}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BenchError(
            f"The sealed copy {digest[:12]} of the bench is missing from {store}; start a new run."
        ) from error
    if verify and not _intact(store, digest):
        raise BenchError(f"The sealed copy {store / digest} was changed after it was made; delete it, start a new run.")
    return _read(store, row)


def world_source(bench: Bench) -> Path | None:
    """Give the folder of the world; one that is missing is refused, else agents would be scored in an empty one."""
    if bench.workspace is None:
        return None
    named = bench.root / bench.workspace.source
    source = named.resolve()
    if _folder(named) is None:
        raise BenchError(
            f"The workspace {bench.workspace.source!r} is no folder; make it, or declare workspace=None.",
            file=bench.file,
            line=line_of(bench.file, bench.workspace.source),
        )
    if bench.root.is_relative_to(source):
        raise BenchError(f"The workspace {bench.workspace.source!r} holds the bench itself.", file=bench.file)
    return source


def source_of(function: Callable[..., Any] | None) -> str:
    """Give a function's source without comments and formatting, "" for none."""
    if function is None:
        return ""
    try:
        return ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function))))
    except (OSError, TypeError, SyntaxError):
        return getattr(function, "__qualname__", repr(function))


def _folder(path: Path) -> Path | None:
    if path.is_symlink():
        raise BenchError("It is a symlink; a bench holds its own files, copy them here.", file=path)
    return path if path.is_dir() else None


def _scan(source: Path) -> Tree:
    from .worlds.tree import scan

    return scan(source, refuse=True)


def _files(root: Path, world: Path | None) -> Files:
    """List what is sealed beside world and fixtures: tests/ whole, every .py, the files next to bench.py."""
    found: Files = {}
    for path in _walk(root, {world, root / WORLD, root / FIXTURES}):
        relative = path.relative_to(root)
        if path.suffix != ".py" and len(relative.parts) > 1 and relative.parts[0] != TESTS:
            continue
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a symlink" if stat.S_ISLNK(status.st_mode) else "neither a file nor a folder"
            raise BenchError(f"It is {kind}; a bench may only hold plain files and folders.", file=path)
        found[relative.as_posix()] = ("100755" if status.st_mode & 0o100 else "100644", sha256_file(path))
    return found


def _walk(root: Path, leave: set[Path | None]) -> Iterator[Path]:
    with os.scandir(root) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        path = Path(entry.path)
        if entry.name.startswith(".") or entry.name in _SKIPPED or path in leave or path.suffix == ".pyc":
            continue
        if entry.is_dir(follow_symlinks=False):
            if not (path / "pyvenv.cfg").exists():
                yield from _walk(path, leave)
        else:
            yield path


def _digest(trees: dict[str, Tree], files: Files) -> str:
    return digest({"trees": {name: tree.hash for name, tree in trees.items()}, "files": files})


def _copy(root: Path, store: Path, sources: dict[str, Path | None], files: Files) -> str:
    """Build aside and rename. What is described is the copy: an edit during the copying cannot slip through."""
    from .worlds.copying import copy_world

    aside = Path(tempfile.mkdtemp(dir=store, prefix=".new-"))
    try:
        for name, source in sources.items():
            if source:
                copy_world(source, aside / name)
        for relative in files:
            (aside / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / relative, aside / relative)
        trees = {name: _scan(aside / name) for name, source in sources.items() if source}
        copied = _files(aside, aside / WORLD)
        name = _digest(trees, copied)
        _make_read_only(aside)
        aside.chmod(0o755)
        shutil.rmtree(store / name, ignore_errors=True)  # left by a kill, or damaged
        aside.rename(store / name)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    _write(store, name, trees, copied)
    return name


def _make_read_only(root: Path) -> None:
    """Files only: a folder without the write bit could not be deleted again by its owner."""
    for folder, folders, names in os.walk(root):
        if Path(folder) == root and WORLD in folders:
            folders.remove(WORLD)
        for path in (Path(folder) / name for name in names):
            path.chmod(stat.S_IMODE(path.lstat().st_mode) & ~0o222)


def _write(store: Path, name: str, trees: dict[str, Tree], files: Files) -> None:
    row = {
        "format": FORMAT,
        "digest": name,
        "template": trees[WORLD].to_json() if WORLD in trees else None,
        "fixtures": trees[FIXTURES].hash if FIXTURES in trees else "",
        "files": files,
    }
    aside = store / f".{name}.{os.getpid()}.json"
    aside.write_text(json.dumps(row), encoding="utf-8")
    aside.replace(store / f"{name}.json")


def _intact(store: Path, name: str) -> bool:
    root = store / name
    if not root.is_dir():
        return False
    try:
        trees = {part: _scan(root / part) for part in (WORLD, FIXTURES) if (root / part).is_dir()}
        return _digest(trees, _files(root, root / WORLD)) == name
    except (BenchError, OSError):
        return False


def _described(store: Path, name: str, bench: Bench) -> Sealed:
    sealed = _read(store, json.loads((store / f"{name}.json").read_text(encoding="utf-8")))
    return Sealed(
        sealed.root, name, sealed.template, {**sealed.parts, "setup": digest(source_of(bench.setup))}, sealed.files
    )


def _read(store: Path, row: dict[str, Any]) -> Sealed:
    from .worlds.tree import Tree

    files: Files = {path: (mode, sha) for path, (mode, sha) in row["files"].items()}
    template = Tree.from_json(row["template"]) if row["template"] is not None else None
    parts = {"template": template.hash if template else "", "fixtures": row["fixtures"], "code": code_hash(files)}
    return Sealed(store / row["digest"], row["digest"], template, parts, files)


def code_hash(files: Files) -> str:
    """Hash what scenarios are made of: every .py but bench.py (its matrix may change), and what lies in tests/."""
    return digest({path: row for path, row in files.items() if _is_code(path)})


def _is_code(path: str) -> bool:
    return path.startswith(f"{TESTS}/") or (path.endswith(".py") and path != "bench.py")
