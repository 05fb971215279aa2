# Two commands: `make start` runs superpac, `make test` checks it. Everything lands in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# What runs the code for graphics processors in the tests. It is in no lock: its builds differ by machine, and
# any will do, one for the processor alone too. `make test TORCH=` goes without; these tests are then skipped.
TORCH  ?= torch==2.13.0

.PHONY: start test lint unit system-packages lock bench clean

start: $(VENV)/.run-ready drawings
	$(BIN)/superpac label drawings

drawings: | $(VENV)/.run-ready
	$(BIN)/superpac data draw drawings

test: lint unit

lint: $(VENV)/.test-ready system-packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/bandit -q -c pyproject.toml -r src
	sh requirements/js/check.sh

unit: $(VENV)/.test-ready system-packages
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup

system-packages:
	bash tests/system-packages.sh

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "superpac needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run-ready: $(VENV)/bin/python requirements/run.lock pyproject.toml
	@echo "Installing what labelling and clustering need into $(VENV): about 200 MB to fetch, 750 MB on disk."
	@echo "This takes one to two minutes, once, and longer on a slow line."
	@$(PIP) --require-hashes -r requirements/run.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.test-ready: $(VENV)/.run-ready requirements/test.lock
	@echo "Installing what only tests and extras need: 1.5 GB on disk in all, some minutes more."
	@$(PIP) --require-hashes -r requirements/test.lock
	@test -z "$(TORCH)" || $(PIP) $(TORCH)
	@touch $@

$(VENV)/.bench-ready: $(VENV)/.run-ready requirements/bench.lock
	$(PIP) --require-hashes -r requirements/bench.lock
	@touch $@

# Speed beside peers, into benchmarks/README.md by hand (a quarter of an hour).
bench: $(VENV)/.bench-ready
	$(BIN)/python benchmarks/affinities.py
	$(BIN)/python benchmarks/loop.py

# Re-resolve every locked version (needs uv on the PATH).
lock:
	sh requirements/lock.sh

clean:
	rm -rf $(VENV) drawings build superpac-output .pytest_cache .mypy_cache .ruff_cache requirements/js/node_modules
