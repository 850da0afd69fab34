"""Tokens, the way in and out, and the upload page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from benchsite.accounts.models import Token
from benchsite.runs.models import Run
from benchsite.web import errors
from runner.exchange.bundle import write_bundle
from tests.make import make_run, make_user


@pytest.fixture
def ada(db: None, client: Client) -> object:
    user = make_user()
    client.force_login(user)
    return user


def test_a_token_is_shown_once_and_works(ada: object, client: Client) -> None:
    made = client.post(reverse("tokens"), {"name": "ci", "scopes": ["upload"], "days": "7"})
    key = re.search(r'class="secret">(bs_[\w-]+)<', made.content.decode())
    assert key
    assert made.headers["Cache-Control"] == "no-store"
    assert Token.objects.of_key(key[1], timezone.now()).user == ada
    assert key[1] not in client.get(reverse("tokens")).content.decode()


@pytest.mark.parametrize(
    "form",
    [
        {"name": "x", "days": "7"},
        {"name": "", "scopes": "read", "days": "7"},
        {"name": "x", "scopes": "admin", "days": "7"},
        {"name": "x", "scopes": "read", "days": "9999"},
    ],
)
def test_a_token_nobody_meant_is_not_made(ada: object, client: Client, form: dict[str, str]) -> None:
    assert client.post(reverse("tokens"), form).status_code == 200
    assert not Token.objects.exists()


def test_a_revoked_token_is_refused(ada: object, client: Client) -> None:
    token, key = Token.objects.issue(ada, "ci", ["read"], None)
    assert client.post(reverse("token_revoke", args=[token.pk])).status_code == 302
    assert Token.objects.of_key(key, timezone.now()) is None


def test_nobody_revokes_the_token_of_another(ada: object, client: Client) -> None:
    token, _ = Token.objects.issue(make_user("bob"), "ci", ["read"], None)
    assert client.post(reverse("token_revoke", args=[token.pk])).status_code == 404
    assert Token.objects.filter(pk=token.pk).exists()


def test_leaving_takes_a_post(ada: object, client: Client) -> None:
    client.get(reverse("logout"))
    assert "_auth_user_id" in client.session
    client.post(reverse("logout"))
    assert "_auth_user_id" not in client.session


def test_a_form_without_its_token_gets_the_sites_own_page(db: None) -> None:
    response = Client(enforce_csrf_checks=True).post(reverse("login"), {"username": "a", "password": "b"})
    assert response.status_code == 403
    assert "The form was not taken" in response.content.decode()


def test_a_bundle_from_the_browser_becomes_a_submitted_run(ada: object, client: Client, tmp_path: Path) -> None:
    run_dir = make_run(tmp_path / "bench")
    target = tmp_path / "run.zip"
    write_bundle(run_dir, target)
    sent = SimpleUploadedFile("run.zip", target.read_bytes(), "application/zip")
    response = client.post(reverse("upload"), {"bundle": sent}, follow=True)
    run = Run.objects.get()
    assert response.redirect_chain == [(reverse("run", args=[run.ulid]), 302)]
    assert run.verdict == "submitted"
    assert "once a curator accepts it" in response.content.decode()


def test_what_is_no_bundle_is_refused_in_a_sentence(ada: object, client: Client) -> None:
    sent = SimpleUploadedFile("run.zip", b"not a zip", "application/zip")
    response = client.post(reverse("upload"), {"bundle": sent})
    assert response.status_code == 422
    assert "The bundle was not taken." in response.content.decode()
    assert not Run.objects.exists()


def test_a_stranger_sends_nothing(db: None, client: Client) -> None:
    response = client.post(reverse("upload"), {"bundle": SimpleUploadedFile("run.zip", b"x")})
    assert response.status_code == 302
    assert response.headers["Location"].startswith(reverse("login"))


@pytest.mark.parametrize("name", ["login", "logout", "tokens", "upload", "styleguide", "docs"])
def test_pages_beside_the_numbers_have_the_sites_frame(ada: object, client: Client, name: str) -> None:
    text = client.get(reverse(name)).content.decode()
    assert "css/tokens" in text, "a view of Django's own may have taken a name of the frame's"
    assert "Legend of marks" in text


def test_who_may_not_is_told_so_in_the_sites_own_words(rf: RequestFactory) -> None:
    request = rf.get("/curate/")
    request.user, request.session = AnonymousUser(), {}
    answer = errors.forbidden(request)
    assert answer.status_code == 403
    assert "Nothing was changed" in answer.content.decode()


def test_an_error_of_ours_shows_the_mark_that_its_log_has(rf: RequestFactory, caplog: pytest.LogCaptureFixture) -> None:
    """No database is allowed in this test: it may be what broke."""
    answer = errors.server_error(rf.get("/runs/"))
    mark = re.search(r"error <code>([0-9a-f]{8})</code>", answer.content.decode())
    assert answer.status_code == 500
    assert mark and any(mark[1] in str(record.msg) for record in caplog.records)
    assert "css/tokens" in answer.content.decode()
