"""The door gunicorn knocks at."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
application = get_wsgi_application()

# What a process is made of is never freed. Looking through it again and again, and through the tens of thousands of
# short-lived objects of a large page, would take a fifth of that page's time.
_ = get_resolver().url_patterns  # imports every view
gc.collect()
gc.freeze()
gc.set_threshold(100_000, 20, 50)
