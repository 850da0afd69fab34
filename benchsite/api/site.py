"""The one NinjaAPI: routers, one error body, one table from refusals to statuses."""

from __future__ import annotations

from ninja import NinjaAPI

api = NinjaAPI(title="Benchsite", version="1", urls_namespace="api", docs_url="/docs", openapi_url="/openapi.json")
