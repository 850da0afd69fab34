"""Secrets are struck out of everything a run writes, in whatever form they come."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from runner.blobs import BlobStore
from runner.redaction import Redactor, forms, looks_secret, secret_pairs
from runner.replay import Attempt, RunResult
from runner.running import run
from runner.scenario import outputs
from runner.scenario.outputs import redacted
from tests.runner.scenario.benches import by_scenario, write_bench

SECRET = 'canary/"pläne"+Zk93 xyzzy'
"""Quotes, a slash, an umlaut and a space: each form of it looks different."""
AXIS, KEY, DECLARED = "canary-axis-77aa31", "canary-key-5f0e9c", "canary-declared-b2d4"
CANARIES = (SECRET, AXIS, KEY, DECLARED)
LEAKY = """
import base64, json, os, sys, urllib.parse
values = [os.environ[name] for name in ("SERVICE_TOKEN", "DB_PASSWORD", "EXTRA_API_KEY", "MOOD")]
for value in values:
    raw = value.encode()
    print(value, json.dumps(value), json.dumps(json.dumps({"said": value})), urllib.parse.quote(value, safe=""))
    for before in ("", "a", "ab"):
        print(base64.b64encode(before.encode() + raw + b" and more").decode())
    print(raw.hex(), file=sys.stderr)
    print(base64.encodebytes(b"HOME=/agent\\nMAIL=" + raw + b" and much more " * 9).decode())
    sys.stdout.write("x" * 700_000 + value + "y" * 700_000 + chr(10))
print(" ".join(values))
if "write" in sys.stdin.read():
    open("leak.txt", "w").write(values[0])
    os.symlink("/srv/" + values[1], "link")
"""
SCENARIOS = """
    import os

    def bench_says(workspace, agent):
        reply = agent.request("say all: " + os.environ["CANARY_KEY"])
        observe("note", reply.text[-300:])
        observe("count", "the count is " + os.environ["CANARY_KEY"])
        bench.attach("env " + os.environ["CANARY_KEY"], reply.text + os.environ["CANARY_KEY"])
        print("the scenario prints", os.environ["CANARY_KEY"])
        raise RuntimeError("it broke on " + os.environ["CANARY_KEY"])

    def bench_guard(workspace, agent):
        assert not os.environ["CANARY_KEY"], "guarded: " + os.environ["CANARY_KEY"]

    def bench_writes(workspace, agent):
        agent.request("write it")
        observe("resolved", True)

    @pytest.mark.evaluation("none", artifacts=["/workspace/leak.txt"])
    def bench_hands_in(workspace, agent, evaluation):
        agent.request("write it, and hand it in")
        with evaluation():
            observe("note", evaluation.artifacts["/workspace/leak.txt"].read_text())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bench(
        tmp_path_factory.mktemp("secrets") / "bench",
        {"it": SCENARIOS},
        declare='matrix={"agent": "leaky", "env.DB_PASSWORD": ["' + AXIS + '"], "env.MOOD": ["' + DECLARED + '"]}, '
        'secrets=["env.MOOD"], workspace=Workspace("./workspace", retain="never")',
        agents='{"leaky": Command("{python} leaky.py", env={"SERVICE_TOKEN": __import__("os").environ["CANARY"], '
        '"EXTRA_API_KEY": __import__("os").environ["CANARY_KEY"]})}',
        world={"leaky.py": LEAKY},
    )


@pytest.fixture(scope="module")
def result(folder: Path) -> RunResult:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANARY", SECRET)
        patch.setenv("CANARY_KEY", KEY)
        return run(folder, workers=1, seed=1)


@pytest.fixture
def attempts(result: RunResult) -> dict[str, Attempt]:
    return by_scenario(result)


def written(folder: Path) -> dict[Path, bytes]:
    """Everything the run wrote: manifest, journal, server log, result, blobs."""
    dot_bench = folder / ".bench"
    places = (dot_bench / "runs", dot_bench / "blobs")
    return {file: file.read_bytes() for place in places for file in place.rglob("*") if file.is_file()}


