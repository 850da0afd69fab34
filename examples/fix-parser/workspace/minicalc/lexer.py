"""Text to tokens."""

import re
from dataclasses import dataclass

from minicalc.errors import CalcError

SYMBOLS = "+-*/^(),"
_NUMBER = re.compile(r"\d+(\.\d+)?")
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Token:
    kind: str  # number, name, symbol, end
    text: str
    position: int


def tokens(text):
    """Give the tokens of a text; the last one is the end."""
    found = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        token = _token(text, position)
        found.append(token)
        position += len(token.text)
    found.append(Token("end", "", len(text)))
    return found


def _token(text, position):
    for kind, pattern in (("number", _NUMBER), ("name", _NAME)):
        match = pattern.match(text, position)
        if match:
            return Token(kind, match[0], position)
    if text[position] in SYMBOLS:
        return Token("symbol", text[position], position)
    raise CalcError(f"unexpected {text[position]!r} at position {position}")
