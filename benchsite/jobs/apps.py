from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "benchsite.jobs"
    default_auto_field = "django.db.models.BigAutoField"
