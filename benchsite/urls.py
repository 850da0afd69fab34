"""The site's doors, each under its own roof."""

from django.contrib import admin
from django.urls import include, path

from .api.site import api
from .health import healthz, readyz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("", include("benchsite.web.urls")),
]

handler403 = "benchsite.web.errors.forbidden"
handler404 = "benchsite.web.errors.not_found"
handler500 = "benchsite.web.errors.server_error"
