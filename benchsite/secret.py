"""The secret key: generated and kept for local use, demanded everywhere else."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from .env import BadSetting

DEMAND = (
    "BENCHSITE_DEBUG is off, so a secret key is needed: set BENCHSITE_SECRET_KEY (at least 32 characters) "
    "or BENCHSITE_SECRET_KEY_FILE."
)


def secret_key(given: str, file: str, debug: bool, data: Path) -> str:
    if given:
        return given
    if file:
        return _read(Path(file))
    if not debug:
        raise BadSetting(DEMAND)
    return _kept(data / "secret_key")


def _read(path: Path) -> str:
    try:
        key = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BadSetting(f"BENCHSITE_SECRET_KEY_FILE: {path} cannot be read: {error.strerror}.") from error
    if len(key) < 32:
        raise BadSetting(f"BENCHSITE_SECRET_KEY_FILE: the key in {path} is shorter than 32 characters.")
    return key


def _kept(path: Path) -> str:
    """Make the key once; of two processes that start together the first to link it into place wins."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        beside.touch(mode=0o600)
        beside.write_text(secrets.token_urlsafe(50), encoding="utf-8")
        try:
            os.link(beside, path)
        except FileExistsError:
            pass
        finally:
            beside.unlink()
    return _read(path)