def test_no_canary_stands_in_anything_a_run_wrote(folder: Path, result: RunResult) -> None:
    files = written(folder)
    altered = {SECRET.encode()}  # the file the agent wrote is its work, kept to the byte
    names = {file.name for file in files}
    assert {"manifest.json", "events.jsonl"} <= names
    needles = {form for canary in CANARIES for form in forms(canary)}
    texts = {file.name: data for file, data in files.items() if data not in altered and b'"target":"/srv/' not in data}
    joined = [(name, data.replace(b"\n", b"").replace(b"\\n", b"")) for name, data in texts.items()]
    assert [(name, form) for name, data in (*texts.items(), *joined) for form in needles if form in data] == []
    assert sum(data in altered for data in files.values()) == 1


def test_what_is_handed_in_is_struck_out_before_it_is_stored(attempts: dict[str, Attempt]) -> None:
    attempt = attempts["it::hands_in"]
    assert attempt.state == "scored", attempt.reason
    assert attempt.observations["note"].value == "[redacted SERVICE_TOKEN]"
    assert attempt.checkpoint is not None


def test_what_was_struck_out_says_which_secret_stood_there(folder: Path, attempts: dict[str, Attempt]) -> None:
    says = attempts["it::says"]
    note = str(says.observations["note"].value)
    for name in ("SERVICE_TOKEN", "DB_PASSWORD", "EXTRA_API_KEY", "MOOD"):
        assert f"[redacted {name}]" in note
    assert "it broke on [redacted EXTRA_API_KEY]" in says.reason
    assert "[redacted EXTRA_API_KEY]" in says.issues[-1].detail
    assert "env [redacted EXTRA_API_KEY]" in [artifact.name for artifact in says.artifacts]
    assert "[redacted EXTRA_API_KEY]" in attempts["it::guard"].guards[0].sentence


def test_a_changed_file_is_not_altered_but_flagged(attempts: dict[str, Attempt]) -> None:
    assert attempts["it::writes"].flags == ("secret_in_file",)
    issue, link = attempts["it::writes"].issues
    assert link.sentence == "link has DB_PASSWORD in its name, or in what it links to."
    assert (issue.code, issue.severity, issue.detail) == ("secret_in_file", "warning", 'file "leak.txt"')
    assert "SERVICE_TOKEN" in issue.sentence
    assert attempts["it::says"].flags == ("invalid",)


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "env.GITHUB_TOKEN", "PGPASSWORD", "config.provider.apiKey", "AWS_SECRET_ACCESS_KEY_2"]
)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name", ["KEYBOARD", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "TOKEN_LIMIT", "PWD", "PATH", "MONKEY", "KEY_FILE_NAME"]
)
def test_other_variables_are_left_alone(name: str) -> None:
    assert not looks_secret(name)


def test_words_that_are_no_secrets_are_not_struck_out() -> None:
    plain = Redactor([("API_KEY", "none"), ("MY_TOKEN", "4096"), ("A_KEY", "abc")])
    assert plain.text("none of 4096 abc") == "none of 4096 abc"


def test_a_password_within_a_url_is_a_secret() -> None:
    pairs = secret_pairs({"DATABASE_URL": "postgres://me:hush-hush-9@host/db", "HOME": "/home/me"})
    assert Redactor(pairs).text("it was hush-hush-9") == "it was [redacted DATABASE_URL]"


@pytest.mark.parametrize("size", [1, 7, 19, 64])
def test_a_secret_across_the_border_of_two_chunks_is_found(size: int) -> None:
    data = (
        f"a{KEY}b{quote_plus(SECRET)}c".encode()
        + base64.b64encode(b"ab" + SECRET.encode() + b"tail")
        + KEY[:9].encode()
    )
    redactor = Redactor([("K", KEY), ("S", SECRET)])
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert b"".join(redactor.stream(chunks)) == redactor.strike(data)
    assert set(redactor.names_in(chunks)) == {"K", "S"}


def escaped(text: str, form: str = "\\\\u{:04x}") -> str:
    units = text.encode("utf-16-be")
    return "".join(form.format(int.from_bytes(units[at : at + 2])) for at in range(0, len(units), 2))


