"""What a manifest declares, as rows: bench, version, measures, scenarios, cases, subjects, cells."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from django.contrib.auth.models import Group

from benchsite.accounts.access import CURATORS
from benchsite.benches.models import Bench, Case, Measure, Scenario, ScenarioVersion, Subject, Version
from benchsite.runs.models import Cell, Run
from runner.digests import digest
from runner.errors import JournalError
from runner.manifest import Manifest
from runner.schema import MeasureSpec

from . import clean

PART = r"[a-z0-9][a-z0-9._-]{0,62}"
BENCH = re.compile(rf"({PART})/({PART})")
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
MOST_AXES = 100


@dataclass(frozen=True)
class Declared:
    """Ids of rows by position in the manifest; cases by (scenario, case)."""

    bench: Bench
    version: Version
    measures: dict[str, tuple[int, MeasureSpec]]
    scenarios: list[int]
    cases: dict[tuple[int, int], int]


def check(manifest: Manifest) -> None:
    """Refuse a manifest whose names cannot be addresses, or that names one thing twice."""
    if not isinstance(manifest.run, str) or not ULID.fullmatch(manifest.run):
        raise JournalError(f"The run id {clean.text(manifest.run, 40)!r} is not a ULID.")
    split_name(manifest.bench)
    for what, names in (
        ("measure", [measure.key for measure in manifest.measures]),
        ("cell", [cell.id for cell in manifest.cells]),
        ("scenario", [scenario.id for scenario in manifest.scenarios]),
    ):
        twice = [clean.text(name, 60) for name, count in Counter(map(str, names)).items() if count > 1]
        if twice:
            raise JournalError(f"The manifest of run {manifest.run} names the {what} {twice[0]!r} twice.")
    if len(set(manifest.rows)) != len(manifest.rows):
        raise JournalError(f"The manifest of run {manifest.run} plans one trial twice.")
    if any(len(cell.axes) > MOST_AXES for cell in manifest.cells):
        raise JournalError(f"The manifest of run {manifest.run} has a cell of more than {MOST_AXES} axes.")


def split_name(full: str) -> tuple[str, str]:
    found = BENCH.fullmatch(full) if isinstance(full, str) else None
    if found and found[1] == CURATORS:
        raise JournalError(f"The owner {CURATORS!r} is refused: the group of that name decides what counts.")
    if not found:
        raise JournalError(
            f"The bench name {clean.text(full, 80)!r} is refused: it must be owner/name, "
            "each of a-z, 0-9, '.', '_' and '-', at most 63 characters long."
        )
    return found[1], found[2]


def owner_group(owner: str) -> Group:
    """An owner belongs to the group of the same name."""
    return Group.objects.get_or_create(name=owner)[0]


def bench_of(manifest: Manifest, visibility: str = Bench.Visibility.PUBLIC) -> Bench:
    """Find the bench, or make it; a title is taken over where there is none yet."""
    owner, name = split_name(manifest.bench)
    title = clean.text(manifest.title, 200)
    bench = Bench.objects.filter(owner=owner, name=name).first()
    if bench is None:
        return Bench.objects.create(
            owner=owner, name=name, group=owner_group(owner), visibility=visibility, title=title
        )
    if title and not bench.title:
        bench.title = title
        bench.save(update_fields=["title"])
    return bench


def declare(manifest: Manifest, bench: Bench) -> Declared:
    version = _version(manifest, bench)
    measures = _measures(manifest, version)
    scenarios = _scenarios(manifest, bench, version)
    return Declared(bench, version, measures, scenarios, _cases(manifest, scenarios))


def definition_of(manifest: Manifest) -> str:
    """Imported runs may know no definition hash; their schema and scenarios stand in."""
    if re.fullmatch(r"[0-9a-f]{64}", str(manifest.definition)):
        return manifest.definition
    return digest({"schema": manifest.schema_hash, "scenarios": sorted(s.id for s in manifest.scenarios)})


def _version(manifest: Manifest, bench: Bench) -> Version:
    definition = definition_of(manifest)
    version, made = Version.objects.get_or_create(
        bench=bench,
        definition=definition,
        defaults={
            "number": clean.text(manifest.version, 60),
            "schema_hash": manifest.schema_hash,
            "schema": clean.tree([asdict(measure) for measure in manifest.measures]),
            "hashes": clean.tree(manifest.hashes),
            "template": _digest(manifest.template),
            "readme": _digest(manifest.readme),
            "protocol": clean.text(manifest.protocol, 12),
        },
    )
    if version.schema_hash != manifest.schema_hash:
        raise JournalError(f"The run {manifest.run} names the definition {definition[:8]}… with another schema.")
    number = clean.text(manifest.version, 60)
    if not made and (version.number, version.readme) != (number, _digest(manifest.readme)):
        version.number, version.readme = number, _digest(manifest.readme)
        version.save(update_fields=["number", "readme"])
    return version


def _digest(value: Any) -> str:
    return value if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) else ""


def _measures(manifest: Manifest, version: Version) -> dict[str, tuple[int, MeasureSpec]]:
    headline = manifest.headline
    rows = [
        Measure(
            version=version,
            key=clean.name(spec.key, 100, "measure"),
            type=clean.text(spec.type, 10),
            objective=clean.text(spec.objective, 40),
            reducer=clean.text(spec.aggregate, 10),
            headline=spec is headline,
            label=clean.text(spec.label, 100),
            unit=clean.text(spec.unit, 40),
            description=clean.text(spec.description),
            worst=clean.number(spec.worst_value),
            ordinal=ordinal,
        )
        for ordinal, spec in enumerate(manifest.measures)
    ]
    Measure.objects.bulk_create(rows, ignore_conflicts=True)
    ids = dict(version.measures.values_list("key", "id"))
    return {spec.key: (ids[spec.key], spec) for spec in manifest.measures}


def _scenarios(manifest: Manifest, bench: Bench, version: Version) -> list[int]:
    Scenario.objects.bulk_create(
        [
            Scenario(bench=bench, slug=clean.name(s.slug, 100, "scenario"), name=clean.name(s.id, 300, "scenario"))
            for s in manifest.scenarios
        ],
        ignore_conflicts=True,
    )
    slugs = [s.slug for s in manifest.scenarios]
    ids = dict(Scenario.objects.filter(bench=bench, slug__in=slugs).values_list("slug", "id"))
    ScenarioVersion.objects.bulk_create(
        [_scenario_version(scenario, ids[scenario.slug], version) for scenario in manifest.scenarios],
        ignore_conflicts=True,
    )
    return [ids[slug] for slug in slugs]


def _scenario_version(scenario: Any, id: int, version: Version) -> ScenarioVersion:
    fingerprint = _digest(scenario.hash) or digest([case.fingerprint for case in scenario.cases])
    return ScenarioVersion(
        scenario_id=id,
        version=version,
        fingerprint=fingerprint,
        file=clean.text(scenario.file, 400),
        line=clean.whole(scenario.line) or 1,
        function=clean.text(scenario.function, 200),
        doc=clean.text(scenario.doc),
        source=_digest(scenario.source),
    )


def _cases(manifest: Manifest, scenarios: list[int]) -> dict[tuple[int, int], int]:
    rows = [
        Case(scenario_id=id, key=clean.name(case.key, 300, "case"))
        for scenario, id in zip(manifest.scenarios, scenarios, strict=True)
        for case in scenario.cases
    ]
    Case.objects.bulk_create(rows, ignore_conflicts=True, batch_size=2000)
    found = Case.objects.filter(scenario__in=set(scenarios)).values_list("scenario_id", "key", "id")
    ids = {(scenario, key): id for scenario, key, id in found}
    return {
        (place, number): ids[scenarios[place], case.key]
        for place, scenario in enumerate(manifest.scenarios)
        for number, case in enumerate(scenario.cases)
    }


def make_cells(manifest: Manifest, run: Run, bench: Bench) -> list[int]:
    """Make the run's cells and the subjects they stand for; gives ids by position."""
    axes = [clean.tree(cell.axes) for cell in manifest.cells]
    hashes = [digest(values) for values in axes]
    rows = [Subject(bench=bench, axes=values, hash=hash) for values, hash in zip(axes, hashes, strict=True)]
    Subject.objects.bulk_create(rows, ignore_conflicts=True)
    subjects = dict(Subject.objects.filter(bench=bench, hash__in=hashes).values_list("hash", "id"))
    Cell.objects.bulk_create(
        [
            Cell(
                run=run,
                key10=cell.key10,
                name=clean.name(cell.id, 64, "cell"),
                subject_id=subjects[hashes[ordinal]],
                ordinal=ordinal,
                pin=clean.tree(cell.pin),
                agent_version=clean.text(agent_version(cell.pin), 100),
                isolation=clean.text(cell.isolation, 12),
            )
            for ordinal, cell in enumerate(manifest.cells)
        ],
        ignore_conflicts=True,
    )
    return list(run.cells.order_by("ordinal").values_list("id", flat=True))


def agent_version(pin: Any) -> str:
    return str(pin.get("version") or "") if isinstance(pin, dict) else ""
