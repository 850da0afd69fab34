"""A login of the user's own, lent to one trial at a time: what it says is secret, and what was renewed is put back."""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .definition import Cli, Command
from .digests import sha256
from .environments.transfer import Lies, descend, install
from .errors import BenchError, RunnerError
from .matrix import redacted
from .redaction import LONG, SHORTEST, looks_secret

if TYPE_CHECKING:
    from .agents import Resolved
    from .manifest import Manifest

MOST = 1 << 20
"""Bytes: no login is larger, and what an agent left in its place may be anything."""
VALUES = 500
NOTE = "lent"
_LINE = re.compile(r"[\s\"']*([\w.-]+)[\"']?\s*[=:\s]\s*(.*)")


@dataclass(frozen=True)
class Login:
    """`shown` is how the bench names the file, `at` where the agent finds it below its HOME."""

    shown: str
    file: Path
    at: str

    @property
    def lock(self) -> Path:
        """Beside the file, so that every run that lends it meets there."""
        return self.file.with_name(f".{self.file.name}.benchsite-lock")

    def problem(self) -> str:
        """Say why it cannot be lent; "" where it can."""
        if not self.file.is_file():
            return f"Its credential file {self.shown} is not there; log in with the program itself first."
        if self.file.stat().st_size > MOST:
            return f"Its credential file {self.shown} is larger than {MOST >> 20} MiB; that is no login."
        if not os.access(self.file, os.R_OK) or not os.access(self.file.parent, os.W_OK):
            return f"Its credential file {self.shown} must be readable and its folder writable: a login is renewed."
        return ""

    def told(self, salt: str) -> dict[str, str]:
        """What a pin says of it: that it was used, and by a salted hash which it was."""
        return {"file": self.shown, "hash": redacted("credentials", sha256(self.file.read_bytes()), salt)}


def login_of(agent: Resolved) -> Login | None:
    """Find the file an agent's declaration opts in to; None where it is given keys alone."""
    declared = agent.spec.credentials if isinstance(agent.spec, Cli | Command) else ""
    if not declared:
        return None
    if reason := getattr(agent.module, "NO_LOGIN", ""):
        raise BenchError(f"The agent {agent.name!r} cannot be lent a login: {reason}.")
    own = str(getattr(agent.module, "CREDENTIALS", ""))
    shown = f"~/{own}" if declared is True else str(declared)
    if declared is True and not own:
        raise BenchError(
            f"The agent {agent.name!r}: the adapter {agent.kind!r} knows no credential file; name yours, as in "
            f'Cli("{agent.kind}", credentials="~/.config/tool/auth.json").'
        )
    return Login(shown, Path(os.path.realpath(Path(shown).expanduser())), own or shown.removeprefix("~/"))


def lend(login: Login, root: Path, home: Path) -> bytes:
    """Copy a login into a trial's HOME, for its user alone; a note below `root` says what was lent."""
    if problem := login.problem():
        raise RunnerError(problem)
    data = login.file.read_bytes()
    beside = root / f"{NOTE}.new"
    with open(beside, "xb", opener=_private) as file:
        file.write(data)
    try:
        install(beside, Lies(home, tuple(login.at.split("/"))))
    finally:
        beside.unlink()
    _note(root, login.file, login.at, lent=sha256(data), seen=sha256(data))
    return data


@dataclass(frozen=True)
class Found:
    """What a trial has for a login now; `flaw` says why a renewed one was not put back."""

    data: bytes
    flaw: str = ""


def take_back(root: Path, home: Path | None = None) -> Found | None:
    """Put a login that was renewed in a trial's HOME where the user has it, in one step; None where none was lent, or
    the agent has it no more. One that looks like no login, or that the user renewed meanwhile, is not put back."""
    try:
        note = json.loads((root / NOTE).read_text(encoding="utf-8"))
        file, at, lent = Path(note["file"]), str(note["at"]), str(note["lent"])
        data = read_small(Lies(home or root / "home", tuple(at.split("/"))))
    except (OSError, ValueError, KeyError, TypeError, RunnerError):
        return None
    now = sha256(data)
    if now == note["seen"]:
        return Found(data)
    flaw = _flaw(file, lent, data)
    if not flaw:
        _replace(file, data)
    _note(root, file, at, lent=lent if flaw else now, seen=now)
    return Found(data, flaw)


