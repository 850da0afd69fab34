from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner import digests

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_the_canonical_form_is_json_of_the_same_value(value: object) -> None:
    assert json.loads(digests.canonical(value)) == value


@given(st.dictionaries(NAMES, st.integers(), max_size=6))
def test_the_order_of_keys_does_not_change_a_digest(value: dict[str, int]) -> None:
    assert digests.digest(dict(reversed(value.items()))) == digests.digest(value)


def test_a_lone_surrogate_has_a_digest_of_its_own() -> None:
    assert digests.digest("\udcff") != digests.digest("\udcfe")


def test_nan_has_no_canonical_form() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        digests.canonical({"x": float("nan")})


def test_a_file_is_hashed_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 3_000_000)
    assert digests.sha256_file(tmp_path / "f") == hashlib.sha256(b"x" * 3_000_000).hexdigest()


def test_a_cell_without_axes_is_called_default() -> None:
    assert digests.cell_id({}) == "default"


@given(st.dictionaries(NAMES, NAMES, min_size=1, max_size=3))
def test_a_cell_is_named_by_its_values_never_by_position(axes: dict[str, str]) -> None:
    name = digests.cell_id(axes)
    assert digests.cell_id(dict(reversed(axes.items()))) == name
    assert len(name) <= 64
    assert re.fullmatch(r"[A-Za-z0-9%=,._~-]+", name)
    if "~" not in name[-13:]:
        read = dict(part.split("=", 1) for part in name.split(","))
        assert {unquote(key): unquote(value) for key, value in read.items()} == axes


def test_long_cells_that_begin_alike_have_different_names() -> None:
    one, two = ({"agent": "a" * 80, "model": model} for model in ("small", "large"))
    assert digests.cell_id(one) != digests.cell_id(two)


@pytest.mark.parametrize("name", ["fix_bug", "a.b-c"])
def test_a_slug_of_a_fit_name_is_the_name(name: str) -> None:
    assert digests.slug(name) == name


@given(NAMES)
def test_a_slug_fits_into_one_part_of_an_address(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._~-]+", digests.slug(name))


def test_names_that_would_share_a_slug_are_told_apart() -> None:
    assert len({digests.slug(name) for name in ("a/b", "a b", "a-b", "a::b")}) == 4