WAYS = {
    "go": "".join(escaped(char) if char in "&<>" else char for char in "canary<&>key-5f0e9c"),
    "every character": escaped("canary<&>key-5f0e9c"),
    "in capitals": escaped("canary<&>key-5f0e9c", "\\\\u{:04X}"),
    "quoted again": json.dumps(json.dumps(escaped("canary<&>key-5f0e9c"))),
    "utf-16 read as text": json.dumps("canary<&>key-5f0e9c".encode("utf-16-le").decode()),
    "utf-16 read as text, quoted": json.dumps(json.dumps("canary<&>key-5f0e9c".encode("utf-16-be").decode())),
    "utf-16": "canary<&>key-5f0e9c".encode("utf-16").decode("latin-1"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [11, 100_000])
def test_escaped_as_json_allows_or_in_utf_16_it_is_found(way: str, size: int) -> None:
    data = b"before " + WAYS[way].encode("latin-1") + b" after"
    redactor = Redactor([("K", "canary<&>key-5f0e9c"), ("S", SECRET)])
    clean = b"".join(redactor.stream(data[at : at + size] for at in range(0, len(data), size)))
    assert b"[redacted K]" in clean
    assert b"canary" not in clean.replace(b"\0", b"")
    assert clean.replace(b"\0", b"").startswith(b"before ")
    assert b"\\u00" not in clean.replace(b"\\u0000", b"")
    assert redactor.names_in([data]) == ["K"]


def test_characters_beyond_ascii_and_quotes_are_found_escaped_too() -> None:
    redactor = Redactor([("S", SECRET), ("E", "emoji-😀-secret")])
    assert redactor.text(escaped(SECRET)) == "[redacted S]"
    assert redactor.text("x" + escaped("emoji-😀") + "-secret") == "x[redacted E]"
    assert redactor.text(escaped("canary/") + json.dumps(SECRET[7:])[1:-1]) == "[redacted S]"


def test_half_a_secret_does_not_stay_where_the_middle_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("x" * 990 + KEY + "y" * 5000 + KEY + "z" * 990)
    kept = redacted(file, file.stat().st_size, 2000, Redactor([("K", KEY)])).decode()
    assert "bytes left out" in kept
    assert not any(KEY[:n] in kept or KEY[-n:] in kept for n in (8, len(KEY)))


@pytest.mark.parametrize("pairs", [[], [("K", KEY)]])
def test_of_a_huge_transcript_both_ends_are_kept_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr(outputs, "LIMIT", 2000)
    blobs, lines = BlobStore(tmp_path), (f"{number} {KEY}\n".encode() for number in range(1000))
    kept = blobs.read(outputs.store_lines(blobs, lines, Redactor(pairs)) or "").decode()
    assert kept.startswith("0 ")
    assert "\n999 " in kept
    assert "bytes left out" in kept
    assert len(kept) < 2100
    assert (KEY in kept) is not bool(pairs)
    assert outputs.store_lines(blobs, iter(()), Redactor(pairs)) is None


def test_a_text_that_was_cut_within_a_secret_shows_no_half_of_it() -> None:
    redactor = Redactor([("K", KEY)])
    assert redactor.text(f"it is {KEY[:12]}") == "it is [redacted K]"
    assert redactor.text(f"{KEY[4:]} it was") == "[redacted K] it was"


def test_words_of_the_journal_survive_a_secret_that_is_one_of_them() -> None:
    event = {"severity": "warning", "code": "scored", "sentence": "scored", "usage": {"tokens_in": 3}, "seconds": 1.5}
    struck = Redactor([("API_KEY", "scored")]).event(event)
    assert struck == {**event, "sentence": "[redacted API_KEY]"}


def test_every_line_of_a_private_key_is_secret() -> None:
    pem = "-----BEGIN KEY-----\nMIIBVwIBADANBgkqhkiG\nq83vASNFZ4mrze8BI0Vn\n-----END KEY-----"
    assert Redactor([("PRIVATE_KEY", pem)]).text("line 2: q83vASNFZ4mrze8BI0Vn") == "line 2: [redacted PRIVATE_KEY]"


def test_json_stays_json() -> None:
    line = json.dumps({"text": f"the key is {SECRET}"})
    assert json.loads(Redactor([("S", SECRET)]).text(line)) == {"text": "the key is [redacted S]"}
