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
    run, small = found["large"], found["small"]
    changes = {
        name: f"/admin/{name}/{_first(name)}/change/" for name in ("artifacts/blob", "accounts/user", "jobs/job")
    }
    lists = ("runs/run", "artifacts/blob", "curation/decision", "curation/note", "benches/bench")
    more = ("jobs/job", "jobs/upload", "accounts/user", "accounts/token", "auth/group")
    return {
        "admin": "/admin/",
        **{f"admin: {name}": f"/admin/{name}/" for name in (*lists, *more)},
        "admin: runs, searched": "/admin/runs/run/?q=small7&state=finished",
        "admin: files, held": "/admin/artifacts/blob/?state__exact=held",
        "admin: decisions, searched": f"/admin/curation/decision/?q={small.ulid[:12]}",
        "admin: notes, far back": "/admin/curation/note/?p=150",
        "admin: accounts, searched": "/admin/accounts/user/?q=reader7",
        "admin: uploads, searched": "/admin/jobs/upload/?q=small1",
        "admin: a run": f"/admin/runs/run/{run.pk}/change/",
        "admin: its history": f"/admin/runs/run/{run.pk}/history/",
        **{f"admin: one of {name}": address for name, address in changes.items()},
        "admin: a new account": "/admin/accounts/user/add/",
        "curate": "/curate/",
        "curate, runs by size": "/curate/?verdict=any&sort=size",
        "curate, runs of a bench": f"/curate/?verdict=any&bench={small.bench}&sort=newest",
        "curate, far back": f"/curate/?verdict=any&sort=newest&after={small.pk + 5000}",
        "curate, files": "/curate/?show=files&sort=size",
        "curate, files of a run": f"/curate/?show=files&run={run.ulid}",
        "curate, decisions": "/curate/?show=decisions",
        "curate, decisions of one": "/curate/?show=decisions&by=reader7&sort=oldest",
        "curate, trials of a run": f"/curate/?show=decisions&run={run.ulid}&trial=3",
        "curate, releases": "/curate/?show=releases",
        f"{FILE}curate as CSV": "/curate/runs.csv?verdict=any",
        "status": "/status/",
        "job": f"/jobs/{_first_key('jobs/job')}/",
        "runs, submitted": "/runs/?verdict=submitted",
        "search, signed in": "/search?q=fix",
        "trials, signed in": f"/runs/{run.ulid}/trials?tag=odd",
        "run of a measure, signed in": f"/runs/{run.ulid}/?measure=score&panels=all",
        "uploads": "/upload/",
        "tokens": "/settings/tokens/",
        "run, signed in": f"/runs/{run.ulid}/",
        "trial, signed in": f"/runs/{run.ulid}/t/0/",
        "bench, signed in": f"/b/{run.bench}/",
        "home, signed in": "/",
    }


def _first(name: str, field: str = "pk") -> Any:
    """The first of a kind of things the administration lists."""
    from django.apps import apps

    return apps.get_model(*name.split("/")).objects.order_by("pk").values_list(field, flat=True)[0]


def _first_key(name: str) -> str:
    key: str = _first(name, "key")
    return key


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
    yield "runs with a rare tag", "/runs/?tag=week-7&state=finished"
    yield "runs with no such tag", "/runs/?tag=nobody"
    yield "runs, far down the benches", "/?start=10"
    yield f"{FILE}home as JSON", "/benches.json"
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
    yield "its scenario, older runs", f"{bench}s/fix_bug/?before={found['small'].ulid}"
    yield f"{FILE}its scenario as CSV", f"{bench}s/fix_bug/history.csv"
    yield f"{FILE}bench's runs as CSV", f"{bench}runs.csv"
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
    yield "run, squares lead to others", f"{here}?lead=versus&policy=errors-fail/1"
    yield "run, a measure that counts", f"{here}?measure=collateral&policy=errors-fail/1&panels=all"
    yield "run, everything asked", f"{here}?measure=score&sort=rate&differ=1&turn=1&panels=all&split=version&x=tokens"
    yield "run, one agent", f"{here}?where={axis}:{value}&panels=all&measure=approach"
    yield f"{FILE}its report", f"{here}report.html"
    yield f"{FILE}its trials as CSV", f"{here}trials.csv"
    yield f"{FILE}its data frame", f"{here}frame.csv"
    yield "what a solved trial did", f"{here}versus?scenario={_scenario(large)}"
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
    yield "trials with a tag", f"{here}trials?tag=look"
    yield "trials with a tag, far back", f"{here}trials?tag=odd&after=20000"
    yield "trials of a reason", f"{here}trials?state=run_error,eval_error&why="
    yield "trials of a fault", f"{here}trials?state=run_error&fault=timeout"
    yield "trials of a case", f"/runs/{cases.ulid}/trials?scenario={_scenario(cases)}&case=c7"
    yield "trials, errors fail", f"{here}trials?counted=errors-fail/1&cell={cell}"
    yield "trials that tell a cost", f"{here}trials?known=cost&after=18000"
    yield "trials, a cost far off", f"{here}trials?far=cost"
    yield "trials, a score far off", f"{here}trials?far=score"
    yield "trials with no value", f"{here}trials?measure=score&seen=missing"
    yield "trials, none of them", f"{here}trials?measure=score&seen=invalid"
    yield "values, far back", f"{here}trials?measure=score&seen=observed&after=30000"
    yield "trials of six cells", f"{here}trials?cell={','.join(one.key10 for one in _cells(large))}"
    yield "withdrawn trials", f"{here}trials?state=withdrawn"
    yield "not finished trials", f"/runs/{found['live'].ulid}/trials?state=queued,running,cancelled,skipped,not_run"
    yield f"{FILE}cell's table as CSV", f"{here}c/{cell}/scenarios.csv"
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
    yield "start world", f"{here}workspace/?at=start"
    yield "start world, searched", f"{here}workspace/?at=start&find=a&in=content"
    yield f"{FILE}observations as JSON", f"{here}observations.json"
    yield "artifact in all trials", f"/a/{artifact.digest}/"


