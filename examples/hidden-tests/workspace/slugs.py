"""Addresses from titles: words of letters and digits, in lower case, joined by hyphens."""

import re

LONGEST = 30


def slug(title):
    """Give the address; words that make it longer than LONGEST are left out."""
    found = ""
    for word in re.findall(r"[a-z0-9]+", title.lower()):
        longer = f"{found}-{word}" if found else word
        if len(longer) > LONGEST:
            break
        found = longer
    return found
