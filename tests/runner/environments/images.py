"""An image for containers, made of this machine's own files: no mirror is asked. It holds Python and a few programs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = (
    "sh",
    "bash",
    "cat",
    "ls",
    "head",
    "tail",
    "id",
    "env",
    "sleep",
    "setsid",
    "df",
    "mkdir",
    "rm",
    "touch",
    "wc",
    "readlink",
)
_UNUSED = re.compile(r"_?(tkinter|sqlite3|test\w*|xx\w*|nis|curses\w*|dbm|gdbm|ctypes_test)\.\S*so")
LEFT_OUT = {
    "test", "tests", "site-packages", "dist-packages", "idlelib", "tkinter", "lib2to3", "ensurepip", "turtledemo",
    "__pycache__", "pydoc_data", "distutils", "unittest", "dbm", "curses", "sqlite3", "xmlrpc", "wsgiref",
}  # fmt: skip
NAME = "localhost/benchsite-try:1"
FORMAT = """[storage]
driver = "{driver}"
graphroot = "{folder}/{driver}"
runroot = "{folder}/run"
"""


def make_image(folder: Path) -> dict[str, str]:
    """Import the image into a storage of its own; gives the variables that lead podman there."""
    config = folder / "storage.conf"
    env = {"CONTAINERS_STORAGE_CONF": str(config)}
    archive = folder / "image.tar"
    with tarfile.open(archive, "w") as tar:
        for path, inside in _files():
            tar.add(path, inside, recursive=False)
    search = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder)}
    argv = ["podman", "import", "-q", str(archive), NAME]
    for driver in ("overlay", "vfs"):  # the first is faster; on an overlay there is only the second
        config.write_text(FORMAT.format(folder=folder, driver=driver))
        done = subprocess.run(argv, env={**search, **env}, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    archive.unlink()
    assert done.returncode == 0, done.stderr
    return env


def _files() -> Iterator[tuple[Path, str]]:
    """(file here, path in the image): real files at the paths by which they are asked for."""
    python = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
    programs = {Path(found) for name in PROGRAMS if (found := shutil.which(name, path="/usr/bin:/bin"))}
    modules = [path for path in _stdlib() if path.suffix == ".so"]
    given: dict[str, Path] = {f"/usr/bin/{path.name}": path.resolve() for path in programs}
    libraries = _libraries([python, *given.values(), *modules])
    given |= {f"{path.parent.resolve()}/{path.name}": path.resolve() for path in libraries}
    given |= {str(path): path for path in _stdlib()} | {str(python): python}
    for top in ("bin", "lib", "lib64", "sbin"):
        if Path(f"/{top}").is_symlink():
            yield Path(f"/{top}"), top
    for folder in sorted({str(above) for path in given for above in Path(path).parents if _plain(above)}):
        yield Path(folder), folder.lstrip("/")
    for inside, path in given.items():
        yield path, inside.lstrip("/")
    yield python, "usr/bin/python3"


def _plain(folder: Path) -> bool:
    return folder != Path("/") and not any(one.is_symlink() for one in (folder, *folder.parents))


def _stdlib() -> list[Path]:
    root = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix}))
    found = (path for path in root.rglob("*") if path.is_file() and path.suffix in (".py", ".so"))
    kept = (path for path in found if not LEFT_OUT & set(path.relative_to(root).parts))
    return [path for path in kept if not _UNUSED.fullmatch(path.name)]


def _libraries(files: list[Path]) -> set[Path]:
    told = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True, check=False).stdout
    return {Path(path) for path in re.findall(r"(?:=> )?(/\S+) \(0x", told)}
