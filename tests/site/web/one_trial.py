"""A run of one trial whose world before and after the test itself chooses, taken into the site."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchsite.flows.ingest import ingest
from runner.blobs import BlobStore
from runner.journal import MANIFEST, Journal
from tests.make import make_manifest
from tests.make_world import World, changes_blob, tree_blob


@dataclass
class Story:
    """What happened: files before and after, what was said, attached and kept."""

    before: dict[str, bytes] = field(default_factory=dict)
    after: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    attached: list[tuple[str, str, str, bytes]] = field(default_factory=list)
    observed: list[dict[str, Any]] = field(default_factory=list)
    extra: list[dict[str, Any]] = field(default_factory=list)
    finished: dict[str, Any] = field(default_factory=dict)
    kept: bool = False
    ignored: list[str] = field(default_factory=list)
    record: bytes | None = None
    tree: bytes | None = None


def take_in(folder: Path, story: Story, *, seed: int = 1, definition: str = "one", **asked: Any) -> Any:
    """Write the run and ingest it; gives the run. Another `definition` is another version of the bench."""
    for event in asked.pop("more", []):
        # an event of another request brings its transcript as bytes
        transcript = BlobStore(folder / ".bench" / "blobs").put(event["transcript"])
        story.extra.append({**event, "transcript": transcript})
    run_dir = write(folder, story, seed=seed, definition=definition)
    return ingest(run_dir, verdict=asked.pop("verdict", "accepted"), **asked)


def write(folder: Path, story: Story, *, seed: int = 1, definition: str = "one") -> Path:
    blobs = BlobStore(folder / ".bench" / "blobs")
    before = World(dict(story.before))
    manifest = make_manifest(blobs, random.Random(seed), "acme/one", 1, 1, 1, 1, seed=seed, definition=definition)
    fields = {**vars(manifest), "template": tree_blob(before, blobs)[0]}
    fields.pop("trials", None)
    manifest = type(manifest)(**fields)
    run_dir = folder / ".bench" / "runs" / manifest.run
    run_dir.mkdir(parents=True)
    manifest.write(run_dir / MANIFEST)
    with Journal.open(run_dir) as journal:
        journal.append("run.started", workers=1, load=0.0)
        journal.extend({"trial": 0, "attempt": 1, **event} for event in _events(story, before, blobs))
        journal.append("run.finished", state="finished")
    return run_dir


def _events(story: Story, before: World, blobs: BlobStore) -> list[dict[str, Any]]:
    after = World(dict(story.after), dict(story.links))
    blob, counts = changes_blob(before, after, blobs)
    if story.record is not None:
        blob = blobs.put(story.record)
    said = (
        {key: value for key, value in {"n": n, **step}.items() if value is not None}
        for n, step in enumerate(story.steps, 1)
    )
    steps = b"".join(json.dumps(step).encode() + b"\n" for step in said)
    usage = {"tokens_in": 1200, "cost": 0.25}
    events = [
        {"type": "trial.started", "seed": 1, "worker": 0},
        {"type": "phase", "phase": "setup", "seconds": 0.01},
        {
            "type": "request", "number": 1, "prompt": blobs.put(b"Fix it, <b>please</b>"), "text": blobs.put(b"Done."),
            "exit_code": 0, "timed_out": False, "seconds": 3.5, "usage": usage, "transcript": blobs.put(steps),
            "output": blobs.put(b"raw <output>\n"), "changes": blob, "session": None, "ignored": story.ignored,
        },
        {"type": "changes", "stage": "agent", "blob": blob, "counts": counts},
        {"type": "phase", "phase": "execution", "seconds": 3.5},
        *({"type": "observe", "valid": True, "reason": "", **row} for row in story.observed),
        *(
            {"type": "artifact", "name": name, "kind": kind, "media": media, "blob": blobs.put(data), "size": len(data)}
            for name, kind, media, data in story.attached
        ),
        *story.extra,
    ]  # fmt: skip
    if story.tree is not None:
        blob = blobs.put(story.tree)
        events.append({"type": "kept", "path": "workspaces/0-1", "blob": blob, "files": 1, "size": 1})
    elif story.kept:
        tree, files, size = tree_blob(after, blobs)
        events.append({"type": "kept", "path": "workspaces/0-1", "blob": tree, "files": files, "size": size})
    end = {"state": "scored", "outcome": "unsolved", "fault": None, "phase": None, "reason": "", "headline": 0.0}
    return [*events, {"type": "trial.finished", "seconds": 4.0, "flags": [], "usage": usage, **end, **story.finished}]
