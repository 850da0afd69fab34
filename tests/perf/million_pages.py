"""Every kind of page there is, as addresses in the database of a million trials: what is not here is not measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runner.digests import digest

SIX = 6
FILE = "file: "


def pages(found: dict[str, Any]) -> dict[str, str]:
    """Addresses by the words they are told by."""
    made: dict[str, str] = {}
    for part in (_lists, _benches, _run, _live, _within, _trial, _compare, _search, _interface):
        made.update(part(found))
    return made


def a_file(name: str) -> bool:
    """Whether it is one to take home, which may take as long as it is large."""
    return name.startswith(FILE)


def of_curator(found: dict[str, Any]) -> dict[str, str]:
    """Pages that only a curator sees, and some of the others as a signed-in reader sees them."""
    run = found["large"]
    lists = ("runs/run", "artifacts/blob", "curation/decision", "curation/note", "benches/bench")
    more = ("jobs/job", "jobs/upload", "accounts/user", "accounts/token", "auth/group")
    return {
        "admin": "/admin/",
        **{f"admin: {name}": f"/admin/{name}/" for name in (*lists, *more)},
        "admin: runs, searched": "/admin/runs/run/?q=small7&state=finished",
        "admin: a run": f"/admin/runs/run/{run.pk}/change/",
        "uploads": "/upload/",
        "tokens": "/settings/tokens/",
        "run, signed in": f"/runs/{run.ulid}/",
        "trial, signed in": f"/runs/{run.ulid}/t/0/",
        "bench, signed in": f"/b/{run.bench}/",
        "home, signed in": "/",
    }


def _lists(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    run = found["small"]
    yield "home", "/"
    yield "benches", "/b/"
    yield f"{FILE}benches as JSON", "/b/benches.json"
    yield "runs", "/runs/"
    yield "runs, filtered", "/runs/?state=finished&verdict=accepted"
    yield "runs of a bench", f"/runs/?bench={run.bench}"
    yield "runs, far back", f"/runs/?before={run.pk + 5000}"
    yield "runs with a tag", "/runs/?tag=nightly"
    yield f"{FILE}runs as CSV", "/runs/runs.csv"
    yield "docs", "/docs/"
    yield "a page of the docs", "/docs/statistics/"
    yield "styleguide", "/styleguide/"
    yield "login", "/login/"


def _benches(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    large, cases = found["large"], found["cases"]
    bench = f"/b/{found['small'].bench}/"
    yield "bench of 500 runs", bench
    yield "a version of it", f"{bench}v/{found['small'].version.definition}/"
    yield "bench, errors fail", f"{bench}?policy=errors-fail/1"
    yield "bench, by version", f"{bench}?split=version"
    yield "bench, all panels", f"{bench}?panels=all"
    yield f"{FILE}bench's trend as JSON", f"{bench}trend.json"
    yield "bench of the large run", f"/b/{large.bench}/"
    yield "bench of 500 cases", f"/b/{cases.bench}/"
    yield "its scenario across runs", f"{bench}s/fix_bug/"
    yield "scenario across large runs", f"/b/{large.bench}/s/{_scenario(large)}/"
    yield "scenario of cases across", f"/b/{cases.bench}/s/{_scenario(cases)}/"


def _run(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    large, cases = found["large"], found["cases"]
    here = f"/runs/{large.ulid}/"
    axis, value = next(iter(large.cells.select_related("subject").first().subject.axes.items()))
    yield "run of 36,000 trials", here
    yield "run, another measure", f"{here}?measure=collateral&sort=spread"
    yield "run, a measure in fractions", f"{here}?measure=score"
    yield "run, a category", f"{here}?measure=approach"
    yield "run, errors fail", f"{here}?policy=errors-fail/1"
    yield "run, by rate", f"{here}?sort=rate"
    yield "run, rows that differ", f"{here}?differ=1&sort=spread"
    yield "run, transposed", f"{here}?turn=1"
    yield "run, transposed measure", f"{here}?turn=1&measure=score"
    yield "run, some cells", f"{here}?where={axis}:{value}&split=version&x=seconds"
    yield "run, all panels", f"{here}?panels=all"
    yield "run, all panels, measure", f"{here}?panels=all&measure=score"
    yield "run of 500 cases", f"/runs/{cases.ulid}/"
    yield "run of 500 cases, open", f"/runs/{cases.ulid}/?open={_scenario(cases)}"
    yield "run, cases of a measure", f"/runs/{cases.ulid}/?open={_scenario(cases)}&measure=score"
    yield "small run", f"/runs/{found['small'].ulid}/"
    yield "frontier, for its chart", f"{here}frontier.json"
    yield f"{FILE}leaderboard as CSV", f"{here}leaderboard.csv"
    yield f"{FILE}matrix as JSON", f"{here}matrix.json"


def _live(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    here = f"/runs/{found['live'].ulid}/"
    yield "run that goes on", here
    yield "its live part", f"{here}?fixed=1&part=live"
    yield "its tables", f"{here}?fixed=1&part=tables"
    yield "its tables of a measure", f"{here}?fixed=1&measure=score&part=tables"


def _within(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    large, cases = found["large"], found["cases"]
    here, cell, slug = f"/runs/{large.ulid}/", _cells(large)[0].key10, _scenario(large)
    yield "trials of the run", f"{here}trials"
    yield "trials, filtered", f"{here}trials?state=scored&outcome=unsolved"
    yield "trials, far back", f"{here}trials?after=30000"
    yield "trials of a square", f"{here}trials?of={cell}/{slug}"
    yield "trials of a measure", f"{here}trials?measure=approach&seen=observed&value=patch"
    yield "trials, an outlier", f"{here}trials?far=seconds"
    yield "trials, flagged", f"{here}trials?flag=late_guard"
    yield "scenario in the run", f"{here}s/{slug}/"
    yield "scenario of 500 cases", f"/runs/{cases.ulid}/s/{_scenario(cases)}/"
    yield "the same, errors fail", f"/runs/{cases.ulid}/s/{_scenario(cases)}/?policy=errors-fail/1"
    yield "cell", f"{here}c/{cell}/"
    yield "cell, errors fail", f"{here}c/{cell}/?policy=errors-fail/1"
    yield "cell of 500 cases", f"/runs/{cases.ulid}/c/{_cells(cases)[0].key10}/"


def _trial(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    large = found["large"]
    trial = large.trials.order_by("index").first()
    here, artifact = f"/runs/{large.ulid}/t/{trial.index}/", trial.artifacts.first()
    yield "trial", here
    yield "transcript", f"{here}transcript/"
    yield "changes", f"{here}changes/"
    yield "artifacts", f"{here}artifacts/"
    yield "an artifact", f"{here}artifacts/{artifact.name}/"
    yield "artifact in all trials", f"/a/{artifact.digest}/"


def _compare(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    large, small = found["large"], found["small"]
    cells = [f"cell:{large.ulid}/{cell.key10}" for cell in _cells(large)]
    runs = [f"run:{run.ulid}" for run in small.bench.runs.order_by("id")[:SIX]]
    subjects = [_subject(large, cell) for cell in _cells(large)]
    first = large.trials.order_by("index").first().index
    yield "compare one cell", _of(cells[:1])
    yield "compare two cells", _of(cells[:2])
    yield "compare six cells", _of(cells)
    yield "six cells, all rows", f"{_of(cells)}&show=all"
    yield "six cells, a measure", f"{_of(cells)}&measure=score&show=all"
    yield "compare the run and the live", _of([f"run:{large.ulid}", f"run:{found['live'].ulid}"])
    yield "compare one run", _of(runs[:1])
    yield "compare two runs", _of(runs[:2])
    yield "compare six runs", _of(runs)
    yield "compare one subject", _of(subjects[:1])
    yield "compare six subjects", _of(subjects)
    yield "six subjects of 500 runs", _of([_subject(small, cell) for cell in _cells(small)])
    two = _of([f"trial:{large.ulid}/{first}", f"trial:{large.ulid}/{first + 1}"])
    yield "compare two trials", two
    yield "two trials and the start", f"{two}&what=three"
    yield "two trials' transcripts", f"{two}&what=transcript"


def _search(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    small = found["small"]
    yield "search", "/search"
    yield "search a name", "/search?q=small7"
    yield "search a run", f"/search?q={small.ulid[:14]}"
    yield "search a run's number", "/search?q=run+41"
    yield "search a trial", f"/search?q={small.ulid}/3"
    yield "search a common word", "/search?q=fix"
    yield "search a digest", f"/search?q={found['large'].manifest[:10]}"
    yield "search an axis value", f"/search?q={next(iter(_axes(_cells(small)[0]).values()))}"
    yield "search nothing there is", "/search?q=nothing+at+all"
    yield "search as one types", "/search?q=fix&part=hits"


def _interface(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    large = found["large"]
    cells = "&".join(f"of=cell:{large.ulid}/{cell.key10}" for cell in _cells(large)[:2])
    yield "API: benches", "/api/v1/benches"
    yield "API: runs", f"/api/v1/runs?bench={found['small'].bench}"
    yield "API: a run", f"/api/v1/runs/{large.ulid}"
    yield "API: a trial", f"/api/v1/runs/{large.ulid}/trials/0"
    yield "API: compare", f"/api/v1/compare?{cells}"
    yield "healthz", "/healthz"
    yield "readyz", "/readyz"


def _of(named: list[str]) -> str:
    return f"/compare/?{'&'.join(f'of={one}' for one in named)}"


def _cells(run: Any) -> list[Any]:
    return list(run.cells.select_related("subject").order_by("ordinal")[:SIX])


def _axes(cell: Any) -> dict[str, str]:
    axes: dict[str, str] = cell.subject.axes
    return axes


def _subject(run: Any, cell: Any) -> str:
    return f"subject:{run.bench}/{digest(_axes(cell))[:10]}"


def _scenario(run: Any) -> str:
    slug: str = run.trials.select_related("scenario").first().scenario.slug
    return slug
