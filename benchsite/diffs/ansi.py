"""Terminal output for a page: colours become classes, every other escape is dropped and counted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_ESCAPE = re.compile(
    r"\x1b\[(?P<sgr>[\d;:]*)m"
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # other control sequences: cursor, erase, modes
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b"
)
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "struck"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("inverse",), 29: ("struck",)}
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


@dataclass(frozen=True)
class Style:
    fg: str = ""
    bg: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    struck: bool = False
    inverse: bool = False

    @property
    def classes(self) -> str:
        words = [f"fg-{self.fg}" if self.fg else "", f"bg-{self.bg}" if self.bg else ""]
        words += [name for name in ("bold", "dim", "italic", "underline", "struck", "inverse") if getattr(self, name)]
        return " ".join(f"t-{word}" for word in words if word)


@dataclass(frozen=True)
class Stretch:
    text: str
    classes: str = ""


@dataclass(frozen=True)
class Terminal:
    """`dropped` counts the escapes that had no meaning on a page; `style` is the one at the end."""

    stretches: tuple[Stretch, ...]
    dropped: int = 0
    style: Style = Style()

    @property
    def text(self) -> str:
        return "".join(stretch.text for stretch in self.stretches)


def plain(text: str) -> str:
    """Give the text without any escape, as it is searched."""
    return _ESCAPE.sub("", text)


def read(text: str, style: Style | None = None) -> Terminal:
    """Read terminal output, which begins in a style where it is the rest of something longer."""
    found: list[Stretch] = []
    style, dropped, at = style or Style(), 0, 0
    for match in _ESCAPE.finditer(text):
        _add(found, text[at : match.start()], style)
        at = match.end()
        if match["sgr"] is None:
            dropped += 1
        else:
            style = _sgr(style, match["sgr"])
    _add(found, text[at:], style)
    return Terminal(tuple(found), dropped, style)


def _add(found: list[Stretch], text: str, style: Style) -> None:
    text = text.replace("\r\n", "\n")
    if text and found and found[-1].classes == style.classes:
        found[-1] = Stretch(found[-1].text + text, style.classes)
    elif text:
        found.append(Stretch(text, style.classes))


def _sgr(style: Style, parameters: str) -> Style:
    codes = [int(part or 0) for part in re.split("[;:]", parameters)][:64] if len(parameters) < 400 else []
    while codes:
        code = codes.pop(0)
        if code == 38:
            style = replace(style, fg=_extended(codes))
        elif code == 48:
            style = replace(style, bg=_extended(codes))
        else:
            style = _simple(style, code)
    return style


def _simple(style: Style, code: int) -> Style:
    if code == 0:
        return Style()
    if code in _ON:
        return replace(style, **{_ON[code]: True})  # type: ignore[arg-type]  # the table names only switches
    if code in _OFF:
        return replace(style, **dict.fromkeys(_OFF[code], False))  # type: ignore[arg-type]  # likewise
    if code in (39, 49):
        return replace(style, fg="") if code == 39 else replace(style, bg="")
    for start, prefix in ((30, ""), (90, "bright-")):
        if start <= code < start + 8:
            return replace(style, fg=prefix + _COLOURS[code - start])
        if start + 10 <= code < start + 18:
            return replace(style, bg=prefix + _COLOURS[code - start - 10])
    return style


def _extended(codes: list[int]) -> str:
    """Read the rest of an 8-bit or 24-bit colour and give the nearest of the sixteen names."""
    kind = codes.pop(0) if codes else 0
    if kind == 5 and codes:
        return _indexed(codes.pop(0))
    if kind == 2 and len(codes) >= 3:
        red, green, blue = (codes.pop(0) for _ in range(3))
        return _nearest(red, green, blue)
    return ""


def _indexed(number: int) -> str:
    if number < 16:
        return ("bright-" if number > 7 else "") + _COLOURS[number % 8]
    if number > 231:
        level = 8 + (min(number, 255) - 232) * 10
        return _nearest(level, level, level)
    steps = (0, 95, 135, 175, 215, 255)
    cube = number - 16
    return _nearest(steps[cube // 36], steps[cube // 6 % 6], steps[cube % 6])


def _nearest(red: int, green: int, blue: int) -> str:
    high = max(red, green, blue)
    if high - min(red, green, blue) < 40:
        return "black" if high < 64 else "bright-black" if high < 144 else "white" if high < 224 else "bright-white"
    bits = sum(1 << n for n, part in enumerate((red, green, blue)) if part * 2 > high)
    return ("bright-" if high > 200 else "") + _COLOURS[bits]
