from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "benchsite.runs"
    default_auto_field = "django.db.models.BigAutoField"
