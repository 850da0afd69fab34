"""Only curators decide, with a reason; only accepted runs count; what was decided outlives the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from benchsite.curation.models import Decision, Tag
from benchsite.flows.curate import NotAllowed, decide, restore_trial, withdraw_trial
from benchsite.flows.recheck import differences
from benchsite.runs.models import Run
from tests import make

pytestmark = pytest.mark.django_db


def test_a_sent_run_counts_only_once_a_curator_accepted_it(ingested: Callable[..., Run]) -> None:
    run = ingested(verdict="submitted")
    assert (run.verdict, Run.objects.counted().count()) == ("submitted", 0)
    revision, bench = run.revision, run.bench.revision
    decide(run, "accept", by=make.make_curator(), reason="Looks right.")
    assert (run.verdict, Run.objects.counted().count()) == ("accepted", 1)
    assert run.revision > revision
    run.bench.refresh_from_db()
    assert run.bench.revision > bench


def test_an_operators_own_run_is_accepted_by_a_decision(ingested: Callable[..., Run]) -> None:
    run = ingested()
    decision = Decision.objects.get(run=run.ulid)
    assert (run.verdict, decision.verdict, decision.by) == ("accepted", "accept", None)


@pytest.mark.parametrize("groups", [(), ("acme",)])
def test_nobody_else_decides(ingested: Callable[..., Run], groups: tuple[str, ...]) -> None:
    run = ingested(verdict="submitted")
    with pytest.raises(NotAllowed, match="curator"):
        decide(run, "accept", by=make.make_user(groups=groups), reason="I like it.")
    assert not Decision.objects.exists()


def test_a_decision_needs_a_reason(ingested: Callable[..., Run]) -> None:
    run = ingested(verdict="submitted")
    with pytest.raises(NotAllowed, match="reason"):
        decide(run, "reject", by=make.make_curator(), reason="  ")


def test_decisions_follow_one_another_in_a_sensible_order(ingested: Callable[..., Run]) -> None:
    run, curator = ingested(verdict="submitted"), make.make_curator()
    with pytest.raises(NotAllowed, match="submitted"):
        decide(run, "withdraw", by=curator, reason="Too early.")
    for verdict, after in (
        ("reject", "rejected"), ("accept", "accepted"), ("withdraw", "withdrawn"), ("restore", "accepted"),
    ):  # fmt: skip
        decide(run, verdict, by=curator, reason="So it is.")
        assert run.verdict == after
    assert Decision.objects.filter(run=run.ulid).count() == 4


def test_a_withdrawn_trial_counts_nowhere_and_comes_back(ingested: Callable[..., Run]) -> None:
    run, curator = ingested(), make.make_curator()
    trial = run.trials.filter(state="scored").first()

    def scored() -> int:
        return sum(slot.states.get("scored", 0) for slot in run.slots.all())

    def planned() -> int:
        return sum(slot.planned for slot in run.slots.all())

    before, of = scored(), planned()
    withdraw_trial(run, trial.index, by=curator, reason="The disk was full.")
    assert (scored(), planned()) == (before - 1, of)
    assert list(differences(run)) == []
    restore_trial(run, trial.index, by=curator, reason="It was not.")
    assert scored() == before
    assert list(differences(run)) == []


def test_a_trial_that_is_not_there_cannot_be_withdrawn(ingested: Callable[..., Run]) -> None:
    with pytest.raises(NotAllowed, match="no trial 999"):
        withdraw_trial(ingested(), 999, by=make.make_curator(), reason="x")


@pytest.mark.parametrize(
    ("who", "verdict", "seen"),
    [
        ("stranger", "accepted", True),
        ("stranger", "submitted", False),
        ("account", "submitted", False),
        ("account", "rejected", False),
        ("member", "submitted", True),
        ("sender", "submitted", True),
        ("sender", "rejected", True),
        ("curator", "submitted", True),
        ("curator", "rejected", True),
    ],
)
def test_who_sees_a_run(ingested: Callable[..., Run], who: str, verdict: str, seen: bool) -> None:
    sender, curator = make.make_user("sender"), make.make_curator()
    run = ingested(verdict="submitted", by=sender)
    if verdict != "submitted":
        decide(run, {"accepted": "accept", "rejected": "reject"}[verdict], by=curator, reason="So.")
    cast: dict[str, Any] = {
        "stranger": None,
        "account": make.make_user("other"),
        "member": make.make_user("member", groups=("acme",)),
        "sender": sender,
        "curator": curator,
    }
    assert Run.objects.visible_to(cast[who]).exists() is seen
    run.bench.__class__.objects.update(visibility="private")
    assert Run.objects.visible_to(cast[who]).exists() is (who in ("member", "curator"))


@pytest.mark.parametrize("trial", [None, 3])
def test_a_tag_stands_once_on_a_run_and_once_on_a_trial(trial: int | None) -> None:
    Tag.objects.create(run="R", trial=trial, name="odd")
    Tag.objects.create(run="R", trial=4, name="odd")
    with pytest.raises(IntegrityError), transaction.atomic():
        Tag.objects.create(run="R", trial=trial, name="odd")
