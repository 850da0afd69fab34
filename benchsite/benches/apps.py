from django.apps import AppConfig


class BenchesConfig(AppConfig):
    name = "benchsite.benches"
    default_auto_field = "django.db.models.BigAutoField"
