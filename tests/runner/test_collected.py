"""What a journal says of collected paths is read with suspicion, and what it speaks of travels with the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.blobs import BlobStore
from runner.collected import STATUSES, Collected
from runner.errors import JournalError
from runner.exchange.references import references
from runner.journal import MANIFEST
from runner.manifest import Manifest
from runner.records import Attempt
from runner.replay import Folding
from runner.worlds.tree import Entry, Tree
from tests.make import make_run

DIGEST = "a" * 64


def fed(type: str, **fields: Any) -> Attempt:
    folding = Folding()
    folding.feed({"type": type, "trial": 0, "attempt": 1, **fields})
    return folding.open[0, 1]


@pytest.mark.parametrize("status", STATUSES)
def test_an_entry_is_read_back_as_it_was_written(status: Any) -> None:
    entry = Collected("/workspace/a", status, "dir", 2, 7, DIGEST, ("*.log",), "why")
    assert fed("collected", entries=[entry.to_json()]).collected == (entry,)


@pytest.mark.parametrize(
    "entries",
    [
        [{"path": "/a", "status": "stolen"}],
        [{"status": "missing"}],
        [{"path": "/a", "status": "collected", "tree": {}}],
        [{"path": "/a", "status": "collected", "tree": "../../etc/passwd"}],
        [{"path": "/a", "status": "collected", "files": "many"}],
        ["/a"],
        7,
    ],
)
def test_an_entry_that_is_none_is_refused(entries: Any) -> None:
    with pytest.raises(JournalError, match="of type 'collected' cannot be read"):
        fed("collected", entries=entries)


@pytest.mark.parametrize("blob", [None, {}, "x", DIGEST.upper()])
def test_a_checkpoint_that_is_no_digest_is_refused(blob: Any) -> None:
    with pytest.raises(JournalError, match="of type 'checkpoint' cannot be read"):
        fed("checkpoint", blob=blob)


def test_trees_their_files_and_the_checkpoint_are_what_a_run_needs(tmp_path: Path) -> None:
    manifest = Manifest.read(make_run(tmp_path, cells=1, scenarios=1, trials=1) / MANIFEST)
    blobs = BlobStore(tmp_path / ".bench" / "blobs")
    file, checkpoint = blobs.put(b"work"), blobs.put(b"{}")
    tree = Tree((Entry("a", "file", "100644", 4, file, stored=True),)).store(blobs)
    attempt = Attempt(0, 1, collected=(Collected("/workspace/a", "collected", tree=tree),), checkpoint=checkpoint)
    assert {tree, file, checkpoint} <= set(references(manifest, [attempt], blobs))
