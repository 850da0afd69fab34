"""What a process of the site keeps of the runs it read last is dropped, as if it had not read them."""

from __future__ import annotations


def forget() -> None:
    from benchsite.readings import loaded
    from benchsite.readings.compare import pieces

    for kept in (loaded._kept_slots, loaded._kept_counts, loaded._kept_values):
        kept.cache_clear()
    pieces._kept.clear()
