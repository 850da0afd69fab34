"""Every address of the site. A new route without an expectation in the access test fails there."""

from __future__ import annotations

from django.contrib.auth.views import LoginView
from django.urls import path, re_path, register_converter

from . import (
    account,
    artifact,
    bench,
    cell,
    compare,
    compare_pooled,
    curate,
    definition,
    frame,
    home,
    job,
    notes,
    pages,
    report,
    run,
    scenario,
    search,
    status,
    trial,
    trials,
    upload,
    workspace,
)


class Ulid:
    regex = "[0-7][0-9A-HJKMNP-TV-Z]{25}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class Sha256(Ulid):
    regex = "[0-9a-f]{64}"


class Part(Ulid):
    """An owner or a bench's name."""

    regex = "[a-z0-9][a-z0-9._-]{0,62}"


class Slug(Ulid):
    regex = "[A-Za-z0-9._~-]{1,100}"


class Key10(Ulid):
    regex = "[0-9a-f]{10}"


class Index(Ulid):
    regex = "[0-9]{1,9}"

    def to_python(self, value: str) -> int:  # type: ignore[override]
        return int(value)

    def to_url(self, value: int) -> str:  # type: ignore[override]
        return str(value)


class Twin(Ulid):
    regex = "csv|json"


class File(Ulid):
    regex = "csv|json|parquet"


class Word(Ulid):
    regex = "[a-z]{1,30}"


KINDS = {"ulid": Ulid, "sha": Sha256, "part": Part, "scen": Slug, "key10": Key10, "index": Index}
for name, kind in {**KINDS, "twin": Twin, "file": File, "word": Word}.items():
    register_converter(kind, name)

BENCH = "b/<part:owner>/<part:name>/"
RUN = "runs/<ulid:ulid>/"
TRIAL = RUN + "t/<index:index>/"

urlpatterns = [
    path("", home.home, name="home"),
    path("<word:table>.<twin:kind>", home.home_table, name="home_table"),
    path("b/", home.benches, name="benches"),
    path("b/benches.<twin:kind>", home.benches_table, name="benches_table"),
    path(BENCH, bench.bench, name="bench"),
    path(BENCH + "<word:table>.<twin:kind>", bench.bench_table, name="bench_table"),
    path(BENCH + "v/<sha:definition>/", definition.bench_version, name="bench_version"),
    path(BENCH + "s/<scen:slug>/", scenario.bench_scenario, name="bench_scenario"),
    path(BENCH + "s/<scen:slug>/<word:table>.<twin:kind>", scenario.bench_scenario_table, name="bench_scenario_table"),
    path("runs/", home.runs, name="runs"),
    path("runs/runs.<twin:kind>", home.runs_table, name="runs_table"),
    path(RUN, run.run, name="run"),
    path(RUN + "cancel/", run.cancel, name="run_cancel"),
    path(RUN + "note/", notes.run_note, name="run_note"),
    path(RUN + "tag/", notes.run_tag, name="run_tag"),
    path(RUN + "trials", trials.run_trials, name="run_trials"),
    path(RUN + "versus", compare.versus, name="run_versus"),
    path(RUN + "trials.<twin:kind>", trials.trials_table, name="run_trials_table"),
    path(RUN + "report.html", report.run, name="run_report"),
    path(RUN + "frame.<file:kind>", frame.run_frame, name="run_frame"),
    path(RUN + "<word:table>.<twin:kind>", run.run_table, name="run_table"),
    path(RUN + "s/<scen:slug>/", scenario.run_scenario, name="run_scenario"),
    path(RUN + "s/<scen:slug>/<word:table>.<twin:kind>", scenario.run_scenario_table, name="run_scenario_table"),
    path(RUN + "c/<key10:key10>/", cell.run_cell, name="run_cell"),
    path(RUN + "c/<key10:key10>/<word:table>.<twin:kind>", cell.run_cell_table, name="run_cell_table"),
    path(TRIAL, trial.trial, name="trial"),
    path(TRIAL + "workspace.<twin:kind>", workspace.trial_workspace_table, name="trial_workspace_table"),
    path(TRIAL + "<word:table>.<twin:kind>", trial.trial_table, name="trial_table"),
    path(TRIAL + "transcript/", trial.trial_transcript, name="trial_transcript"),
    path(TRIAL + "changes/", trial.trial_changes, name="trial_changes"),
    path(TRIAL + "changes/file/", trial.trial_diff_file, name="trial_diff_file"),
    path(TRIAL + "changes/patch/", trial.trial_patch, name="trial_patch"),
    path(TRIAL + "artifacts/", trial.trial_artifacts, name="trial_artifacts"),
    path(TRIAL + "artifacts/<path:name>/", trial.trial_artifact, name="trial_artifact"),
    path(TRIAL + "workspace/", workspace.trial_workspace, name="trial_workspace"),
    path(TRIAL + "workspace/zip/", workspace.trial_workspace_zip, name="trial_workspace_zip"),
    path(TRIAL + "workspace/file/", workspace.trial_workspace_file, name="trial_workspace_file"),
    path("compare/", compare.compare, name="compare"),
    path("compare/trials", compare_pooled.trials, name="compare_trials"),
    path("compare/report.html", report.comparison, name="compare_report"),
    path("compare/<word:table>.<twin:kind>", compare.table, name="compare_table"),
    path("a/<sha:sha256>/", artifact.artifact, name="artifact"),
    path("search", search.search, name="search"),
    path("curate/", curate.curate, name="curate"),
    path("curate/<word:table>.<twin:kind>", curate.curate_table, name="curate_table"),
    path("upload/", upload.upload, name="upload"),
    path("jobs/<str:key>/", job.job, name="job"),
    path("status/", status.status, name="status"),
    path("status/status.json", status.status_json, name="status_json"),
    path("settings/tokens/", account.tokens, name="tokens"),
    path("settings/tokens/<int:pk>/revoke/", account.revoke, name="token_revoke"),
    path("login/", LoginView.as_view(template_name="account/login.html"), name="login"),
    path("logout/", account.logout, name="logout"),
    path("docs/", pages.docs, name="docs"),
    re_path(r"^docs/(?P<page>[a-z][a-z0-9-]{0,40})/$", pages.docs, name="docs_page"),
    path("styleguide/", pages.styleguide, name="styleguide"),
]
