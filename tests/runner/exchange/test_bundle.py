from __future__ import annotations

import json
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.blobs import BlobStore
from runner.digests import sha256
from runner.errors import BundleError, RunnerError
from runner.exchange.bundle import Limits, open_bundle, write_bundle
from runner.exchange.sources import blobs_of
from runner.journal import read_events
from runner.replay import read
from tests.make import make_run

Contents = dict[str, bytes]


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("bench"), cells=2, scenarios=2, trials=3)


@pytest.fixture(scope="module")
def bundle(run_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(run_dir, tmp_path_factory.mktemp("out") / "run.zip")


def contents_of(path: Path) -> Contents:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def swallow(path: Path, limits: Limits | None = None) -> None:
    """Open a bundle and read all of it."""
    with open_bundle(path, limits) as opened:
        list(opened.events())
        for _, stream in opened.blobs():
            stream.read()


def pack(target: Path, contents: Contents, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return target


def test_a_run_survives_the_way_through_a_bundle(run_dir: Path, bundle: Path, tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "blobs")
    with open_bundle(bundle) as opened:
        assert opened.run == run_dir.name
        assert list(opened.events()) == list(read_events(run_dir))
        opened.unpack(tmp_path / "run", store)
    assert read(tmp_path / "run") == read(run_dir)
    assert list(store.digests()) == list(blobs_of(run_dir).digests())
    for name in ("manifest.json", "events.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (run_dir / name).read_bytes()


def test_the_same_run_makes_the_same_bytes(run_dir: Path, bundle: Path, tmp_path: Path) -> None:
    again = write_bundle(run_dir, tmp_path / "again.zip")
    assert again.read_bytes() == bundle.read_bytes()


def test_a_bundle_that_cannot_be_whole_is_absent(run_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="missing"):
        write_bundle(run_dir, tmp_path / "x.zip", BlobStore(tmp_path / "empty"))
    with pytest.raises(BundleError, match="cannot be written"):
        write_bundle(run_dir, tmp_path / "nowhere" / "x.zip")
    assert list(tmp_path.iterdir()) == []


def without(name: str) -> Callable[[Contents], Contents]:
    return lambda contents: {key: data for key, data in contents.items() if key != name}


def with_entry(name: str, data: bytes) -> Callable[[Contents], Contents]:
    return lambda contents: {**contents, name: data}


def with_index(**change: object) -> Callable[[Contents], Contents]:
    return lambda contents: {
        **contents,
        "bundle.json": json.dumps({**json.loads(contents["bundle.json"]), **change}).encode(),
    }


def another_manifest(contents: Contents) -> Contents:
    data = json.dumps({**json.loads(contents["manifest.json"]), "run": "01ANOTHER"}).encode()
    return with_index(manifest=sha256(data))({**contents, "manifest.json": data})


def one_blob_changed(contents: Contents) -> Contents:
    name = next(name for name in contents if name.startswith("blobs/"))
    return {**contents, name: contents[name] + b"!"}


def one_blob_missing(contents: Contents) -> Contents:
    return without(next(name for name in contents if name.startswith("blobs/")))(contents)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without("bundle.json"), "holds no bundle.json"),
        (without("manifest.json"), "announced in bundle.json but is not there"),
        (without("events.jsonl"), "announced in bundle.json but is not there"),
        (one_blob_missing, "announced in bundle.json but is not there"),
        (one_blob_changed, "not the announced one"),
        (with_entry("events.jsonl", b""), "not the announced one"),
        (with_entry("manifest.json", b"{}"), "not the announced one"),
        (with_entry("../../evil", b"x"), "does not belong"),
        (with_entry("/etc/cron.d/evil", b"x"), "does not belong"),
        (with_entry("blobs/../manifest.json", b"x"), "does not belong"),
        (with_entry("blobs/" + "a" * 64, b"x"), "does not belong"),
        (with_entry("folder/", b""), "not a plain file"),
        (with_index(format="benchsite/bundle/9"), "this version can read"),
        (with_index(digests="all"), "must give run, manifest, events and digests"),
        (with_index(digests=["../x"]), "must give run, manifest, events and digests"),
        (with_index(run=None), "must give run, manifest, events and digests"),
        (with_entry("bundle.json", b"[" * 100_000), "not valid JSON"),
        (with_entry("bundle.json", b"[]"), "not a JSON object"),
        (another_manifest, "the manifest is of run '01ANOTHER'"),
    ],
)
def test_a_spoilt_bundle_is_refused(
    bundle: Path, tmp_path: Path, spoil: Callable[[Contents], Contents], said: str
) -> None:
    bad = pack(tmp_path / "bad.zip", spoil(contents_of(bundle)))
    with pytest.raises(BundleError, match=said) as refused:
        swallow(bad)
    assert "\n" not in str(refused.value)


