from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from runner.definition import Bench
from runner.errors import BenchError
from runner.hashes import definition_hashes, different, scenario_hash
from runner.load import load_bench
from runner.schema_source import extract
from runner.sealing import Sealed, open_sealed, seal

from .authoring import AGENTS, SCENARIO, write_bench, write_files

FILES = {"fixtures/expected.txt": "42\n", "tests/rows.json": "[]\n", "helpers.py": "X = 1\n", "README.md": "# Demo\n"}


def sealed(folder: Path, **more: object) -> tuple[Bench, Sealed]:
    bench = load_bench(write_bench(folder, files=FILES, **more))  # type: ignore[arg-type]
    return bench, seal(bench)


def hashes(bench: Bench, seal: Sealed) -> dict[str, str]:
    return definition_hashes(bench, extract(bench.schema, bench.file), seal)


def test_a_seal_holds_all_that_a_trial_reads(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"tests/__pycache__/x.pyc": "", ".git/config": "", "node_modules/a.py": "", "data/big.bin": ""}
    )
    bench, found = sealed(tmp_path)
    names = sorted(path.relative_to(found.root).as_posix() for path in found.root.rglob("*") if path.is_file())
    assert names == [
        "README.md", "bench.py", "fixtures/expected.txt", "helpers.py", "tests/bench_it.py", "tests/rows.json",
        "workspace/notes.txt",
    ]  # fmt: skip
    assert load_bench(found.root).name == bench.name
    assert found.world == found.root / "workspace"


def test_editing_the_bench_leaves_the_seal_as_it_was(tmp_path: Path) -> None:
    bench, found = sealed(tmp_path)
    (tmp_path / "tests/bench_it.py").write_text("raise SystemExit\n")
    assert (found.root / "tests/bench_it.py").read_text() == SCENARIO
    assert seal(bench).digest != found.digest


def test_all_but_the_world_is_read_only(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/run.sh").write_text("true\n")
    (tmp_path / "workspace/run.sh").chmod(0o755)
    _, found = sealed(tmp_path)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in found.root.rglob("*") if path.is_file()}
    assert not any(modes[name] & 0o222 for name in ("bench.py", "expected.txt", "bench_it.py"))
    assert modes["run.sh"] == 0o755


def test_the_same_bench_is_sealed_once(tmp_path: Path) -> None:
    bench, found = sealed(tmp_path)
    os.utime(tmp_path / "workspace/notes.txt", (1, 1))
    assert seal(bench) == found
    assert len(list((tmp_path / ".bench/sealed").glob("*/"))) == 1


def test_a_damaged_seal_is_made_anew(tmp_path: Path) -> None:
    bench, found = sealed(tmp_path)
    (found.root / "workspace/notes.txt").write_text("tampered\n")
    with pytest.raises(BenchError, match="was changed after it was made"):
        open_sealed(tmp_path / ".bench", found.digest, verify=True)
    assert (seal(bench).root / "workspace/notes.txt").read_text() == "start\n"


def test_a_seal_is_opened_again_by_its_digest(tmp_path: Path) -> None:
    _, found = sealed(tmp_path)
    again = open_sealed(tmp_path / ".bench", found.digest, verify=True)
    assert (again.root, again.template, again.files) == (found.root, found.template, found.files)
    with pytest.raises(BenchError, match="is missing from"):
        open_sealed(tmp_path / ".bench", "0" * 64)


@pytest.mark.parametrize("folder", ["workspace", "workspace/deep", "fixtures", "tests"])
def test_a_symlink_is_refused_with_its_path(tmp_path: Path, folder: str) -> None:
    write_bench(tmp_path)
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "way_out").symlink_to("/etc/passwd")
    with pytest.raises(BenchError) as caught:
        sealed(tmp_path)
    assert str(tmp_path / folder / "way_out") in str(caught.value)
    assert "symlink" in str(caught.value) or "symbolic link" in str(caught.value)
    assert not list((tmp_path / ".bench/sealed").iterdir())


@pytest.mark.parametrize("name", ["workspace", "fixtures", "tests"])
def test_a_whole_folder_may_not_be_a_link_out(tmp_path: Path, name: str) -> None:
    write_bench(tmp_path / "bench")
    elsewhere = write_files(tmp_path / "elsewhere", {"bench_it.py": SCENARIO})
    for path in sorted((tmp_path / "bench" / name).glob("*")):
        path.unlink()
    if (tmp_path / "bench" / name).exists():
        (tmp_path / "bench" / name).rmdir()
    (tmp_path / "bench" / name).symlink_to(elsewhere)
    with pytest.raises(BenchError, match="symlink"):
        seal(load_bench(tmp_path / "bench"))


def test_a_fifo_and_a_socket_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bench(tmp_path)
    os.mkfifo(tmp_path / "workspace/pipe")
    with pytest.raises(BenchError, match="fifo"):
        sealed(tmp_path)
    (tmp_path / "workspace/pipe").unlink()
    monkeypatch.chdir(tmp_path / "workspace")  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("s")
        with pytest.raises(BenchError, match="socket"):
            sealed(tmp_path)


