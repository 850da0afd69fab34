"""Logging by structlog: one line an event, readable or JSON; the last errors are kept in a file too."""

from __future__ import annotations

import json
import logging
import os
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

KEPT = 256 << 10
"""So large a file of errors is put aside, and the one put aside before forgotten."""
SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def _console() -> Any:
    """Tracebacks stay plain: the rich ones print local variables, and among them may be a token."""
    return structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)


class KeptErrors(logging.Handler):
    """Appends what went wrong to a file, a line each: what, where, when, and the mark that a reader was shown. Neither
    messages of exceptions nor their variables are kept, for these may hold a secret; the log has the whole."""

    def __init__(self, file: Path) -> None:
        super().__init__(logging.ERROR)
        self.file = file

    def emit(self, record: logging.LogRecord) -> None:
        row = {"at": datetime.fromtimestamp(record.created, UTC).isoformat(), **_told(record)}
        try:
            if self.file.exists() and self.file.stat().st_size > KEPT:
                os.replace(self.file, older(self.file))  # noqa: PTH105  one call, whoever else does it now
            with self.file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
        except OSError:  # a full disk is told by the other handler
            return


def _told(record: logging.LogRecord) -> dict[str, str]:
    event = record.msg if isinstance(record.msg, dict) else {}
    what, where = str(event.get("event") or record.getMessage()), str(event.get("path") or record.name)
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        last = traceback.extract_tb(error.__traceback__)[-1:]
        what = f"{type(error).__name__}: {what}"
        where += "".join(f", {Path(frame.filename).name}:{frame.lineno}" for frame in last)
    return {"what": what[:300], "where": where[:300], "mark": str(event.get("mark") or "")}


def older(file: Path) -> Path:
    return file.with_suffix(".old.jsonl")


def last_errors(file: Path, most: int = 10) -> list[dict[str, Any]]:
    """Give the last errors kept, the newest last; a line cut off by a full disk is passed over."""
    found: list[dict[str, Any]] = []
    for one in (older(file), file):
        try:
            lines = one.read_text(encoding="utf-8", errors="replace").splitlines()[-most:]
        except OSError:
            continue
        for line in lines:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found[-most:]


def logging_settings(level: str, format: str, errors: Path) -> dict[str, Any]:
    """Configure structlog, and give Django's LOGGING so that both kinds of loggers end in one format."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    last = structlog.processors.JSONRenderer() if format == "json" else _console()
    chain = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.format_exc_info, last]
    if format != "json":
        chain.pop(1)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": SHARED,
                "processors": chain,
            }
        },
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "line"},
            "errors": {"()": KeptErrors, "file": errors},
        },
        "root": {"handlers": ["stderr", "errors"], "level": level.upper()},
        "loggers": {"django.server": {"handlers": ["stderr"], "level": "WARNING", "propagate": False}},
    }
