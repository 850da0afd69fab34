from django.apps import AppConfig
from django.contrib.staticfiles import apps as staticfiles


class BenchsiteConfig(AppConfig):
    """An app without models: it is listed so that Django finds its commands, admin and tasks."""

    name = "benchsite"
    label = "benchsite"

    def ready(self) -> None:
        from . import admin, celery, checks  # noqa: F401  importing them registers


class StaticFilesConfig(staticfiles.StaticFilesConfig):
    """Leaves out the scripts that django-htmx carries: we vendor our own, and one of them imports a file that is not
    there, which the hashing of module imports rightly refuses."""

    ignore_patterns = (*staticfiles.StaticFilesConfig.ignore_patterns, "django_htmx")
