"""Where a run's numbers come from: hashes, harness, host, seed, isolation; shown as the manifest has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchsite.runs.models import Run
from runner.surroundings import limits_in_words


@dataclass(frozen=True)
class Fact:
    """`kind` tells the page how to show `value`: text, digest (short, copied whole), copy; run and definition link."""

    name: str
    value: str
    kind: str = "text"
    note: str = ""


HUGE = 1 << 60
"""More is no size, time or sum of money that anybody meant."""
PARTS = {
    "definition": "all parts together: another definition is another bench version",
    "schema": "what is measured",
    "template": "the start world",
    "fixtures": "what agents never see",
    "suite": "the workspace's own tests",
    "code": "bench.py and the scenarios",
}


def provenance(run: Run, manifest: Mapping[str, Any]) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """Give (circumstances, hashes)."""
    return tuple(fact for fact in _facts(run, manifest) if fact.value), tuple(_hashes(run, manifest))


def _facts(run: Run, manifest: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("Run", run.ulid, "copy")
    yield Fact("Bench version", run.version.number, "definition")
    yield Fact("Made by", _words(manifest.get("harness")) if run.origin == "runner" else f"imported: {run.origin}")
    yield Fact("Host", _host(manifest.get("host")))
    yield Fact("Environment", str(manifest.get("environment", "")))
    yield Fact("Isolation", run.isolation)
    yield Fact("Network", _network(manifest.get("network")))
    yield Fact("Evaluation", str(manifest.get("evaluation", "")))
    yield Fact("Judge", _judge(manifest.get("judge")))
    yield Fact("Kept workspaces", str(manifest.get("retain", "")))
    yield Fact("Trials per case and cell", str(manifest.get("trials_per_cell", "")))
    yield Fact("Seed", str(manifest.get("seed", "")))
    yield Fact("Limits", _limits(manifest.get("limits")))
    yield Fact("Limits of a trial", _of_trials(manifest.get("plans")))
    yield Fact("Protocol", str(manifest.get("protocol", run.version.protocol)))
    label = getattr(run, "parent_label", None)  # None where the reader cannot see it, or it is not here
    yield Fact("Regraded from" if run.regrades else "Parent run", run.parent, "copy" if label is None else "run")
    if run.regrades != run.parent:
        yield Fact("Agents worked in", run.regrades, "copy")


def _hashes(run: Run, manifest: Mapping[str, Any]) -> Iterator[Fact]:
    yield Fact("cohort", run.cohort, "digest", "runs with an equal cohort may be pooled")
    yield from hashes_of(manifest.get("hashes", {}))
    yield Fact("manifest", run.manifest, "digest", "manifest.json as uploaded")
    if run.events:
        yield Fact("journal", run.events, "digest", "events.jsonl as last read")


def hashes_of(hashes: Mapping[str, Any]) -> Iterator[Fact]:
    """Give the parts of a definition, those with a word first."""
    for name in sorted(
        hashes, key=lambda part: (part not in PARTS, list(PARTS).index(part) if part in PARTS else 0, part)
    ):
        yield Fact(name, str(hashes[name]), "digest", PARTS.get(name, ""))


def _words(value: Any) -> str:
    """Write a small record as words: `Linux, cpus 2`."""
    if not isinstance(value, dict):
        return str(value or "")
    plain = ("name", "version", "system", "release", "machine")
    return ", ".join(f"{v}" if k in plain else f"{k} {v}" for k, v in value.items() if not isinstance(v, (dict, list)))


def _network(rules: Any) -> str:
    if not isinstance(rules, dict):
        return ""
    told = ((name, ", ".join(map(str, rule)) if isinstance(rule, list) else rule) for name, rule in rules.items())
    return ", ".join(f"{name} {rule}" for name, rule in told)


def _judge(judge: Any) -> str:
    """Write `model, version v2, protocol openai, temperature 0`; of a model that is under test too, the reason."""
    if not isinstance(judge, dict) or not judge:
        return ""
    given = judge.get("parameters")
    parameters = [f"{name} {value}" for name, value in given.items()] if isinstance(given, dict) else []
    named = [f"{name} {judge[name]}" for name in ("version", "protocol", "host") if judge.get(name)]
    same = [f"also under test, because: {judge['same_model']}"] if judge.get("same_model") else []
    return ", ".join(map(str, [judge.get("model", ""), *named, *parameters, *same]))


def _host(host: Any) -> str:
    """A machine's memory is known by its gigabytes; the manifest has it in bytes."""
    if isinstance(host, dict) and isinstance(host.get("memory"), int) and abs(host["memory"]) < HUGE:
        host = {**host, "memory": f"{host['memory'] / 2**30:.0f} GiB"}
    return _words(host)


def _limits(limits: Any) -> str:
    """Write time limits in seconds, budgets in dollars, and the retries."""
    if not isinstance(limits, dict):
        return ""
    times = [f"{name} {seconds:g} s" for name, seconds in _numbers(limits.get("timeouts"))]
    budgets = [f"{name} budget ${dollars:g}" for name, dollars in _numbers(limits.get("budget"))]
    retries = [f"retries {limits['retries']}"] if "retries" in limits else []
    return ", ".join([*times, *budgets, *retries])


def _of_trials(plans: Any) -> str:
    """Write what a trial may use at most and what holds that, for each plan that differs."""
    rows = [plan for plan in plans if isinstance(plan, dict)] if isinstance(plans, list) else []
    return "; ".join(list(dict.fromkeys(filter(None, map(limits_in_words, rows))))[:6])


def _numbers(record: Any) -> Iterator[tuple[str, float]]:
    for name, value in record.items() if isinstance(record, dict) else ():
        if isinstance(value, int | float) and abs(value) < HUGE:
            yield name, value
