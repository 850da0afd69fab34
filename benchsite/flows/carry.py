"""Blobs on their way into the site's store, and the record of which run uses them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchsite.artifacts.models import Blob, BlobUse
from benchsite.artifacts.store import store
from benchsite.runs.models import Run
from runner.blobs import BlobStore, is_digest
from runner.collected import digests_of
from runner.errors import BundleError, JournalError
from runner.exchange.references import nested_references
from runner.leaks import Leak
from runner.manifest import Manifest
from runner.replay import Attempt

from . import leaks
from .bulk import Table, hold_blobs
from .steps import index_long

REMEMBERED = 50_000
"""Digests a carrier remembers as done; a bound, so that memory stays flat however long the run."""
BLOBS = Table(Blob, "digest", "size", "state", "created_at")
USES = Table(BlobUse, "blob", "bench", "run")
Kinds = dict[str, str]
STEPS = "steps"


def of_manifest(manifest: Manifest) -> Kinds:
    """Pair each digest with what is behind it: "changes", "entries" (a tree), "steps" or "" (plain bytes)."""
    kinds = dict.fromkeys(map(_digest, manifest.blobs()), "")
    if manifest.template:
        kinds[manifest.template] = "entries"
    return kinds


def of_attempts(attempts: Iterable[Attempt]) -> Kinds:
    kinds: Kinds = {}
    for attempt in attempts:
        for digest in attempt.blobs():
            if not isinstance(digest, str) or digest not in kinds:
                kinds[_digest(digest)] = ""
        for request in attempt.requests:
            if request.transcript:
                kinds[request.transcript] = STEPS
            kinds.update(dict.fromkeys(request.records(), "changes"))
        for record in attempt.changes.values():
            kinds[record.blob] = "changes"
        if attempt.kept:
            kinds[attempt.kept.blob] = "entries"
        kinds.update(dict.fromkeys(digests_of(attempt.collected), "entries"))
    return kinds


def _digest(value: object) -> str:
    if not (isinstance(value, str) and is_digest(value)):
        raise JournalError(f"{str(value)[:80]!r} stands where a sha256 digest should.")
    return value


class Carrier:
    """Brings the blobs of one run. `fetch` moves bytes and is called outside a transaction, `record` writes rows."""

    def __init__(self, run: Run, source: BlobStore) -> None:
        self.run, self.source, self.target = run, source, store()
        self._done: dict[str, None] = {}
        self._steps: list[str] = []
        self._scan: leaks.Scan = {}

    def fetch(self, kinds: Kinds) -> list[str]:
        """Bring the bytes of these digests and of those they speak of; gives all the run has not met before."""
        fresh: dict[str, None] = {}
        for digest, kind in kinds.items():
            if digest not in self._done:
                fresh[digest] = None
                if kind == STEPS:
                    self._steps.append(digest)
                elif kind:
                    fresh.update(dict.fromkeys(self._nested(digest, kind)))
        wanted = [digest for digest in fresh if digest not in self._done]
        self._copy(wanted)
        self._scan |= leaks.scan([digest for digest in wanted if digest not in self._scan])
        return wanted

    def looked_through(self, digest: str, found: list[Leak]) -> None:
        """Take over what somebody found in a blob who had to read it anyway."""
        self._scan[digest] = found

    def record(self, digests: list[str]) -> None:
        """Note that this run uses these blobs; those whose bytes nobody has are noted as missing."""
        from django.utils import timezone

        hold_blobs()
        known = self._known(digests)
        now = timezone.now()
        new = [digest for digest in digests if digest not in known]
        BLOBS.insert_new((*self._measure(digest), now) for digest in new)
        self._scan |= leaks.scan([digest for digest in new if digest not in self._scan])  # known when it was brought
        self._found_again([digest for digest in digests if known.get(digest, (0, ""))[1] == Blob.State.MISSING])
        known.update(self._known(new))
        USES.insert_new((known[digest][0], self.run.bench_id, self.run.pk) for digest in digests)
        leaks.hold(self._scan)
        self._scan = {}
        self._remember(digests)

    def index(self) -> None:
        """Index the long transcripts among what was recorded; outside a transaction, for it takes its time."""
        taken, self._steps = self._steps, []
        index_long(taken)

    def _nested(self, digest: str, kind: str) -> Iterator[str]:
        try:
            yield from nested_references(self.source, digest, kind)
        except BundleError:
            return  # a record that is missing or damaged is shown as such on its page

    def _copy(self, digests: list[str]) -> None:
        if self.source.root == self.target.root:
            return
        gone = set(Blob.objects.filter(digest__in=digests, state=Blob.State.REDACTED).values_list("digest", flat=True))
        for digest in digests:
            if digest not in gone and not self.target.has(digest) and self.source.has(digest):
                with self.source.open(digest) as file:
                    self.target.put_stream(file, expected=digest)

    def _measure(self, digest: str) -> tuple[str, int, str]:
        if not self.target.has(digest) and self.source.has(digest):
            self._copy([digest])  # nobody used it when it was brought, so a sweep took it
        try:
            return digest, self.target.size(digest), Blob.State.PRESENT.value
        except FileNotFoundError:
            return digest, 0, Blob.State.MISSING.value

    def _found_again(self, digests: list[str]) -> None:
        for digest in digests:
            _, size, state = self._measure(digest)
            if state == Blob.State.PRESENT:
                Blob.objects.filter(digest=digest).update(state=state, size=size)

    def _known(self, digests: list[str]) -> dict[str, tuple[int, str]]:
        found: dict[str, tuple[int, str]] = {}
        for start in range(0, len(digests), 5000):
            part = digests[start : start + 5000]
            rows = Blob.objects.filter(digest__in=part).values_list("digest", "id", "state")
            found.update({digest: (id, state) for digest, id, state in rows})
        return found

    def _remember(self, digests: list[str]) -> None:
        self._done.update(dict.fromkeys(digests))
        while len(self._done) > REMEMBERED:
            self._done.pop(next(iter(self._done)))
