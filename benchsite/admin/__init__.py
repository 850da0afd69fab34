"""The admin: curation, people, tokens. Importing this registers all of it."""

from . import curation, people, things

__all__ = ["curation", "people", "things"]
