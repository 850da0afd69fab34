"""The admin: curation, people, tokens. Importing this registers all of it."""

from . import blobs, curation, people, things

__all__ = ["blobs", "curation", "people", "things"]
