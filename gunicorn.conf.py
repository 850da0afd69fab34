"""gunicorn reads this by itself: `gunicorn benchsite.wsgi:application`."""

from pathlib import Path

from benchsite.env import Env

_env = Env()
bind = _env["bind"]
worker_class = "gthread"
workers = _env["workers"]
threads = _env["threads"]
# Uploads and large downloads hold a thread, never the whole process; a silent process is replaced.
timeout = 120
graceful_timeout = 30
keepalive = 5
max_requests = 10_000
max_requests_jitter = 1_000
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None
control_socket_disable = True
accesslog = None
errorlog = "-"
loglevel = _env["log_level"]
