"""Which files changed: statuses, renames, and records that come from anywhere."""

from __future__ import annotations

import pytest

from benchsite.diffs.files import FORMAT, Side, anchor, between, read_record, sides_of
from benchsite.diffs.moves import with_moves
from runner.digests import sha256
from runner.errors import RunnerError
from runner.worlds.tree import Entry


def file_side(data: bytes, mode: str = "100644") -> dict:
    return {"type": "file", "mode": mode, "size": len(data), "sha256": sha256(data), "stored": True, "target": None}


def record(*rows: tuple[str, bytes | None, bytes | None]) -> dict:
    changes = [
        {
            "path": path,
            "kind": "modified",
            "before": None if old is None else file_side(old),
            "after": None if new is None else file_side(new),
        }
        for path, old, new in rows
    ]
    return {"format": FORMAT, "changes": changes}


def found(*rows: tuple[str, bytes | None, bytes | None]):
    store = {sha256(data): data for row in rows for data in row[1:] if data is not None}
    return with_moves(read_record(record(*rows)), lambda side: store.get(side.sha256))


def test_each_path_has_one_status_in_path_order():
    changes = found(("c", b"1\n", b"2\n"), ("a", None, b"new\n"), ("b", b"old and other\n", None))
    assert [(change.path, change.letter) for change in changes] == [("a", "A"), ("b", "D"), ("c", "M")]


def test_an_equal_digest_under_another_name_is_a_rename():
    body = b"".join(b"line %d\n" % n for n in range(20))
    (change,) = found(("src/old.py", body, None), ("lib/old.py", None, body))
    assert (change.status, change.old_path, change.path, change.likeness) == (
        "renamed",
        "src/old.py",
        "lib/old.py",
        100,
    )


def test_a_moved_and_edited_file_is_a_rename_by_its_lines():
    body = b"".join(b"line number %d\n" % n for n in range(20))
    (change,) = found(("a.py", body, None), ("b.py", None, body.replace(b"number 3\n", b"number three\n")))
    assert change.status == "renamed"
    assert 80 < change.likeness < 100


def test_unlike_files_stay_apart():
    changes = found(("a.py", b"alpha\nbeta\n", None), ("b.py", None, b"one\ntwo\nthree\n"))
    assert [change.letter for change in changes] == ["D", "A"]


def test_empty_files_are_never_taken_for_one_another():
    changes = found(("a/__init__.py", b"", None), ("b/__init__.py", None, b""))
    assert [change.letter for change in changes] == ["D", "A"]


def test_a_mode_change_and_a_type_change_are_told_apart():
    rows = record(("run.sh", b"x\n", b"x\n"), ("link", b"x\n", b"x\n"))
    rows["changes"][0]["after"]["mode"] = "100755"
    rows["changes"][1]["after"] = {"type": "link", "mode": "120000", "size": 3, "target": "abc"}
    assert {change.path: change.status for change in read_record(rows)} == {"run.sh": "mode", "link": "type"}


def test_a_path_that_is_not_utf_8_keeps_its_bytes():
    rows = record(("x", None, b"1\n"))
    rows["changes"][0]["path"] = {"b64": "Zv8udHh0"}
    (change,) = read_record(rows)
    assert change.path == "f\udcff.txt"
    assert anchor(change.path) != anchor("f%FF.txt")


@pytest.mark.parametrize(
    "damage",
    [
        {"format": "benchsite/changes/9"},
        {"changes": [{"path": "../etc/passwd"}]},
        {"changes": [{"path": "\ud800"}]},
        {"changes": [{"path": "a", "after": {"type": "file", "sha256": "../../x"}}]},
        {"changes": 7},
        {"changes": ["a"]},
    ],
)
def test_a_damaged_record_is_refused_in_one_sentence(damage):
    with pytest.raises(RunnerError, match=r"^The change record .*(?<!\.)\.$"):
        read_record({"format": FORMAT, "changes": [], **damage})


def test_hundreds_of_candidates_do_not_hang_the_page():
    rows = [(f"old{n}", b"same head\n" * 50 + b"%d\n" % n * 2000, None) for n in range(300)]
    rows += [(f"new{n}", None, b"same head\n" * 50 + b"%d\n" % (n + 1000) * 2000) for n in range(300)]
    assert len(found(*rows)) > 0


def tree(**files: bytes) -> dict[str, Side]:
    return {path: Side("file", "100644", len(data), sha256(data), True) for path, data in files.items()}


def changed(before: dict[str, Side], after: dict[str, Side], *contents: bytes):
    store = {sha256(data): data for data in contents}
    return with_moves(between(before, after), lambda side: store.get(side.sha256), before)


def test_two_trees_differ_where_anything_stands_otherwise():
    before = tree(same=b"1\n", edited=b"1\n", gone=b"x\n", run=b"#!\n") | {"link": Side("link", "120000", target="a")}
    after = tree(same=b"1\n", edited=b"2\n", new=b"other\n") | {
        "run": Side("file", "100755", 3, sha256(b"#!\n"), False),
        "link": Side("link", "120000", 9, target="b"),
    }
    found = [(change.path, change.letter) for change in changed(before, after)]
    assert found == [("edited", "M"), ("gone", "D"), ("link", "M"), ("new", "A"), ("run", "X")]
    assert changed(before, before) == ()


def test_where_the_bytes_were_kept_is_no_change():
    before, after = tree(a=b"1\n"), {"a": Side("file", "100644", 2, sha256(b"1\n"), False)}
    assert between(before, after) == ()


def test_folders_of_a_tree_are_told_by_their_files():
    entries = [Entry("src", "dir", "040000"), Entry("src/a", "file", "100644", 2, "ab" * 32, stored=True)]
    assert sides_of(entries) == {"src/a": Side("file", "100644", 2, "ab" * 32, True)}


def test_a_copy_of_an_untouched_file_names_its_source():
    body = b"".join(b"line %d\n" % n for n in range(9))
    (change,) = changed(tree(a=body), tree(a=body, b=body))
    assert (change.status, change.letter, change.old_path, change.likeness) == ("copied", "C", "a", 100)
    assert change.before is not None


def test_a_copy_that_was_edited_is_found_where_its_source_changed_too():
    body = b"".join(b"line %d\n" % n for n in range(30))
    left, right = body + b"left\n", body + b"right\n"
    source, copy = changed(tree(a=body), tree(a=left, b=right), body, left, right)
    assert (source.path, source.letter) == ("a", "M")
    assert (copy.path, copy.letter, copy.old_path) == ("b", "C", "a")
    assert copy.likeness < 100


def test_of_two_new_files_with_the_old_content_one_has_moved_and_one_is_a_copy():
    body = b"".join(b"line %d\n" % n for n in range(9))
    found = changed(tree(old=body), tree(new1=body, new2=body))
    assert [(change.path, change.letter, change.old_path) for change in found] == [
        ("new1", "R", "old"),
        ("new2", "C", "old"),
    ]
