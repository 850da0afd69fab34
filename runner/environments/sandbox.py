"""The sandbox: one bubblewrap per trial, a root made of what is named and nothing else, a keeper as process 1."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from runner.definition import Isolation
from runner.errors import EnvironmentRefused
from runner.processes import Keeper, keeper_command, output_of
from runner.worlds.places import Place

from .base import SYSTEM_PATH, KeptSession, Needs, base_env, program_path
from .roots import Root, read_only_root

WORLD, HOME, TMP, OUT, FIXTURES = "/workspace", "/agent", "/tmp", "/out", "/fixtures"
QUIET = {"PATH": SYSTEM_PATH, "LANG": "C.UTF-8"}


class Sandbox:
    name = "sandbox"
    isolation: Isolation = "sandbox"
    cuts_network = True

    def version(self) -> str:
        return _version()

    def open(self, place: Place, needs: Needs) -> KeptSession:
        """Start the namespace; everything in it ends with the session, or with this process."""
        if needs.network == "none" and needs.endpoint:
            raise EnvironmentRefused(
                f"network='none' would cut the agent off from its model at {needs.endpoint}, and this version cannot "
                "let that one endpoint through; declare network='open', or use an agent without a model."
            )
        root = read_only_root(needs.programs)
        refusal = _in_the_way(root) or _shown(root, place, needs)
        if refusal:
            raise EnvironmentRefused(refusal)
        ours, theirs = socket.socketpair()
        with theirs, _captured() as errors:
            argv = [*_command(root, place, needs), "--", *keeper_command(theirs.fileno())]
            kept = Keeper.started(ours, argv, theirs, stderr=errors)
        try:
            kept.wait_ready()
        except BaseException as error:
            kept.close()
            raise EnvironmentRefused(f"The sandbox did not start: {_said(errors) or error}") from error
        finally:
            os.close(errors)
        own = ((WORLD, place.world), (HOME, place.home), (TMP, place.tmp))
        return KeptSession(kept, WORLD, _environment(needs), _inside(root, place, needs), own)


ENVIRONMENT = Sandbox()


@functools.lru_cache(maxsize=1)
def unusable() -> str:
    """Say why the sandbox cannot be used here; found out by running one, since kernels refuse in many ways."""
    if not shutil.which("bwrap", path=_search_path()):
        return "The sandbox needs bubblewrap: install the package that has the program 'bwrap'."
    argv = [
        _bwrap(), "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--as-pid-1",
        "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/sh", "-c", "exit 0",
    ]  # fmt: skip
    done, said = output_of(argv, cwd="/", env=QUIET, timeout=20)
    if done.ok:
        return _in_the_way(read_only_root())
    return f"The sandbox does not work here: {said.strip().splitlines()[-1] if said.strip() else 'bwrap said nothing'}."


def _search_path() -> str:
    return os.environ.get("PATH", SYSTEM_PATH) + os.pathsep + SYSTEM_PATH


@functools.lru_cache(maxsize=1)
def _bwrap() -> str:
    return shutil.which("bwrap", path=_search_path()) or "bwrap"


@functools.lru_cache(maxsize=1)
def _version() -> str:
    _, said = output_of([_bwrap(), "--version"], cwd="/", env=QUIET, timeout=20)
    found = re.search(r"\d+(\.\d+)+", said)
    return f"bubblewrap {found[0] if found else 'of unknown version'}"


def _command(root: Root, place: Place, needs: Needs) -> list[str]:
    """The trial's own places and the read-only root. Nothing of /run, /var, /home or /srv is there."""
    argv = [
        _bwrap(), "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        "--hostname", "sandbox", "--as-pid-1", "--new-session", "--clearenv", "--cap-drop", "ALL",
    ]  # fmt: skip
    if threading.current_thread() is threading.main_thread():
        argv.append("--die-with-parent")  # dies with the thread that started it; the keeper's socket covers the rest
    if needs.network == "none":
        argv.append("--unshare-net")
    argv += ["--proc", "/proc", "--dev", "/dev"]
    for outside, inside in ((place.world, WORLD), (place.home, HOME), (place.tmp, TMP), (place.out, OUT)):
        argv += ["--bind", str(outside), inside]
    argv += root.arguments()  # after /tmp: an interpreter may lie below it
    if needs.fixtures is not None:
        argv += ["--ro-bind", str(needs.fixtures), FIXTURES]
    return [*argv, "--remount-ro", "/", "--chdir", WORLD]


def _environment(needs: Needs) -> dict[str, str]:
    return base_env(HOME, TMP, program_path(needs.programs, SYSTEM_PATH))


def _inside(root: Root, place: Place, needs: Needs) -> tuple[tuple[Path, str], ...]:
    pairs = [(place.world, WORLD), (place.home, HOME), (place.tmp, TMP), (place.out, OUT)]
    if needs.fixtures is not None:
        pairs.append((needs.fixtures, FIXTURES))
    return (*pairs, *((folder, str(folder)) for folder in root.visible()))


def _in_the_way(root: Root) -> str:
    """What lies where the trial's places are shown cannot be shown itself, or it would be part of the world."""
    taken = [Path(place) for place in (WORLD, HOME, OUT, FIXTURES)]
    for folder in root.visible():
        for place in taken:
            if folder == place or place in folder.parents:
                return f"The sandbox cannot show {folder}, because {place} is the trial's own place there; move it."
    return ""


def _shown(root: Root, place: Place, needs: Needs) -> str:
    """What must not be seen may not lie in a folder that is: a venv around the bench would show the fixtures."""
    for secret in (*needs.hidden, place.root):
        real = Path(os.path.realpath(secret))
        for folder in root.visible():
            shown = Path(os.path.realpath(folder))
            if real == shown or shown in real.parents:
                return (
                    f"The sandbox would show {secret} to the agent, because it lies in {folder}, which the interpreter "
                    "or the agent's program needs; move one of them."
                )
    return ""


@contextlib.contextmanager
def _captured() -> Iterator[int]:
    """A file in memory for what bubblewrap says; the caller closes it."""
    yield os.memfd_create("bwrap")


def _said(descriptor: int) -> str:
    return os.pread(descriptor, 2000, 0).decode(errors="replace").strip()