def test_a_link_in_a_bundle_is_refused(bundle: Path, tmp_path: Path) -> None:
    bad = pack(tmp_path / "bad.zip", without("events.jsonl")(contents_of(bundle)))
    link = zipfile.ZipInfo("events.jsonl")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(bad, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(BundleError, match="not a plain file"):
        swallow(bad)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_one_name_twice_is_refused(bundle: Path, tmp_path: Path) -> None:
    bad = pack(tmp_path / "bad.zip", contents_of(bundle))
    with zipfile.ZipFile(bad, "a") as archive:
        archive.writestr("events.jsonl", "")
    with pytest.raises(BundleError, match="there twice"):
        swallow(bad)


def test_packing_methods_that_bundles_do_not_use_are_refused(bundle: Path, tmp_path: Path) -> None:
    bad = pack(tmp_path / "bad.zip", contents_of(bundle), zipfile.ZIP_LZMA)
    with pytest.raises(BundleError, match="packed by a method"):
        swallow(bad)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(entries=5), "entries; 5 are allowed"),
        (Limits(size=1000), "1000 are allowed"),
        (Limits(blob=100), "larger than 100 bytes"),
        (Limits(ratio=1, small=0), "times its size; 1 are allowed"),
    ],
)
def test_what_goes_over_a_limit_is_refused(bundle: Path, limits: Limits, said: str) -> None:
    with pytest.raises(BundleError, match=said):
        swallow(bundle, limits)


def test_a_bomb_is_refused_before_it_is_unpacked(bundle: Path, tmp_path: Path) -> None:
    zeros = bytes(80 << 20)
    contents = with_index(digests=[sha256(zeros)])(contents_of(bundle))
    contents = {name: data for name, data in contents.items() if not name.startswith("blobs/")}
    bad = pack(tmp_path / "bomb.zip", {**contents, f"blobs/{sha256(zeros)}": zeros})
    with pytest.raises(BundleError, match="times its size"):
        swallow(bad)


def test_a_table_of_contents_of_millions_of_entries_is_refused_unread(tmp_path: Path) -> None:
    """The end record announces more than the cap; the entries behind it are never parsed."""
    table = b"PK\x01\x02" + bytes(42)
    size = 60 << 20
    bad = tmp_path / "many.zip"
    with bad.open("wb") as file:
        file.write(table * (size // len(table)))
        length = file.tell()
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, length, 0, 0))
    with pytest.raises(BundleError, match="table of contents"):
        swallow(bad, Limits(entries=1000))


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x05\x06", b"PK\x03\x04" + bytes(100), bytes(1 << 16)])
def test_what_is_no_zip_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(BundleError, match=r"x\.zip is not a readable zip file"):
        swallow(tmp_path / "x.zip")


def test_a_bundle_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"none\.zip cannot be opened"):
        swallow(tmp_path / "none.zip")


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(data=st.data())
def test_damage_anywhere_never_passes_and_never_escapes_as_another_error(
    bundle: Path, run_dir: Path, tmp_path: Path, data: st.DataObject
) -> None:
    """Flip one byte: either the bundle is refused in our own words, or what it gives is unharmed."""
    raw = bytearray(bundle.read_bytes())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    (tmp_path / "bad.zip").write_bytes(raw)
    try:
        with open_bundle(tmp_path / "bad.zip") as opened:
            assert list(opened.events()) == list(read_events(run_dir))
            for digest, stream in opened.blobs():
                assert sha256(stream.read()) == digest
    except RunnerError:
        pass


def test_a_blob_that_the_store_has_must_be_in_the_bundle_all_the_same(
    run_dir: Path, bundle: Path, tmp_path: Path
) -> None:
    """Else naming a digest would give whoever uploads a hold on bytes they never had."""
    bad = pack(tmp_path / "bad.zip", one_blob_changed(contents_of(bundle)))
    with open_bundle(bad) as opened, pytest.raises(RunnerError):
        opened.unpack(tmp_path / "run", blobs_of(run_dir))
    assert not (tmp_path / "run").exists()


def test_more_entries_than_allowed_are_counted_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"x"
    table = entry * 40_000
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 40_000, 40_000, len(table), 0, 0)
    (tmp_path / "many.zip").write_bytes(table + end)
    monkeypatch.setattr("runner.exchange.bundle.refuse_unfit", None)
    with pytest.raises(BundleError, match="holds 40000 entries; 20000 are allowed"):
        swallow(tmp_path / "many.zip", Limits(entries=20_000))


@pytest.mark.parametrize("name", ["bundle.json", "manifest.json"])
def test_json_that_would_fill_the_memory_is_refused_before_it_is_read(bundle: Path, tmp_path: Path, name: str) -> None:
    contents = contents_of(bundle)
    many = b'"x":[' + b"{}," * 2_000_000 + b"{}],"
    contents[name] = contents[name].replace(b"{", b"{" + many, 1)
    if name == "manifest.json":
        index = json.loads(contents["bundle.json"])
        contents["bundle.json"] = json.dumps({**index, "manifest": sha256(contents[name])}).encode()
    with pytest.raises(BundleError, match=f"{name} holds too many values"):
        swallow(pack(tmp_path / "crowded.zip", contents))
