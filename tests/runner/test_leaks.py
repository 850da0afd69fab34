"""Secrets nobody told of are found by their shape, wherever they stand; what is plainly none is passed over."""

from __future__ import annotations

import json
import random

import pytest

from runner.leaks import MUCH, OVERLAP, _presence, find_leaks, strike

TAIL = "Zq7Xw2Lk9Rt4Vb8Nm3Hs6Jd1Fg5Cp0Ya7Te2Wu9"  # joined at run time, so that no scanner takes this file for a leak
SHAPES = {
    "AWS access key": "AKIA" + "QZ7XW2LKRT4VBNMH",
    "GitHub token": "ghp_" + TAIL[:36],
    "model provider's key": "sk-" + "ant-api03-" + TAIL,
    "Google key": "AIza" + TAIL[:35],
    "Slack token": "xoxb-" + "24601-13579-" + TAIL[:24],
    "private key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + f"{TAIL}{TAIL}\n" * 2,
    "value of MY_SERVICE_TOKEN": "MY_SERVICE_TOKEN=" + TAIL,
}


@pytest.mark.parametrize("kind", SHAPES)
def test_each_shape_is_found_with_its_line_and_never_shown_whole(kind):
    secret = SHAPES[kind]
    (leak,) = find_leaks([f"first\nsecond: {secret} and more\n".encode()])
    assert (leak.kind, leak.line) == (kind, 2)
    assert TAIL[8:30] not in leak.shown
    within = secret.replace("\n", "\\n")
    for before in ("", "\\n", "\\t"):
        line = f'{{"text": "{before}{within}"}}\n'.encode()
        assert [one.kind for one in find_leaks([line])] == [kind], "as JSON writes it"
        struck, (told,) = strike(line)
        assert (len(struck), told.kind, find_leaks([struck])) == (len(line), kind, [])
        assert TAIL[8:30] not in json.loads(struck)["text"]


@pytest.mark.parametrize("kind", SHAPES)
def test_each_shape_is_found_in_much_text_at_even_and_odd_places(kind):
    for before in ("plain text\n" * 4_000, "plain text\n" * 4_000 + "x\n" * 2 + " "):
        leaks = find_leaks([f"{before}{SHAPES[kind]}\n".encode()])
        assert [leak.kind for leak in leaks] == [kind]


def test_a_literal_is_ruled_out_only_where_it_is_not():
    rng = random.Random(4)
    for literal in (b"sk-", b"KEY", b"ghp_", b"PASSW", b"github_pat_"):
        for size in (MUCH, MUCH + 1):
            text = bytes(rng.choices(literal[:-1] + b"x", k=size))  # its letters, but never all of it
            for place in (0, 1, 1000, 1001, size - len(literal)):
                assert _presence(text[:place] + literal + text[place + len(literal) :])(literal)
            assert not _presence(text)(literal)


def test_a_secret_over_the_border_of_two_chunks_is_found_once_at_its_line():
    data = b"x\n" * (OVERLAP + 100) + SHAPES["GitHub token"].encode() + b"\n" * (2 * OVERLAP)
    whole = find_leaks([data])
    assert len(whole) == 1
    for cut in (2 * OVERLAP + 210, 2 * OVERLAP + 199, 100):
        assert find_leaks([data[:cut], data[cut:]]) == whole


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7" + "EXAMPLE",
        "OPENAI_API_KEY=your-api-key-goes-here-1",
        "OPENAI_API_KEY=[redacted OPENAI_API_KEY]",
        'API_KEY = os.environ["API_KEY_OF_THE_OTHER_SERVICE_1"]',
        "MAX_TOKEN_COUNT=12345678901234567890",
        "class sk-loading-indicator-of-a-very-long-page-name",
        "task-" + TAIL,
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "-----BEGIN PRIVATE KEY----- is how a key begins",
    ],
)
def test_what_is_plainly_no_secret_is_passed_over(text):
    assert find_leaks([text.encode()]) == []


def test_what_is_struck_out_leaves_the_rest_as_it_was_and_two_secrets_apart():
    other = TAIL[1:] + TAIL[0]
    lines = [f'{{"a": "OPENAI_API_KEY={value}", "b": "é \\"kept\\""}}\n'.encode() for value in (TAIL, other)]
    one, two = (json.loads(strike(line)[0]) for line in lines)
    assert one["b"] == two["b"] == 'é "kept"'
    assert one["a"] != two["a"]
    assert one["a"].startswith("OPENAI_API_KEY=Zq7Xw2***")
    assert [leak.line for leak in strike(b"".join(lines))[1]] == [1, 2]
    cut = b'{"a": "-----BEGIN PRIVATE KEY-----\\n' + TAIL.encode() * 2 + b'\\"then"}\n'
    assert json.loads(strike(cut)[0])["a"].endswith('"then')
