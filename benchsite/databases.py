"""Turn BENCHSITE_DATABASE_URL into Django's database settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536; "
    "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=268435456;"
)


def database(url: str, data: Path, pool: int) -> dict[str, Any]:
    if not url or url.startswith("sqlite"):
        return sqlite(Path(urlsplit(url).path) if url else data / "benchsite.sqlite3")
    return postgresql(url, pool)


def sqlite(path: Path) -> dict[str, Any]:
    """WAL, and transactions that take the write lock at once: a writer waits in line and never fails half-way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 30, "init_command": SQLITE_PRAGMAS},
    }


def postgresql(url: str, pool: int) -> dict[str, Any]:
    """`?host=/run/postgresql` names a socket; other query parts go to libpq as they are."""
    parts, options = urlsplit(url), dict(parse_qsl(urlsplit(url).query))
    settings: dict[str, Any] = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "benchsite",
        "USER": options.pop("user", "") or unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": options.pop("port", "") or str(parts.port or ""),
        "OPTIONS": dict(options),
    }
    if pool:
        settings["OPTIONS"]["pool"] = {"min_size": 0, "max_size": pool, "timeout": 20}
    return settings
