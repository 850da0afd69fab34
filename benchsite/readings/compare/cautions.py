"""What parts the sides besides what is compared: differences of definition, pins and circumstances, each by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchsite.readings.loaded import Loaded
from benchsite.readings.notices import Notice
from benchsite.readings.words import count, listed
from runner.hashes import different
from runner.statistics.pairing import MEASURED_BY

from .sides import Member, Side

PARTS = {
    "schema": "the schema (what is measured)",
    "template": "the start world",
    "fixtures": "the fixtures",
    "suite": "the world's own test suite",
    "setup": "the setup",
    "evaluation": "the evaluation",
    "judge": "the judge",
    "code": "the code of the bench or of a scenario",
    "capture": "the capture rules",
    "limits": "the limits",
    "environment": "the image of the environment",
}
CIRCUMSTANCES = ("isolation", "environment", "network", "evaluation", "limits", "protocol", "harness", "host")
"""What a manifest says of how a run was made; where these differ, a difference may be theirs."""
WARN = ("isolation", "environment", "network", "evaluation", "limits", "protocol")


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same on all sides, with its value on each; `kind` says what it belongs to."""

    name: str
    values: tuple[str, ...]
    kind: str


def differences(sides: Sequence[Side]) -> tuple[Difference, ...]:
    """List axes, pins, parts of the definition and circumstances that differ between the sides."""
    kind = sides[0].of.kind
    found = list(_axes(sides)) if kind != "run" else []
    found += _pins(sides)
    if kind != "subject" and len({side.run.pk for side in sides}) > 1:
        found += [*_parts(sides), *_circumstances(sides)]
    return tuple(found)


def _axes(sides: Sequence[Side]) -> Iterator[Difference]:
    axes = [side.members[0].axes for side in sides]
    for name in sorted({name for one in axes for name in one}):
        yield from _differs(name, [one.get(name, "–") for one in axes], "axis")


def _pins(sides: Sequence[Side]) -> Iterator[Difference]:
    """Compare what was really applied: of runs, cell by cell where both have the cell."""
    if sides[0].of.kind != "run":
        yield from _of_cells([side.members for side in sides], "")
        return
    own = [{member.subject: member for member in side.members} for side in sides]
    for subject, member in own[0].items():
        if all(subject in one for one in own):
            yield from _of_cells([(one[subject],) for one in own], f"{_short(member)}: ")


def _of_cells(cells: Sequence[Sequence[Member]], prefix: str) -> Iterator[Difference]:
    versions = [_said(member.agent_version for member in members) for members in cells]
    yield from _differs(f"{prefix}agent version", versions, "pin")
    pins = [_flat(members[0].pin) for members in cells]
    axes = {str(value) for members in cells for value in members[0].axes.values()}
    for name in sorted({name for pin in pins for name in pin} - {"version"}):
        values = [str(pin.get(name, "–")) for pin in pins]
        if not set(values) <= axes:  # what an axis says already is not said twice
            yield from _differs(f"{prefix}{name}", values, "pin")


def _parts(sides: Sequence[Side]) -> Iterator[Difference]:
    hashes = [side.run.version.hashes for side in sides]
    for name in sorted({name for one in hashes for name in one} - {"definition"}):
        values = [str(one.get(name) or "–")[:8] for one in hashes]
        yield from _differs(PARTS.get(name, name), values, "definition")


def _circumstances(sides: Sequence[Side]) -> Iterator[Difference]:
    read = {side.run.pk: Loaded(side.run).manifest for side in sides}
    manifests = [read[side.run.pk] for side in sides]
    for name in CIRCUMSTANCES:
        yield from _differs(name, [_words(manifest.get(name)) for manifest in manifests], "circumstance")


def _differs(name: str, values: Sequence[str], kind: str) -> Iterator[Difference]:
    if len(set(values)) > 1:
        yield Difference(name, tuple(values), kind)


