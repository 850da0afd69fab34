"""What is this evidence: artifacts of a trial, and blobs within the reader's benches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, BinaryIO

from django.db.models import Subquery

from benchsite.artifacts.models import Artifact, Blob, BlobUse
from benchsite.diffs.decode import decode
from benchsite.diffs.limits import IMAGE_BYTES, SNIFF
from runner.blobs import is_digest

from .conditions import Carried, carried
from .logview import Log, log_of
from .preview import Preview, image_type, preview
from .shelf import Shelf, diff_cache
from .trialhead import Head, find

USES_SHOWN = 50
LISTED = 200
TRIALS_SEARCHED = 5_000
TERMINAL_KINDS = frozenset({"log", "output", "terminal"})


@dataclass(frozen=True)
class Raw:
    """Bytes on their way out. `inline` allows showing them at all, as `media`; everything else is only saved."""

    file: BinaryIO
    size: int
    name: str
    media: str = "application/octet-stream"
    inline: bool = False

    @classmethod
    def of(cls, file: BinaryIO, name: str) -> Raw:
        """Judge bytes by their own head, whatever a name claims: raster images and plain text may be shown."""
        head = file.read(SNIFF)
        size = file.seek(0, 2)
        file.seek(0)
        media = image_type(head)
        if media and size <= IMAGE_BYTES:
            return cls(file, size, name, media, True)
        if b"\0" not in head:
            return cls(file, size, name, "text/plain; charset=utf-8", True)
        return cls(file, size, name)


@dataclass(frozen=True)
class Listed:
    """Every artifact of every attempt, a page at a time: a collection alone may bring thousands."""

    head: Head
    artifacts: tuple[Artifact, ...]
    carried: tuple[Carried, ...] = ()
    page: int = 1

    @property
    def attempts(self) -> int:
        return max((attempt.number for attempt in self.head.attempts), default=1)

    @property
    def total(self) -> int:
        return self.head.artifacts

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // LISTED))

    @property
    def first(self) -> int:
        return (self.page - 1) * LISTED + 1

    @property
    def last(self) -> int:
        return self.first + len(self.artifacts) - 1


@dataclass(frozen=True)
class Shown:
    head: Head
    artifact: Artifact
    preview: Preview | None
    others: tuple[Artifact, ...]
    log: Log | None = None
    """Output of a program, in pages of lines; then there is no preview."""


@dataclass(frozen=True)
class Use:
    """A run in which the blob is used."""

    bench: str
    ulid: str
    label: int


@dataclass(frozen=True)
class BlobPage:
    digest: str
    size: int
    state: str
    names: tuple[str, ...]
    preview: Preview
    uses: tuple[Use, ...]
    more: bool
    trials: tuple[Artifact, ...]


def of_trial(user: Any, ulid: str, index: int, page: int = 1) -> Listed | None:
    head = find(user, ulid, index)
    if head is None:
        return None
    found = tuple(one for attempt in head.attempts for one in carried(attempt.number, attempt.record or {}))
    page = min(max(page, 1), max(1, -(-head.artifacts // LISTED)))
    rows = head.trial.artifacts.order_by("attempt", "id")[(page - 1) * LISTED : page * LISTED]
    return Listed(head, tuple(rows), found, page)


def one_of_trial(
    user: Any, ulid: str, index: int, name: str, attempt: int | None, page: int = 1, words: str = ""
) -> Shown | None:
    head = find(user, ulid, index)
    found = _named(head, name, attempt) if head else None
    if head is None or found is None:
        return None
    shelf = Shelf([found.digest], head.run.bench_id)
    log = log_of(shelf, found.digest, page, words) if _is_log(found, shelf) else None
    seen = None if log else preview(shelf, found.digest, found.size, found.name, diff_cache())
    return Shown(head, found, seen, tuple(head.trial.artifacts.order_by("attempt", "id")[:USES_SHOWN]), log)


def _is_log(found: Artifact, shelf: Shelf) -> bool:
    """Tell output of lines of text; stray bytes are no matter, wide encodings and pictures have views of their own."""
    data = shelf.head(found.digest, SNIFF) if found.kind in TERMINAL_KINDS else None
    source = decode(data or b"")
    return bool(data) and not image_type(data or b"") and not source.binary and source.encoding in ("utf-8", "cp1252")


def raw_of_trial(user: Any, ulid: str, index: int, name: str, attempt: int | None) -> Raw | None:
    head = find(user, ulid, index)
    found = _named(head, name, attempt) if head else None
    return _raw(found.digest, found.name, head.run.bench_id) if head and found else None


def by_digest(user: Any, digest: str) -> BlobPage | None:
    """Show a blob by its digest: only where a run the reader sees uses it."""
    uses = _uses(user, digest)
    if not uses:
        return None
    blob = uses[0].blob
    trials = list(
        Artifact.objects.filter(digest=digest, trial__run__in=_searched(uses))
        .select_related("trial__run__bench")
        .order_by("-trial__run_id", "-id")[:USES_SHOWN]  # run by run: the newest has enough of them, mostly
    )
    name = trials[0].name if trials else digest[:12]
    terminal = bool(trials) and trials[0].kind in TERMINAL_KINDS
    return BlobPage(
        digest=digest,
        size=blob.size,
        state=blob.state,
        names=tuple(dict.fromkeys(artifact.name for artifact in trials)),
        preview=preview(Shelf([digest]), digest, blob.size, name, diff_cache(), terminal=terminal),
        uses=tuple(Use(str(use.bench), use.run.ulid, use.run.label) for use in uses[:USES_SHOWN]),
        more=len(uses) > USES_SHOWN,
        trials=tuple(trials),
    )


def raw_by_digest(user: Any, digest: str) -> Raw | None:
    return _raw(digest, digest[:12]) if _uses(user, digest) else None


def _uses(user: Any, digest: str) -> list[BlobUse]:
    if not is_digest(digest):
        return []
    blob = Blob.objects.filter(digest=digest).values("pk")[:1]
    seen = BlobUse.objects.filter(blob=Subquery(blob)).readable_by(user)
    # the order of its unique index: a blob used half a million times is not sorted for fifty lines
    return list(seen.select_related("blob", "bench", "run").order_by("-bench_id", "-run_id")[: USES_SHOWN + 1])


def _searched(uses: list[BlobUse]) -> list[int]:
    """Choose the runs whose trials are searched for the artifact: artifacts have no index by digest."""
    found, trials = [], 0
    for use in uses:
        trials += int(use.run.counts.get("planned", 0))
        if found and trials > TRIALS_SEARCHED:
            break
        found.append(use.run_id)
    return found


def _named(head: Head, name: str, attempt: int | None) -> Artifact | None:
    found = head.trial.artifacts.filter(name=name)
    found = found.filter(attempt=attempt) if attempt else found
    chosen: Artifact | None = found.order_by("-attempt", "-id").first()
    return chosen


def _raw(digest: str, name: str, bench: int | None = None) -> Raw | None:
    file = Shelf([digest], bench).open(digest)
    return Raw.of(file, name.rsplit("/", 1)[-1] or "artifact") if file else None