def _flaw(file: Path, lent: str, data: bytes) -> str:
    try:
        before = file.read_bytes()
    except OSError as error:
        return f"{file} cannot be read any more ({error.strerror}), so the login the agent renewed was not put back."
    if sha256(before) != lent:
        return f"{file} changed while a trial had it; what the agent made of its own was dropped."
    if not _is_like(before, data):
        return f"What the agent left of its login is none any more, so {file} stays; you may have to log in again."
    return ""


def _is_like(before: bytes, after: bytes) -> bool:
    """A login is renewed as a whole: JSON stays JSON and keeps its keys, other text stays text."""
    was, now = _json(before), _json(after)
    if isinstance(was, dict):
        return isinstance(now, dict) and was.keys() <= now.keys()
    try:
        return bool(after.decode().strip())
    except UnicodeDecodeError:
        return False


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _replace(file: Path, data: bytes) -> None:
    """Write beside and rename: whoever reads it reads the old one or the new one."""
    status, beside = file.stat(), file.with_name(f".{file.name}.{os.urandom(4).hex()}")
    try:
        with open(beside, "xb", opener=_private) as target:
            target.write(data)
            os.fchmod(target.fileno(), stat.S_IMODE(status.st_mode))
            if os.geteuid() == 0:
                os.fchown(target.fileno(), status.st_uid, status.st_gid)
            target.flush()
            os.fsync(target.fileno())
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def _note(root: Path, file: Path, at: str, *, lent: str, seen: str) -> None:
    """`lent`: what the user's file must still be for another to take its place; `seen`: what was looked at last."""
    row = {"file": str(file), "at": at, "lent": lent, "seen": seen}
    (root / NOTE).write_text(json.dumps(row), encoding="utf-8")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def read_small(lies: Lies) -> bytes:
    """Read a file of an agent's own HOME; no link is followed, and no more than MOST is read."""
    descriptor = descend(lies)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RunnerError("what stands in its place is no file")
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise RunnerError("it is too large")
    return data


def pairs_of(name: str, data: bytes) -> list[tuple[str, str]]:
    """Give (name, value) of every text in a login that could be told from a word, whatever it is called there."""
    tree = _json(data)
    rows = _texts(tree, "") if isinstance(tree, dict | list) else _lines(data.decode("utf-8", "surrogateescape"))
    found = [
        (f"{name}.{key}" if key else name, value)
        for key, value in rows
        if len(value) >= (SHORTEST if looks_secret(key) else LONG)
    ]
    return found[:VALUES]


def _texts(tree: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(tree, str):
        yield key, tree
    elif isinstance(tree, dict):
        for name, value in tree.items():
            yield from _texts(value, name)
    elif isinstance(tree, list):
        for value in tree:
            yield from _texts(value, key)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Of a format not known here: what stands behind the first word of a line, and each word of it; else the line."""
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        key, value = (found[1], found[2]) if found and found[2] else ("", line)
        value = value.strip().strip("\"',;")
        yield key, value
        yield from ((key, word.strip("\"',;")) for word in value.split()[: 20 if " " in value else 0])


class Turns:
    """Who of a run, and of all runs on this machine, has a login just now: a lock beside each file."""

    def __init__(self, manifest: Manifest) -> None:
        self._files = {} if manifest.regraded else dict(_lent(manifest))
        self._held: dict[Path, int] = {}

    def take(self, cell: int) -> bool:
        """Take a cell's login, if it has one; False while another trial has it."""
        login = self._files.get(cell)
        if login is None:
            return True
        if login.file in self._held:
            return False
        try:
            descriptor = os.open(login.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise RunnerError(
                f"{login.lock} cannot be made ({error.strerror}): {login.shown} is lent by it."
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._held[login.file] = descriptor
        return True

    def free(self, cell: int) -> None:
        login = self._files.get(cell)
        if login is not None and (descriptor := self._held.pop(login.file, None)) is not None:
            os.close(descriptor)


def _lent(manifest: Manifest) -> Iterator[tuple[int, Login]]:
    for number, cell in enumerate(manifest.cells):
        if shown := str((cell.pin.get("credentials") or {}).get("file", "")):
            yield number, Login(shown, Path(os.path.realpath(Path(shown).expanduser())), "")


def borrowers(manifest: Manifest) -> list[str]:
    """Name the agents of a run that are lent a login."""
    return list(dict.fromkeys(str(manifest.cells[number].pin.get("agent")) for number, _ in _lent(manifest)))