def _said(values: Any) -> str:
    return ", ".join(sorted({value for value in values if value})) or "–"


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, inner in value.items():
        made.update(_flat(inner, f"{prefix}{key}.") if isinstance(inner, dict) else {f"{prefix}{key}": inner})
    return made


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {inner}" for name, inner in _flat(value).items()) or "–"
    return str(value) if value not in (None, "") else "–"


def _short(member: Member) -> str:
    return str(member.axes.get("agent") or next(iter(member.axes.values()), "default"))


def cautions(sides: Sequence[Side], found: Sequence[Difference], shared: bool) -> tuple[Notice, ...]:
    """Say what a reader must know before believing a difference. `shared`: the runs have a cell in common."""
    rules: tuple[Callable[[], Iterator[Notice]], ...] = (
        lambda: _definition(sides),
        lambda: _unlike(sides[0].of.kind, found),
        lambda: _unjudged(sides),
        lambda: _cells(sides, shared),
        lambda: _many(sides),
    )
    made = [notice for rule in rules for notice in rule()]
    return tuple(sorted(made, key=lambda notice: ("danger", "warn", "info").index(notice.level)))


def _definition(sides: Sequence[Side]) -> Iterator[Notice]:
    base = sides[0]
    for side in sides[1:]:
        parts = different(base.run.version.hashes, side.run.version.hashes)
        if fatal := [PARTS.get(part, part) for part in parts if part in MEASURED_BY]:
            text = f"{listed(fatal, 7)} differ{'s' if len(fatal) == 1 else ''} between {base.title} and {side.title}"
            rest = "no case measures the same on both, so none is paired."
            yield Notice("danger", f"{_capital(text)}: {rest}", anchor="#differences")
        elif parts:
            names = listed([PARTS.get(part, part) for part in parts], 7)
            text = f"{names} differ{'s' if len(parts) == 1 else ''} between {base.title} and {side.title}"
            rest = "only scenarios that did not change are paired" if "code" in parts else "a difference may be theirs"
            yield Notice("warn", f"{_capital(text)}: {rest}.", anchor="#differences")


def _unlike(kind: str, found: Sequence[Difference]) -> Iterator[Notice]:
    for one in found:
        if one.kind == "circumstance" and one.name in WARN:
            text = f"{_capital(one.name)} differs: {' against '.join(one.values)}. A difference may be its doing."
            yield Notice("warn", text, anchor="#differences")
        elif one.name.endswith("agent version") and (kind != "cell" or not _other_agent(found)):
            yield Notice(
                "warn", f"{_capital(one.name)} differs: {' against '.join(one.values)}.", anchor="#differences"
            )


def _other_agent(found: Sequence[Difference]) -> bool:
    return any(one.name == "agent" and one.kind == "axis" for one in found)


def _unjudged(sides: Sequence[Side]) -> Iterator[Notice]:
    runs = {run.pk: run for side in sides for run in side.runs}.values()
    for run in runs:
        if run.verdict != "accepted":
            yield Notice("warn", f"Run {run.label} is {run.verdict}: a curator has not accepted it.")
        if run.state != "finished":
            yield Notice("warn", f"Run {run.label} is {run.state}: not all of its trials have ended.")


def _cells(sides: Sequence[Side], shared: bool) -> Iterator[Notice]:
    if sides[0].of.kind != "run":
        return
    if not shared:
        yield Notice("warn", "The runs have no cell in common: all cells of each are pooled, and the agents differ.")
        return
    common = set.intersection(*({member.subject for member in side.members} for side in sides))
    left = {side.title: len({m.subject for m in side.members} - common) for side in sides}
    if any(left.values()):
        words = listed([f"{count(many, 'cell')} of {title}" for title, many in left.items() if many], 6)
        text = f"{count(len(common), 'cell is', 'cells are')} in common; left out: {words}."
        yield Notice("info", text)


def _many(sides: Sequence[Side]) -> Iterator[Notice]:
    looks = len(sides) - 1
    if looks > 1:
        odds = f"{(1 - 0.95**looks) * 100:.0f} %"
        text = (
            f"{looks} comparisons, each at 95 %: where nothing differs, one of them still seems to in {odds} of cases."
        )
        yield Notice("info", text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
