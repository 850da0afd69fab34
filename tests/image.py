"""The image that containers are tested with: Debian's own packages, unpacked by mmdebstrap and imported once a machine.

Python and a shell need none of their packages' scripts, and without these it takes a quarter of the time.
`python -m tests.image` makes it beforehand.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from runner.environments import engines
from runner.worlds.places import remove_tree

NAME = "localhost/benchsite-try:1"
MISSING = "mmdebstrap is not installed (on Debian: apt install mmdebstrap)"
STORES = Path(__file__).parent.parent / "var" / "image"
PACKAGES = ("base-passwd", "bash", "coreutils", "dash", "libc-bin", "python3", "util-linux")
LINKS = 'cd "$1" && for one in bin sbin lib lib64; do mkdir -p usr/$one && ln -s usr/$one $one; done'
LEAN = (
    'cd "$1" && for one in passwd group; do cp usr/share/base-passwd/$one.master etc/$one; done && '
    "rm -rf usr/share/doc usr/share/man usr/share/locale usr/lib/*/gconv"
)
RECIPE = (
    "mmdebstrap", "--quiet", "--variant=extract", f"--include={','.join(PACKAGES)}", f"--setup-hook={LINKS}",
    f"--extract-hook={LEAN}", '--aptopt=Acquire::Languages "none"',
)  # fmt: skip
STORAGE = """[storage]
driver = "{driver}"
graphroot = "{folder}/{driver}"
runroot = "{running}"
[storage.options]
additionalimagestores = [{others}]
[storage.options.overlay]
skip_mount_home = "true"
"""
IN_MEMORY = Path("/dev/shm")
ROOM = 1 << 30


class CannotMake(Exception):
    pass


def missing() -> str:
    """Say what keeps an image from being made; "" where nothing does."""
    return "" if shutil.which("mmdebstrap") else MISSING


def for_docker() -> None:
    """Have the image in the daemon's own storage."""
    if not engines.ask("image", "inspect", NAME)[0]:
        _import({})


@contextlib.contextmanager
def for_podman() -> Iterator[dict[str, str]]:
    """Make an empty storage that sees the image in this machine's; gives the variables that lead podman there."""
    store = _store()
    driver = (store / "driver").read_text()
    folder = Path(tempfile.mkdtemp(prefix="tests-", dir=STORES))
    running = Path(tempfile.mkdtemp(prefix="podman-"))  # podman waits 20 s for sockets whose paths grow too long
    try:
        yield _storage(folder, driver, f'"{store / driver}"', running=running)
    finally:
        remove_tree(folder)
        remove_tree(running)


def _store() -> Path:
    """The storage that holds the image and nothing else; whoever comes first makes it."""
    release, mirror = _archive()
    told = repr((RECIPE, STORAGE, release, mirror, platform.machine()))
    store = STORES / f"image-{hashlib.sha256(told.encode()).hexdigest()[:16]}"
    STORES.mkdir(parents=True, exist_ok=True)
    with (STORES / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (store / "driver").exists():
            for old in STORES.glob("image-*"):
                remove_tree(old)
            store.mkdir()
            (store / "driver").write_text(_filled(store))
    return store


def _filled(store: Path) -> str:
    """Import the image, and tell with which driver: overlay is faster, but does not lie on another overlay."""
    for driver in ("overlay", "vfs"):
        env = _storage(store, driver)
        if subprocess.run(["podman", "images"], env=os.environ | env, capture_output=True, check=False).returncode == 0:
            _import(env)
            return driver
    raise CannotMake(f"podman has no storage in {store}.")


def _storage(folder: Path, driver: str, others: str = "", running: Path | None = None) -> dict[str, str]:
    config = folder / "storage.conf"
    running = running or folder / "run"
    config.write_text(STORAGE.format(driver=driver, folder=folder, running=running, others=others))
    return {"CONTAINERS_STORAGE_CONF": str(config)}


def _import(env: dict[str, str]) -> None:
    """Carry the root file system from the one program to the other."""
    release, mirror = _archive()
    free = IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM
    making = os.environ | ({"TMPDIR": str(IN_MEMORY)} if free else {})
    argv, importing = [*RECIPE, release, "-", *([mirror] if mirror else [])], [engines.engine(), "import", "-", NAME]
    with tempfile.TemporaryFile("w+") as said:
        with subprocess.Popen(argv, env=making, stdout=subprocess.PIPE, stderr=said) as maker:
            imported = subprocess.run(importing, env=os.environ | env, stdin=maker.stdout, stderr=said, check=False)
        said.seek(0)
        if maker.returncode or imported.returncode:
            raise CannotMake(f"No image could be made: {engines.last_line(said.read())}")


def _archive() -> tuple[str, str]:
    """This machine's release, and the address from which its packages come; "" for Debian's own."""
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "stable")
    words = ["--no-release-info", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"]
    told = subprocess.run(["apt-get", "indextargets", *words], capture_output=True, text=True, check=False).stdout
    rows = (line.split() for line in told.splitlines())
    return release, next((row[2] for row in rows if row[:2] == [release, "main"]), "")


if __name__ == "__main__":
    if why := missing() or ("" if engines.is_podman() else engines.MISSING):
        sys.exit(why)
    _store()
