# Each target makes .venv on first use and installs what it needs into it.
PYTHON ?= python3
WORKERS ?= 2
FUZZ_SECONDS ?= 600
ORACLE_CASES ?= 20000
LANGUAGES ?= 400
CHAOS_RUNS ?= 50
EXAMPLES ?= 200

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest -q
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
CORE := $(VENV)/.installed-core
TEST := $(VENV)/.installed-test
DOCS := $(VENV)/.installed-docs
EXTRAS := import sys, tomllib; table = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  print(*(one for name in sys.argv[1:] for one in table["optional-dependencies"][name]))

# Bytecode is kept: the workers and the processes of the tests would compile each module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test slow lint bench docs oracle languages fuzz chaos xes clean ready warm interpreted swipl chromium

help:  ## what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "relynx needs Python 3.11 or later; say which: make PYTHON=python3.12 ..."; exit 1; }
	@echo "making $(VENV): this takes a minute"
	$(PYTHON) -m venv $(VENV)

$(CORE): pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

# relynx stays as it is: its kernels may be compiling meanwhile.
$(TEST): $(CORE)
	$(PIP) install $$($(BIN)/python -c '$(EXTRAS)' test lint)
	@touch $@

$(DOCS): pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[docs]'
	@touch $@ $(CORE)

demo: $(CORE)  ## learn to tell protein folds apart, test it, show what was learnt
	@$(BIN)/relynx demo

# Installing, compiling, lint and the kernels without the compiler go on side by side.
test:  ## lint, the kernels without the compiler, then all tests but the slow ones
	@$(MAKE) --no-print-directory -j3 $(SYNC) ready
	$(PYTEST) -n $(WORKERS) --dist loadfile -m 'not slow'

slow: $(TEST) swipl chromium  ## the tests that need more than ten seconds each, and EXAMPLES of each property
	RELYNX_EXAMPLES=$(EXAMPLES) $(PYTEST) -n $(WORKERS) -m 'slow or hypothesis'

ready: warm lint interpreted swipl chromium

warm: $(CORE)
	@$(BIN)/relynx warmup

interpreted: $(TEST)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m kernels $$(grep -rl --include='test_*.py' mark.kernels tests)

lint: $(TEST)  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(TEST) swipl  ## the speed bars, as ratios in one run
	-$(PIP) install prefixspan seq2pat python-crfsuite
	@status=0; for script in benchmarks/*.py; do \
	  echo "== $$script"; $(BIN)/python $$script || status=1; done; exit $$status

docs: $(DOCS)  ## the pages, in docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

oracle: $(TEST) swipl  ## ORACLE_CASES questions to SWI-Prolog, clingo and brute force
	RELYNX_ORACLE_CASES=$(ORACLE_CASES) $(PYTEST) -n $(WORKERS) tests/oracle

languages: $(TEST)  ## mining and the optimal model against enumeration, and engine against engine, on LANGUAGES random languages
	RELYNX_LANGUAGES=$(LANGUAGES) $(PYTEST) -n $(WORKERS) \
	  tests/mining/test_mine.py tests/mining/test_mine_filters.py tests/mining/engines/test_bits.py \
	  tests/models/lynx/test_optimal_languages.py

fuzz: $(TEST)  ## FUZZ_SECONDS of broken inputs for every reader and for load
	$(BIN)/python tests/fuzz.py --seconds $(FUZZ_SECONDS) --workers $(WORKERS)

chaos: $(TEST)  ## kill CHAOS_RUNS runs of mining and of GRASP, and let them go on
	$(BIN)/python tests/chaos.py --runs $(CHAOS_RUNS)

# pm4py is under the AGPL: it has an environment of its own, which is thrown away.
xes: $(CORE)  ## relynx and pm4py read the event logs of each other
	@folder=$$(mktemp -d) && trap 'rm -rf $$folder' EXIT && logs=tests/golden/xes \
	  && $(PYTHON) -m venv $$folder/env && $$folder/env/bin/python -m pip install --quiet pm4py \
	  && $$folder/env/bin/python $$logs/make_logs.py $$folder \
	  && $(BIN)/python $$logs/write_again.py $$folder \
	  && $$folder/env/bin/python $$logs/ask_pm4py.py $$folder

# SWI-Prolog is an oracle of the tests; where it may not be installed, those tests say that they skip.
swipl:
	@if ! command -v swipl >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing SWI-Prolog"; export DEBIAN_FRONTEND=noninteractive; \
	  timeout 120 apt-get update -qq >/dev/null 2>&1; \
	  timeout 300 apt-get install -y -qq swi-prolog-nox >/dev/null 2>&1 || true; fi
	@command -v swipl >/dev/null \
	  || echo "SWI-Prolog is not installed and could not be: the tests that ask it are skipped"

# Chromium opens the report in the tests; where it may not be installed, those tests say that they skip.
chromium: | swipl
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Chromium"; export DEBIAN_FRONTEND=noninteractive; \
	  timeout 120 apt-get update -qq >/dev/null 2>&1; \
	  timeout 300 apt-get install -y -qq chromium >/dev/null 2>&1 || true; fi
	@command -v chromium >/dev/null \
	  || echo "Chromium is not installed and could not be: the tests that open a report are skipped"

clean:  ## remove what was built, but .venv
	rm -rf build dist docs/_build docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache relynx-demo relynx-reproduce
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +
