from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.blobs import BlobStore, is_digest
from runner.digests import sha256
from runner.errors import RunnerError


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


def left_over(blobs: BlobStore) -> list[Path]:
    return [path for path in blobs.root.rglob("*") if path.is_file() and not is_digest(path.name)]


@given(data=st.binary(max_size=2000))
def test_what_is_put_in_comes_out(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    blobs = BlobStore(tmp_path_factory.mktemp("blobs"))
    digest = blobs.put(data)
    assert digest == sha256(data)
    assert blobs.read(digest) == data
    assert blobs.size(digest) == len(data)


def test_the_same_bytes_are_stored_once_by_every_way_in(blobs: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"hello")
    ways = {blobs.put(b"hello"), blobs.put_file(tmp_path / "f"), blobs.put_stream(io.BytesIO(b"hello"))[0]}
    assert list(blobs.digests()) == sorted(ways)
    assert len(ways) == 1


def test_writers_of_one_blob_at_one_time_all_succeed(blobs: BlobStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda _: BlobStore(blobs.root).put(b"x" * 100_000), range(32)))
    assert list(blobs.digests()) == list(digests)
    assert left_over(blobs) == []


def test_a_stream_that_is_not_what_was_announced_is_not_kept(blobs: BlobStore) -> None:
    with pytest.raises(RunnerError, match=r"not \w+ as announced"):
        blobs.put_stream(io.BytesIO(b"other"), expected=sha256(b"announced"))
    assert list(blobs.digests()) == []
    assert left_over(blobs) == []


def test_a_stream_over_its_limit_is_not_kept(blobs: BlobStore) -> None:
    with pytest.raises(RunnerError, match="larger than the 10 bytes"):
        blobs.put_stream(io.BytesIO(b"x" * 11), limit=10)
    assert left_over(blobs) == []
    assert blobs.put_stream(io.BytesIO(b"x" * 10), limit=10)[1] == 10


def test_a_reader_that_breaks_off_leaves_nothing(blobs: BlobStore) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        blobs.put_stream(Broken())
    assert left_over(blobs) == []


@pytest.mark.parametrize("name", ["", "abc", "../" * 21 + "x", "A" * 64, "g" * 64, "a" * 63, "a" * 65])
def test_only_a_digest_names_a_blob(blobs: BlobStore, name: str) -> None:
    with pytest.raises(RunnerError, match="not a sha256 digest"):
        blobs.path(name)
