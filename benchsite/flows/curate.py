"""What counts: a curator accepts, rejects, withdraws or restores, with a reason. Decisions are truth."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F

from benchsite.accounts.access import is_curator
from benchsite.benches.models import Bench
from benchsite.curation.models import Decision
from benchsite.runs.models import Run, Trial
from benchsite.runs.recount import recount
from runner.errors import RunnerError

VERDICTS = {
    Decision.Verdict.ACCEPT: Run.Verdict.ACCEPTED,
    Decision.Verdict.REJECT: Run.Verdict.REJECTED,
    Decision.Verdict.WITHDRAW: Run.Verdict.WITHDRAWN,
    Decision.Verdict.RESTORE: Run.Verdict.ACCEPTED,
    Decision.Verdict.REOPEN: Run.Verdict.SUBMITTED,
}
FROM = {
    Decision.Verdict.ACCEPT: (Run.Verdict.SUBMITTED, Run.Verdict.REJECTED),
    Decision.Verdict.REJECT: (Run.Verdict.SUBMITTED, Run.Verdict.ACCEPTED),
    Decision.Verdict.WITHDRAW: (Run.Verdict.ACCEPTED,),
    Decision.Verdict.RESTORE: (Run.Verdict.WITHDRAWN,),
    Decision.Verdict.REOPEN: (Run.Verdict.ACCEPTED, Run.Verdict.REJECTED),
}
"""Which verdicts a decision may follow."""


class NotAllowed(RunnerError):
    """A decision that may not be taken by this person, or not now."""


def decide(run: Run, verdict: str, *, by: Any, reason: str) -> Decision:
    """Take one decision on a run and let it take effect. `by` None is the operator at the machine itself."""
    verdict, reason = Decision.Verdict(verdict), reason.strip()
    may(by, reason)
    with transaction.atomic():
        held = Run.objects.select_for_update().get(pk=run.pk)
        if held.verdict not in FROM[verdict]:
            raise NotAllowed(f"The run {held.ulid} is {held.verdict}; it cannot be taken by '{verdict}' now.")
        decision = Decision.objects.create(run=held.ulid, verdict=verdict, reason=reason, by=by)
        apply(held)
    run.refresh_from_db()
    return decision


def withdraw_trial(run: Run, index: int, *, by: Any, reason: str) -> Decision:
    return _on_trial(run, index, Decision.Verdict.WITHDRAW, by, reason)


def restore_trial(run: Run, index: int, *, by: Any, reason: str) -> Decision:
    return _on_trial(run, index, Decision.Verdict.RESTORE, by, reason)


def undo(decision: Decision, *, by: Any, reason: str) -> Decision:
    """Take a further decision, which puts back what held before this one: nothing is ever struck from the list."""
    run = Run.objects.filter(ulid=decision.run).first()
    if run is None:
        raise NotAllowed(f"The run {decision.run} is not on this site any more.")
    alike = Decision.objects.filter(run=decision.run, trial=decision.trial).order_by("id")
    if alike.filter(pk__gt=decision.pk).exists():
        raise NotAllowed(f"'{decision.verdict}' was followed by another decision; only the newest can be undone.")
    if decision.trial is not None:
        withdrawn = decision.verdict == Decision.Verdict.WITHDRAW
        return (restore_trial if withdrawn else withdraw_trial)(run, decision.trial, by=by, reason=reason)
    before = alike.filter(pk__lt=decision.pk).last()
    wanted = VERDICTS[Decision.Verdict(before.verdict)] if before else Run.Verdict.SUBMITTED
    return decide(run, way_back(run.verdict, wanted), by=by, reason=reason)


def way_back(held: str, wanted: str) -> Decision.Verdict:
    """Name the decision that leads from one verdict to another."""
    return next(verdict for verdict, after in VERDICTS.items() if after == wanted and held in FROM[verdict])


def _on_trial(run: Run, index: int, verdict: Decision.Verdict, by: Any, reason: str) -> Decision:
    may(by, reason.strip())
    trial = run.trials.filter(index=index).first()
    if trial is None:
        raise NotAllowed(f"The run {run.ulid} has no trial {index}.")
    if trial.withdrawn == (verdict == Decision.Verdict.WITHDRAW):
        how = "withdrawn already" if trial.withdrawn else "not withdrawn"
        raise NotAllowed(f"Trial {index} of run {run.ulid} is {how}.")
    with transaction.atomic():
        held = Run.objects.select_for_update().get(pk=run.pk)
        decision = Decision.objects.create(run=held.ulid, trial=index, verdict=verdict, reason=reason.strip(), by=by)
        apply(held)
        recount(held)
    run.refresh_from_db()
    return decision


def may(by: Any, reason: str) -> None:
    if by is not None and not is_curator(by):
        raise NotAllowed("Only a curator decides what counts.")
    if not reason:
        raise NotAllowed("A decision needs a reason: it is shown beside the run.")


def apply(run: Run) -> None:
    """Write what the decisions say onto the run and its trials, and raise the revisions."""
    verdict = Run.Verdict.SUBMITTED
    withdrawn: set[int] = set()
    for decision in Decision.objects.filter(run=run.ulid).order_by("id"):
        if decision.trial is None:
            verdict = VERDICTS[Decision.Verdict(decision.verdict)]
        elif decision.verdict == Decision.Verdict.WITHDRAW:
            withdrawn.add(decision.trial)
        else:
            withdrawn.discard(decision.trial)
    trials = Trial.objects.filter(run=run)
    trials.filter(withdrawn=True).exclude(index__in=withdrawn).update(withdrawn=False)
    trials.filter(withdrawn=False, index__in=withdrawn).update(withdrawn=True)
    Run.objects.filter(pk=run.pk).update(verdict=verdict)
    raise_revision(run)


def raise_revision(run: Run) -> None:
    """Say that a number changed: pages that were kept for this run and its bench are stale now."""
    Run.objects.filter(pk=run.pk).update(revision=F("revision") + 1)
    Bench.objects.filter(pk=run.bench_id).update(revision=F("revision") + 1)