def _compare(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    large, small = found["large"], found["small"]
    cells = [f"cell:{large.ulid}/{cell.key10}" for cell in _cells(large)]
    both = [f"run:{large.ulid}", f"run:{found['live'].ulid}"]
    runs = [f"run:{run.ulid}" for run in small.bench.runs.order_by("id")[:SIX]]
    subjects = [_subject(large, cell) for cell in _cells(large)]
    first, pooled = large.trials.order_by("index").first().index, [_subject(small, cell) for cell in _cells(small)]
    listed = "/compare/trials" + _of(pooled).removeprefix("/compare/")
    yield "compare one cell", _of(cells[:1])
    yield "compare two cells", _of(cells[:2])
    yield "compare six cells", _of(cells)
    yield "six cells, all rows", f"{_of(cells)}&show=all"
    yield "six cells, a measure", f"{_of(cells)}&measure=score&show=all"
    yield "compare the run and the live", _of(both)
    yield "compare one run", _of(runs[:1])
    yield "compare two runs", _of(runs[:2])
    yield "compare six runs", _of(runs)
    yield "compare one subject", _of(subjects[:1])
    yield "compare six subjects", _of(subjects)
    yield "six subjects of 500 runs", _of(pooled)
    yield "the same, errors fail", f"{_of(pooled)}&policy=errors-fail/1&measure=score&show=all"
    yield "trials of a subject", listed
    yield "trials of its case", f"{listed}&side=2&seen=counted&scenario=fix_bug"
    yield "trials with its measure", f"{listed}&side=1&seen=observed&measure=score"
    yield "large runs, errors fail", f"{_of(both)}&policy=errors-fail/1&measure=score&show=all"
    yield f"{FILE}a comparison's report", "/compare/report.html" + _of(cells).removeprefix("/compare/")
    yield f"{FILE}its cases as CSV", "/compare/cases.csv" + _of(cells).removeprefix("/compare/")
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
    for odd in ("e", "0", "%25", "_", "a/b:c", "%22fix%22+bug", "%F0%9F%90%9B", "01", "perf/", "run", "x" * 300):
        yield f"search {odd[:12]!r}", f"/search?q={odd}"


def _interface(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    large = found["large"]
    cells = "&".join(f"of=cell:{large.ulid}/{cell.key10}" for cell in _cells(large)[:2])
    yield "API: benches", "/api/v1/benches"
    yield "API: runs", f"/api/v1/runs?bench={found['small'].bench}"
    yield "API: a run", f"/api/v1/runs/{large.ulid}"
    yield "API: a trial", f"/api/v1/runs/{large.ulid}/trials/0"
    yield "API: compare", f"/api/v1/compare?{cells}"
    yield "API: runs, far back", f"/api/v1/runs?before={found['small'].ulid}"
    yield f"{FILE}API: a run's figures", f"/api/v1/runs/{large.ulid}/result"
    yield f"{FILE}API: a run's report", f"/api/v1/runs/{large.ulid}/report"
    yield f"{FILE}API: a data frame", f"/api/v1/runs/{found['small'].ulid}/frame"
    yield "API: what it takes", "/api/v1/openapi.json"
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
