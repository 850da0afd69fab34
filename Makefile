# Two commands do everything: `make demo` and `make test`. Both set up what they need and are safe to repeat.
PYTHON ?= python3
PORT ?= 8000
SERVE ?= 1
PY := .venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help demo test lint serve perf python requirements
.DELETE_ON_ERROR:

help: ## say what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'
	@echo "  PYTHON=python3.12 chooses the interpreter, PORT=8000 the port, SERVE=0 stops demo before serving."

demo: .venv/site ## run the example benches and look at the results at http://127.0.0.1:8000
	@PATH="$(CURDIR)/var/npm/node_modules/.bin:$$PATH" $(PY) manage.py demo $(if $(filter 0,$(SERVE)),,--port $(PORT))
	@if [ "$(SERVE)" != 0 ]; then $(MAKE) --no-print-directory serve; else echo "Look at it with: make serve"; fi

serve: .venv/site ## serve the site (collects static files only when they changed)
	@$(PY) manage.py serve --port $(PORT)

test: .venv/dev ## lint, types, every test on SQLite, and on PostgreSQL what asks a database
	@$(PY) -m tests.run

lint: .venv/dev ## ruff, mypy, djade and biome only
	@$(PY) -m tests.run --only lint

perf: .venv/dev ## measure against bare baselines and print ratios
	@$(PY) -m tests.perf

requirements: .venv/dev ## compile requirements.txt and requirements-dev.txt from pyproject.toml
	@$(PY) -m pip install --quiet uv
	@$(PY) -m uv pip compile --quiet pyproject.toml --generate-hashes --universal --python-version 3.11 \
		--no-annotate --no-header --no-emit-index-url -o requirements.txt
	@$(PY) -m uv pip compile --quiet pyproject.toml --group dev --generate-hashes --universal --python-version 3.11 \
		--no-annotate --no-header --no-emit-index-url -o requirements-dev.txt

# The interpreter is checked every time (milliseconds); the rest only when its inputs changed.
python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
		echo "There is no program '$(PYTHON)'. Choose a Python 3.11 or newer with: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "Benchsite needs Python 3.11 or newer and $(PYTHON) is %d.%d. Choose another with: make PYTHON=python3.12 ..." % v[:2])'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "This Python cannot make virtual environments. On Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	@wanted=$$($(PYTHON) -c 'import sys; print(sys.version.split()[0])'); \
	found=$$($(PY) -c 'import sys; print(sys.version.split()[0])' 2>/dev/null || true); \
	if [ "$$wanted" != "$$found" ]; then \
		echo "Making .venv with Python $$wanted ..."; rm -rf .venv && $(PYTHON) -m venv .venv; fi

.venv/site: requirements.txt pyproject.toml | python
	@echo "Installing what the site and the runner need (once; a minute or so) ..."
	@$(PY) -m pip install --quiet --require-hashes -r requirements.txt
	@$(PY) -m pip install --quiet --no-deps --editable .
	@touch $@

.venv/dev: requirements-dev.txt .venv/site | python
	@echo "Installing what the tests need (once) ..."
	@$(PY) -m pip install --quiet --require-hashes -r requirements-dev.txt
	@touch $@
