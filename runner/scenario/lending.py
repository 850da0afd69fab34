"""The login that a trial's agent was given: handed over once, looked at whenever the agent may have renewed it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from runner.credentials import lend, login_of, pairs_of, take_back
from runner.errors import RunnerError
from runner.redaction import CHUNK, LONG, NO_SECRETS, looks_secret
from runner.worlds.clock import GUARD
from runner.worlds.walk import Found, walk

from .striking import strike_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.agents import Resolved

    from .live import LiveTrial
    from .stage import Stage

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
WORD = 16
"""Characters from which on a text of a login is told from a word, whatever it is called."""
SHOWN = 10


class Lending:
    def __init__(self, trial: LiveTrial, stage: Stage, resolved: Resolved) -> None:
        self._trial, self._stage, self._login = trial, stage, login_of(resolved)
        self._home = stage.session.home
        self._lent = False
        self._tokens = NO_SECRETS

    def hand_over(self) -> None:
        """Before the first request. The runner has seen to it that no other trial has the login now."""
        if self._login is None or self._lent:
            return
        try:
            self._learn(lend(self._login, self._stage.place.root, Path(self._home)))
        except (RunnerError, OSError) as error:
            raise self._trial.fail("boot", f"The agent cannot be given its login: {error}") from error
        self._lent = True
        self._stage.on_close = self.look

    def look(self) -> None:
        """What the agent has now is as secret as what it was given, and goes back to the user where it was renewed.
        The world is cleared of it before it is recorded, and before it may be kept."""
        if not self._lent:
            return
        try:
            found = take_back(self._stage.place.root, Path(self._home))
            if found is not None:
                self._learn(found.data)
                self._warn("credentials", found.flaw)
            self._strike_world()
        except OSError as error:
            self._trial.check_disk(error)
            self._warn("credentials", f"The agent's login could not be taken back whole: {error}")

    def _learn(self, data: bytes) -> None:
        assert self._login is not None
        pairs = pairs_of(self._login.file.name, data)
        self._trial.redactor = self._trial.redactor.knowing(pairs)
        self._tokens = self._tokens.knowing(pair for pair in pairs if _opens(*pair))

    def _warn(self, code: str, sentence: str) -> None:
        if sentence:
            self._trial.issue("warning", code, sentence)

    def _strike_world(self) -> None:
        """A login opens an account, not one model: unlike a key it may not stand in what is kept and sent on, so the
        agent's own files are altered, those that were written since the world was made."""
        since, held = self._stage.began - GUARD, dict[str, list[str]]()
        for found in walk(self._stage.place.world):
            if stat.S_ISREG(found.stat.st_mode) and found.stat.st_ctime_ns >= since and (names := self._struck(found)):
                held[found.path] = names
        told = [f"{path} held the agent's login, which is struck out there: {_list(held[path])}." for path in held]
        for path, names in strike_names(self._stage.place.world, self._tokens):
            held[path] = names
            told.append(f"{path} had the agent's login in its name, or in what it links to: {_list(names)}.")
        for sentence in told[:SHOWN]:
            self._warn("secret_in_file", sentence)
        if held:
            self._trial.flag("secret_in_file")
        if len(told) > SHOWN:
            self._warn("secret_in_file", f"So did {len(told) - SHOWN:,} more files.")

    def _struck(self, found: Found) -> list[str]:
        """Write a file anew without what it should not hold; gives what that was."""
        try:
            source = os.open(found.name, _READ, dir_fd=found.folder)
        except OSError:
            return []  # gone, or closed to its own user
        try:
            names = self._tokens.names_in(_chunks(source))
            if names:
                self._rewrite(source, found)
            return names
        finally:
            os.close(source)

    def _rewrite(self, source: int, found: Found) -> None:
        beside = f".{os.urandom(6).hex()}"
        with os.fdopen(os.open(beside, _NEW, 0o600, dir_fd=found.folder), "wb") as target:
            target.writelines(self._tokens.stream(_chunks(source)))
            os.fchmod(target.fileno(), stat.S_IMODE(found.stat.st_mode))
        os.rename(beside, found.name, src_dir_fd=found.folder, dst_dir_fd=found.folder)


def _list(names: list[str]) -> str:
    return ", ".join(names)


def _opens(name: str, value: str) -> bool:
    """Is this what a login is about, and no word or address that a world may well hold?"""
    named = looks_secret(name.rpartition(".")[2]) and len(value) >= LONG
    return named or (len(value) >= WORD and " " not in value and "://" not in value)


def _chunks(descriptor: int) -> Iterator[bytes]:
    os.lseek(descriptor, 0, os.SEEK_SET)
    while chunk := os.read(descriptor, CHUNK):
        yield chunk
