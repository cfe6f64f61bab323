# Every target sets itself up: a machine with python3 (and its venv module) and make needs nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev

.PHONY: demo test bench lint types docs wheel sklearn-tests interrupts fuzz clients calibration numba-oldest clean help

help:
	@echo "make demo           digits, texts, a chord, a network: one result of each kind lands in partwise-demo/"
	@echo "make test           the whole test suite, doctests included"
	@echo "make lint types     ruff, import-linter, numpydoc, mypy"
	@echo "make sklearn-tests  scikit-learn's own NMF tests, run against partwise.NMF"
	@echo "make interrupts     Ctrl-C at random moments of every fit and every verb (long)"
	@echo "make fuzz           damaged files against every reader, verb and model file (minutes)"
	@echo "make clients        cNMF and other programs with partwise in place of scikit-learn's NMF"
	@echo "make calibration    whether every exact sampler draws from its posterior (minutes); writes docs/calibration.md"
	@echo "make numba-oldest   the core tests and the laws with the oldest libraries that pyproject.toml allows"
	@echo "make bench          the race against other libraries (long; see partwise bench --help)"
	@echo "make docs           the documentation, as HTML in docs/_build/html"
	@echo "make wheel          build the wheel into dist/"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(READY): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[report,tables]"
	@touch $@

$(READY_DEV): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e ".[dev]"
	@touch $(READY) $@

demo: $(READY)
	$(BIN)/partwise demo -o partwise-demo

test: $(READY_DEV)
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

lint: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python tests/lint/docstrings.py

types: $(READY_DEV)
	$(BIN)/mypy

docs: $(READY_DEV)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: $(READY)
	$(BIN)/partwise bench

sklearn-tests: $(READY_DEV)
	$(BIN)/python tests/sklearn_suite/run.py

interrupts: $(READY_DEV)
	$(BIN)/python tests/interrupts/harness.py --moments 20

fuzz: $(READY_DEV)
	$(BIN)/python tests/fuzz/harness.py

calibration: $(READY_DEV)
	$(BIN)/python tests/calibration/run.py

# Programs that use scikit-learn's NMF, in an environment of their own; those that cannot be installed are left out.
CLIENTS := .venv-clients

$(CLIENTS)/.ready: pyproject.toml
	$(PYTHON) -m venv --clear $(CLIENTS)
	$(CLIENTS)/bin/python -m pip install --quiet -e .
	for need in "cnmf>=1.7" "scanpy>=1.10 igraph"; do $(CLIENTS)/bin/python -m pip install --quiet $$need || true; done
	@touch $@

clients: $(CLIENTS)/.ready
	$(CLIENTS)/bin/python tests/clients/run.py

# Each "name>=version" among the dependencies becomes "name==version". The oldest Numba knows Python 3.11 and 3.12.
OLDEST := .venv-oldest
OLDEST_PYTHON ?= python3.11
BOUNDS := import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*(need.replace(">=", "==") for need in project["dependencies"]), sep="\n")

$(OLDEST)/.ready: pyproject.toml
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -c '$(BOUNDS)' > $(OLDEST)/bounds.txt
	$(OLDEST)/bin/python -m pip install --quiet -c $(OLDEST)/bounds.txt -e . "pytest>=8.2" "hypothesis>=6.100"
	@touch $@

# Compiled kernels go to a folder of their own: two versions of Numba would overwrite each other's.
numba-oldest: $(OLDEST)/.ready
	NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/cache $(OLDEST)/bin/python -m pytest -q tests/core tests/laws

wheel: $(READY_DEV)
	$(BIN)/python -m build --wheel -o dist .

clean:
	rm -rf $(VENV) $(OLDEST) $(CLIENTS) build dist docs/_build docs/auto_examples partwise-demo
