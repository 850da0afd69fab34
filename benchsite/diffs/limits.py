"""Where the viewer stops, and why a reader is told. Every limit of the diff and file views stands here."""

from __future__ import annotations

AUTO_OPEN_LINES = 400
"""A file with more changed lines is folded until it is asked for."""
AUTO_OPEN_BYTES = 50_000
"""So is one whose shown text is larger than this."""
FIRST_ROWS = 250
"""What a file shows at once; its other rows follow by themselves, or by a link. A screen has some fifty."""
CLICK_ROWS = 20_000
"""More rows than this are never sent at once: the rest is one click further."""
MAX_LINES = 100_000
MAX_BYTES = 5_000_000
"""A side with more lines or bytes is not compared: sizes, digests and the first different byte are told instead."""

COLOUR_LINES = 20_000
COLOUR_BYTES = 1_000_000
COLOUR_LINE = 1_000
"""Beyond any of these a file is shown without syntax colours. Why so much: docs/decisions, colours as far as read."""
PAGE_COLOURED = 4_000
"""Lines a page of changes colours that no cache holds; files after that are fetched when they come into view."""

CUT_LINE = 2_000
WHOLE_LINE = 200_000
"""A longer line is cut; up to the second figure the rest is one click away, beyond it in the file itself."""
MINIFIED_MEAN = 300
MINIFIED_LINE = 5_000
"""A mean or a single line longer than this makes a file "minified": folded by default."""

INLINE_ROWS = 3_000
INLINE_FILES = 20
"""What a page of changes carries itself; later files are fetched when they come into view."""
COUNTED_FILES = 300
COUNTED_BYTES = 20_000_000
"""Files to a page of changes, and the bytes read to count their lines."""
CHUNK_ROWS = 100
"""Rows to a table: a browser skips the layout of chunks out of sight."""

PAIR_PRODUCT = 2_500
"""Lines of a replaced block are paired while deleted × inserted stays below this."""
PAIR_SHARE = 0.5
MARK_TOKENS = 400
MARK_CHARS = 1_000
MARK_SHARE = 0.6
"""When more than this share of a line changed, marks would say nothing and are dropped."""
ISLAND = 3
"""Fewer equal characters than this between two marks join them."""

RENAME_SHARE = 0.5
RENAME_FILES = 500
RENAME_BYTES = 1_000_000
RENAME_WORK = 2_000_000
"""Lines compared in search of renames by likeness, all pairs together."""

CARRIED_FILES = 300
CARRIED_BYTES = 5_000_000
CARRIED_TOTAL = 50_000
"""Files, bytes and changed lines of a change in which moved lines are looked for; a larger one has no marks of them."""
CARRIED_LINES = 2
CARRIED_CHARS = 20
"""Fewer lines, or fewer letters and digits in them, are no block that one would say was moved."""
CARRIED_WORK = 2_000_000
"""Lines compared in search of moved ones; what is not found by then has no mark."""
CARRIED_PLACES = 20
"""A line that came in more places than this begins no block."""

NAMED_CHARS = 1_000_000
"""Characters of one text that are searched for the names of files."""

SNIFF = 8_000
"""A NUL byte in this head makes a file binary, as git has it."""
HEX_HEAD = 256
IMAGE_BYTES = 10_000_000
MAP_MARKS = 400
DANGER_LINES = 200
"""Lines with hidden characters that a reader can walk through."""

FOLDED_NAMES = frozenset(
    {
        *("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "uv.lock", "Pipfile.lock", "Cargo.lock"),
        *("composer.lock", "Gemfile.lock", "go.sum", "flake.lock"),
    }
)
FOLDED_FOLDERS = frozenset({"node_modules", ".git", "__pycache__", ".venv", "vendor"})
FOLDED_ENDS = (".min.js", ".min.css", ".js.map", ".css.map", "_pb2.py", "_pb2.pyi", ".pb.go")
GENERATED = ("@generated", "DO NOT EDIT", "do not edit by hand")
GENERATED_LINES = 5
"""Generated things: in the list with their counts, folded by default. A file says so itself in its first lines."""