def test_a_named_workspace_that_is_missing_is_refused(tmp_path: Path) -> None:
    bench = load_bench(write_bench(tmp_path, f"workspace=Workspace('./word'), {AGENTS}"))
    with pytest.raises(BenchError) as caught:
        seal(bench)
    assert str(caught.value) == (
        f"{tmp_path / 'bench.py'}:6: The workspace './word' is no folder; make it, or declare workspace=None."
    )


def test_a_workspace_elsewhere_is_sealed_as_the_workspace(tmp_path: Path) -> None:
    options = f"workspace=Workspace('./worlds/small'), {AGENTS}"
    bench = load_bench(write_bench(tmp_path, options, files={"worlds/small/a.py": "A = 1\n"}))
    found = seal(bench)
    assert (found.root / "workspace/a.py").is_file()
    assert not (found.root / "worlds").exists()


def test_no_world_is_no_template(tmp_path: Path) -> None:
    found = seal(load_bench(write_bench(tmp_path, f"workspace=None, {AGENTS}")))
    assert found.template is None
    assert found.world is None
    assert open_sealed(tmp_path / ".bench", found.digest).template is None


PARTS = [
    ("workspace/notes.txt", "other\n", ["template"]),
    ("fixtures/expected.txt", "43\n", ["fixtures"]),
    ("tests/rows.json", "[1]\n", ["code"]),
    ("helpers.py", "X = 2\n", ["code"]),
    ("README.md", "# Other\n", []),
]


@pytest.mark.parametrize(("name", "text", "parts"), PARTS)
def test_an_edit_changes_the_part_it_belongs_to(tmp_path: Path, name: str, text: str, parts: list[str]) -> None:
    before = hashes(*sealed(tmp_path))
    bench = load_bench(write_files(tmp_path, {name: text}))
    after = hashes(bench, seal(bench))
    assert different(before, after) == parts
    assert (before["definition"] == after["definition"]) is (not parts)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ("trials=9, title='T', version='9', retries=2", []),
        ("matrix={'agent': ['quiet', 'noop']}", []),
        ("suite='{python} -m unittest'", ["suite"]),
        ("timeouts=Timeouts(request=5)", ["limits"]),
        ("budget=Budget(trial='$2')", ["limits"]),
        ("evaluation='none'", ["evaluation"]),
        ("judge=Judge('gpt')", ["judge"]),
        ("workspace=Workspace(capture=Capture(max_bytes='1 MiB'))", ["capture"]),
        ("workspace=Workspace(capture=Capture(max_bytes=10 * 2**20))", []),
        ("workspace=Workspace(retain='always')", []),
    ],
)
def test_an_option_changes_the_part_it_belongs_to(tmp_path: Path, options: str, parts: list[str]) -> None:
    before, after = (
        hashes(*sealed(tmp_path / n, options=o)) for n, o in (("a", AGENTS), ("b", f"{AGENTS}, {options}"))
    )
    assert different(before, after) == parts


def test_a_comment_in_setup_changes_nothing_and_its_body_does(tmp_path: Path) -> None:
    setups = ["    return None\n", "    # quietly\n    return None\n", "    return 1\n"]
    schema = "def setup(workspace_path, cell):\n{}class Schema:\n    ok: bool\n"
    found = [
        hashes(*sealed(tmp_path / str(n), options=f"setup=setup, {AGENTS}", schema=schema.format(body)))
        for n, body in enumerate(setups)
    ]
    assert different(found[0], found[1]) == []
    assert different(found[0], found[2]) == ["setup"]


def test_editing_one_scenario_does_not_cut_the_history_of_another(tmp_path: Path) -> None:
    two = "def bench_a(agent):\n    pass\n\ndef bench_b(agent):\n    {}\n"
    found = []
    for number, body in enumerate(("pass", "pass  # still", "return 1")):
        _, one = sealed(tmp_path / str(number))
        bench = load_bench(write_files(tmp_path / str(number), {"tests/bench_two.py": two.format(body)}))
        one = seal(bench)
        found.append(
            [
                scenario_hash(one, *what)
                for what in (
                    ("tests/bench_two.py", "bench_a"),
                    ("tests/bench_two.py", "bench_b"),
                    ("tests/bench_it.py", "bench_it"),
                )
            ]
        )
    assert found[0] == found[1]
    assert [a == b for a, b in zip(found[0], found[2], strict=True)] == [True, False, True]


def test_the_generated_folder_explains_itself_and_stays_out_of_version_control(tmp_path: Path) -> None:
    sealed(tmp_path)
    assert (tmp_path / ".bench/.gitignore").read_text() == "*\n"
    assert (tmp_path / ".bench/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert "sealed/" in (tmp_path / ".bench/README").read_text()
