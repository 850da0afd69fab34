"""Django's settings, made from the variables that `env.py` declares; every one is told in docs/operations.md."""

from pathlib import Path

from .databases import database
from .env import Env
from .logs import logging_settings
from .secret import secret_key

env = Env()
BASE_DIR = Path(__file__).resolve().parent.parent
DATA = Path(env["data"] or BASE_DIR / "var")
DATA.mkdir(parents=True, exist_ok=True)

DEBUG: bool = env["debug"]
SECRET_KEY = secret_key(env["secret_key"], env["secret_key_file"], DEBUG, DATA)
ALLOWED_HOSTS: list[str] = env["allowed_hosts"]
SITE_URL: str = env["url"].rstrip("/")
HTTPS = SITE_URL.startswith("https://")
CSRF_TRUSTED_ORIGINS = [SITE_URL] if SITE_URL else []

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "benchsite.apps.StaticFilesConfig",
    "django_htmx",
    "ninja",
    "benchsite.apps.BenchsiteConfig",
    "benchsite.accounts",
    "benchsite.jobs",
    "benchsite.benches",
    "benchsite.runs",
    "benchsite.artifacts",
    "benchsite.curation",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "benchsite.middleware.ContentSecurityPolicy",
    "benchsite.middleware.MethodsTold",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "benchsite.urls"
WSGI_APPLICATION = "benchsite.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "benchsite.web.context.site",
            ],
            "builtins": [
                "benchsite.web.tags",
                "benchsite.web.runtags",
                "benchsite.web.boardtags",
                "benchsite.web.comparetags",
                "benchsite.web.rowtags",
                "benchsite.web.trialtags",
            ],
        },
    }
]

DATABASES = {"default": database(env["database_url"], DATA, env["database_pool"])}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["benchsite.accounts.backends.Accounts"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "login", "home", "home"

LANGUAGE_CODE, USE_I18N, USE_TZ = "en", False, True
TIME_ZONE: str = env["time_zone"]

STATIC_URL = "/static/"
STATIC_ROOT = DATA / "static"
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "benchsite.staticfiles.ModuleManifestStorage"
    },
}
MEDIA_ROOT = DATA / "incoming"
# Blobs come as streams the API reads itself; what Django buffers in memory stays small.
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 << 20
FILE_UPLOAD_MAX_MEMORY_SIZE = 1 << 20

BLOBS = Path(env["blobs"] or DATA / "blobs")
UPLOAD_AT_ONCE: int = env["upload_at_once"]
UPLOAD_BLOB: int = env["upload_blob"]
UPLOAD_TOTAL: int = env["upload_total"]
UPLOAD_FILES: int = env["upload_files"]
BROKER_URL: str = env["broker_url"]
LEASE_SECONDS: int = env["lease_seconds"]

SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "benchsite.web.errors.csrf_failure"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
# A balancer asks for health over plain http.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
if env["proxy"]:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

ERRORS = DATA / "errors.jsonl"
LOGGING = logging_settings(env["log_level"], env["log_format"], ERRORS)
