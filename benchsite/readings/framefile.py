"""A run's frame as a file that is sent while it is read: CSV, JSON or Parquet, each as `benchsite export` writes it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from tempfile import TemporaryFile
from typing import IO

from runner.frames import write_csv, write_parquet_parts

from .frame import Frame

NO_PARQUET = "This site cannot write Parquet, since pyarrow is not installed; CSV and JSON have the same columns."
TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "parquet": "application/vnd.apache.parquet"}
PIECE = 1 << 16


def has_parquet() -> bool:
    return find_spec("pyarrow") is not None


def refusal(kind: str) -> str:
    """Say why this site cannot write a kind of file; empty where it can."""
    return NO_PARQUET if kind == "parquet" and not has_parquet() else ""


def written(frame: Frame, kind: str) -> Iterator[bytes]:
    return WRITERS[kind](frame)


def _csv(frame: Frame) -> Iterator[bytes]:
    for number, columns in enumerate(frame.parts()):
        text = io.StringIO()
        write_csv(text, columns, head=number == 0)
        yield text.getvalue().encode()


def _json(frame: Frame) -> Iterator[bytes]:
    """Columns stand one after the other, and rows are read once: what waits for its turn waits in a file."""
    with TemporaryFile() as file:
        places = _put_down(file, frame)
        for number, (name, pieces) in enumerate(places.items()):
            yield f"{', ' if number else '{'}{json.dumps(name)}: [".encode()
            for nth, (at, length) in enumerate(pieces):
                file.seek(at)
                yield (b", " if nth else b"") + file.read(length)
            yield b"]"
        yield b"}"


def _put_down(file: IO[bytes], frame: Frame) -> dict[str, list[tuple[int, int]]]:
    """Write each part of each column; gives where, as (place, length), by column."""
    places: dict[str, list[tuple[int, int]]] = {name: [] for name in frame.names}
    for columns in frame.parts():
        for name, values in columns.items():
            if values:
                at = file.tell()
                places[name].append((at, file.write(json.dumps(values)[1:-1].encode())))
    return places


def _parquet(frame: Frame) -> Iterator[bytes]:
    with TemporaryFile() as file:
        write_parquet_parts(file, frame.manifest, frame.parts())
        file.seek(0)
        while piece := file.read(PIECE):
            yield piece


WRITERS: dict[str, Callable[[Frame], Iterator[bytes]]] = {"csv": _csv, "json": _json, "parquet": _parquet}
