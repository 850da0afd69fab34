from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner import paths
from runner.errors import PathRefused


@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_survive_the_way_through_json(raw: bytes) -> None:
    name = os.fsdecode(raw)
    there = json.loads(json.dumps(paths.to_json(name), allow_nan=False))
    assert os.fsencode(paths.from_json(there)) == raw


def test_a_utf8_path_stays_readable_and_another_is_base64() -> None:
    assert paths.to_json("src/parser.py") == "src/parser.py"
    assert paths.to_json(os.fsdecode(b"\xff.txt")) == {"b64": "/y50eHQ="}


@pytest.mark.parametrize("value", [{"b64": "not base64!"}, {"path": "x"}, {}, {"b64": 7}])
def test_what_is_no_path_is_refused(value: dict[str, str]) -> None:
    with pytest.raises(PathRefused):
        paths.from_json(value)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a/../b", "..", ".", "./a", "a//b", "a/", "a\0b", "a/./b"])
def test_a_path_that_is_not_plainly_relative_is_refused(path: str) -> None:
    with pytest.raises(PathRefused):
        paths.check_relative(path)


@pytest.mark.parametrize("path", ["x" * 256, "/".join(["d" * 200] * 30)])
def test_a_path_no_file_system_holds_is_refused(path: str) -> None:
    with pytest.raises(PathRefused, match="too long"):
        paths.check_relative(path)


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=5).map("/".join))
def test_what_passes_stays_below_its_base(path: str) -> None:
    try:
        passed = paths.check_relative(path)
    except PathRefused:
        return
    assert Path(os.path.normpath(f"/base/{passed}")).is_relative_to("/base")
    assert os.path.normpath(f"/base/{passed}") != "/base"


def test_a_link_that_leads_out_is_refused_and_one_that_stays_is_not(tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "real").mkdir(parents=True)
    (base / "out").symlink_to(tmp_path)
    (base / "within").symlink_to("real")
    with pytest.raises(PathRefused, match="leads outside"):
        paths.join_within(base, "out/secret.txt")
    assert paths.join_within(base, "within/file.txt") == base / "within/file.txt"
