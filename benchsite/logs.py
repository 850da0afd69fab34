"""Logging by structlog: one line an event, readable or JSON."""

from __future__ import annotations

from typing import Any

import structlog

SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def _console() -> Any:
    """Tracebacks stay plain: the rich ones print local variables, and among them may be a token."""
    return structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)


def logging_settings(level: str, format: str) -> dict[str, Any]:
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
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
        "loggers": {"django.server": {"handlers": ["stderr"], "level": "WARNING", "propagate": False}},
    }
