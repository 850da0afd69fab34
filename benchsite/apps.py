from django.apps import AppConfig


class BenchsiteConfig(AppConfig):
    """An app without models: it is listed so that Django finds its commands, admin and tasks."""

    name = "benchsite"
    label = "benchsite"

    def ready(self) -> None:
        from . import admin, celery, checks  # noqa: F401  importing them registers
