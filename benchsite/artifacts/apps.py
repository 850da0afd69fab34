from django.apps import AppConfig


class ArtifactsConfig(AppConfig):
    name = "benchsite.artifacts"
    default_auto_field = "django.db.models.BigAutoField"
