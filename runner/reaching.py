"""Paths that a tool call names, judged by words alone: which of them lie outside the world."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .transcript import Step

COMMANDS = frozenset({"command", "cmd", "script", "argv", "args"})
PATHS = frozenset({
    "path", "file", "file_path", "filePath", "filename", "filepath", "absolute_path", "notebook_path", "directory",
    "dir", "dir_path", "cwd", "workdir",
})  # fmt: skip
_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/dev", "/tmp", "/workspace", "/etc/os-release",
    "/etc/ssl", "/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/mounts",
)  # fmt: skip
"""What every program may look at, and every agent does."""
_TOPS = frozenset(
    {"etc", "home", "root", "var", "srv", "mnt", "media", "proc", "sys", "run", "boot", "private", "Users", "Volumes"}
)
"""A word of a command that begins with a slash is taken for a path only below one of these: it may be a pattern."""
_WORD = re.compile(r"(?<![\w./~$}\\-])(/[\w.@+%/-]+|\.\.(?![\w.])(?:/[\w.@+%/-]*)?)")
_EVERYTHING = re.compile(
    r"\b(?:(?:find|ls|tree|du)\b(?:\s+-\S+)*\s+/(?=\s|$)|(?:rg|grep)\s[^|;&\n]*\S\s+/\s*(?:$|[|;&\n]))"
)
"""The root itself as what is looked through; as what is looked for, it is a pattern."""
_HEREDOC = re.compile(r"(<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n).*?^\s*\2\s*$", re.DOTALL | re.MULTILINE)
_CHANGE = re.compile(r"\bcd\s+([\w.@+%/-]+)")


@dataclass(frozen=True)
class Roots:
    """`world` is where the agent works; `inside` are the folders it may use, `hidden` those of the bench itself."""

    world: str
    inside: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


def outside(step: Step, roots: Roots) -> list[str]:
    return list(dict.fromkeys(path for path in _named(step.arguments, roots)))


def _named(arguments: Any, roots: Roots) -> Iterator[str]:
    for name, value in arguments.items() if isinstance(arguments, Mapping) else ():
        if name in PATHS and isinstance(value, str):
            path = posixpath.normpath(posixpath.join(roots.world, value)) if value else roots.world
            if not value.startswith("~") and not _allowed(path, roots):
                yield path
        elif name in COMMANDS:
            command = value if isinstance(value, str) else " ".join(map(str, value)) if isinstance(value, list) else ""
            yield from _in_command(command, roots)


def _in_command(command: str, roots: Roots) -> Iterator[str]:
    command = _HEREDOC.sub(r"\1", command)
    if _EVERYTHING.search(command):
        yield "/"
    depth = max((_depth(folder) for folder in _CHANGE.findall(command)), default=0)
    for word in _WORD.findall(command):
        if word.startswith(".."):
            path = posixpath.normpath(word)
            ups = path.split("/").count("..")
            if ups > depth:
                full = posixpath.normpath(posixpath.join(roots.world, path))
                if not _allowed(full, roots):
                    yield full
        elif not word.startswith("//"):
            path = posixpath.normpath(word)
            known = path.split("/")[1] in _TOPS or _below(path, roots.hidden)
            if known and not _allowed(path, roots):
                yield path


def _depth(folder: str) -> int:
    """How far a `cd` goes down: only so far may `..` lead up again."""
    parts = posixpath.normpath(folder).split("/")
    return 0 if folder.startswith("/") else sum(part not in ("..", ".") for part in parts)


def _allowed(path: str, roots: Roots) -> bool:
    return _below(path, (roots.world, *roots.inside, *_SYSTEM)) and not (
        _below(path, roots.hidden) and not _below(path, (roots.world, *roots.inside))
    )


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders if folder)
