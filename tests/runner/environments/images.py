"""An image for containers, made of this machine's own files: no mirror is asked. It holds Python and a few programs."""

from __future__ import annotations

import os
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
STUBS = ("librt.so.1", "libdl.so.2", "libpthread.so.0")
"""Empty since glibc 2.34, and still asked for by programs that were built with an earlier one."""
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
    library = _stdlib()
    modules = [path for path in library if path.suffix == ".so"]
    given: dict[str, Path] = {f"/usr/bin/{path.name}": path.resolve() for path in programs}
    libraries = _libraries([*given.values()], modules)
    given |= {f"{path.parent.resolve()}/{path.name}": path.resolve() for path in libraries}
    folder = next(path.parent.resolve() for path in libraries if path.name.startswith("libc.so"))
    given |= {str(folder / name): (folder / name).resolve() for name in STUBS if (folder / name).exists()}
    given |= {str(path): path for path in library} | {str(python): python}
    for top in ("bin", "lib", "lib64", "sbin"):
        if Path(f"/{top}").is_symlink():
            yield Path(f"/{top}"), top
    for folder in sorted({above for path in given for above in Path(path).parents}):
        if _plain(folder):
            yield folder, str(folder).lstrip("/")
    for inside, path in given.items():
        yield path, inside.lstrip("/")
    yield python, "usr/bin/python3"


def _plain(folder: Path) -> bool:
    return folder != Path("/") and not any(one.is_symlink() for one in (folder, *folder.parents))


def _stdlib() -> list[Path]:
    root = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix}))
    found = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(set(names) - LEFT_OUT)
        kept = (name for name in files if name.endswith((".py", ".so")) and not _UNUSED.fullmatch(name))
        found += [Path(folder, name) for name in sorted(kept)]
    return found


def _libraries(programs: list[Path], modules: list[Path]) -> set[Path]:
    """What programs and modules are linked with: these two programs stand for the others, Python tells of its own."""
    shells = [str(path) for path in programs if path.name in ("bash", "ls")]
    told = subprocess.run(["ldd", *shells], capture_output=True, text=True, check=False).stdout
    found = set(re.findall(r"(?:=> )?(/\S+) \(0x", told))
    names = [path.name.partition(".")[0] for path in modules]
    code = f"[__import__(name) for name in {names!r}]; print(open('/proc/self/maps').read())"
    python = sys._base_executable  # type: ignore[attr-defined]
    maps = subprocess.run([python, "-I", "-S", "-c", code], capture_output=True, text=True, check=True).stdout
    mapped = {Path(line.split()[-1]) for line in maps.splitlines() if ".so" in line}
    return {Path(path) for path in found} | {name for path in mapped for name in _names_of(path)}


def _names_of(library: Path) -> list[Path]:
    """A mapped file is named in full, and asked for by the shorter names that link to it."""
    stem = library.name.partition(".so")[0]
    return [path for path in library.parent.glob(f"{stem}.so*") if path.resolve() == library.resolve()]
