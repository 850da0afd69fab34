"""Load a bench: execute its bench.py in this process, under a private module name."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType

from .definition import Bench
from .digests import sha256
from .errors import BenchError, RunnerError

BENCH_FILE = "bench.py"
_reading: ContextVar[bool] = ContextVar("reading", default=False)


def load_bench(folder: Path) -> Bench:
    """Give the one bench that `<folder>/bench.py` declares; a fault in it is told with file and line."""
    if _reading.get():
        raise RuntimeError("a bench cannot run one while it is read; a step of a script is `steps.run(...)`")
    folder = Path(folder).resolve()
    file = folder / BENCH_FILE
    if folder.is_file():
        raise BenchError(f"{folder} is a file; name the bench's folder, {folder.parent}.")
    if not file.is_file():
        raise BenchError(f"There is no bench.py in {folder}; `benchsite init {folder}` makes a bench that runs.")
    module = _module(file)
    with bench_on_path(folder):
        _execute(module, file)
    benches = list({id(value): value for value in vars(module).values() if isinstance(value, Bench)}.values())
    if len(benches) != 1:
        found = "no bench" if not benches else f"{len(benches)} benches"
        raise BenchError(f"It declares {found}; write exactly one `bench = define_bench(...)`.", file=file)
    return benches[0]


def _module(file: Path) -> ModuleType:
    name = f"_benchsite_{sha256(str(file).encode())[:16]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look a class's module up here
    return module


def _execute(module: ModuleType, file: Path) -> None:
    reading = _reading.set(True)
    try:
        code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
        exec(code, vars(module))
    except SyntaxError as error:
        end = "" if error.msg.endswith("?") else "."  # it may ask whether a comma was forgotten
        raise BenchError(
            f"It is not valid Python: {error.msg}{end}", file=error.filename or file, line=error.lineno
        ) from error
    except RunnerError:
        raise
    except (Exception, SystemExit) as error:
        raise fault_of(error, file) from error
    finally:
        _reading.reset(reading)


def fault_of(error: BaseException, file: Path) -> BenchError:
    """Tell an exception by the last line of the bench it passed through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _below(frame.filename, file.parent)]
    where, line = (Path(frames[-1].filename), frames[-1].lineno) if frames else (file, None)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return BenchError(f"It raised {said.rstrip('.')}.", file=where, line=line)


def line_of(file: Path, word: str) -> int | None:
    """Find where bench.py writes a word in quotes, so that a sentence about it can lead there."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    quoted = (f'"{word}"', f"'{word}'")
    return next((number for number, line in enumerate(lines, 1) if any(one in line for one in quoted)), None)


def _below(name: str, folder: Path) -> bool:
    return Path(name).is_absolute() and Path(name).is_relative_to(folder)


@contextmanager
def bench_on_path(folder: Path) -> Iterator[None]:
    """Let bench.py import its neighbours; forget them after, since two benches may both have a `helpers`."""
    before, writes = set(sys.modules), sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True  # a sealed bench is read-only, and an author's folder is not ours to litter
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = writes
        for name in set(sys.modules) - before:
            if _below(getattr(sys.modules[name], "__file__", None) or "", folder):
                del sys.modules[name]
