from django.apps import AppConfig


class CurationConfig(AppConfig):
    name = "benchsite.curation"
    default_auto_field = "django.db.models.BigAutoField"
