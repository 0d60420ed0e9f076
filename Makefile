# Two commands for a fresh clone: `make score` shows what closeread does, `make test` checks that it works.

PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= test,hub,serve,browser
BIN = $(VENV)/bin
# No bytecode is compiled at installation, because only a small part of what is installed is ever imported.
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
PREDICTIONS = $(VENV)/always-positive.jsonl
# What is installed: the extras, and a digest of everything that goes into the package. Nothing is installed again as long as
# that is the same.
STAMP = $(VENV)/installed
SOURCES = pyproject.toml setup.py README.md LICENSE src loaders metrics schemas cards
DIGEST = find $(SOURCES) -type f ! -path '*/__pycache__/*' ! -path '*.egg-info/*' -exec cksum {} + | LC_ALL=C sort | cksum

FUZZ_SECONDS ?= 600

MUTANTS ?=

.PHONY: score test test-floors fuzz mutants environment extras lint types tests

environment:
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)

# Scores the test split if it is available; otherwise prints why not and, if the message suggests it, scores the sample.
score: environment
	@digest="$$($(DIGEST))"; case "$$(cat $(STAMP) 2>/dev/null)" in *": $$digest") ;; *) \
	   rm -f $(STAMP) && $(INSTALL) . && echo "no extras: $$digest" >$(STAMP);; esac
	@sample=; \
	 if ! error=$$($(BIN)/closeread stats mctaco --format csv 2>&1 >/dev/null); then \
	   echo "$$error"; \
	   case "$$error" in *"--config sample"*) sample="--config sample";; *) exit 1;; esac; \
	   echo "Instead, scoring the invented sample that ships with the package:"; \
	 fi; \
	 $(BIN)/closeread baseline mctaco always-positive $$sample -o $(PREDICTIONS) \
	 && $(BIN)/closeread score mctaco $(PREDICTIONS) $$sample --by category

# One after the other; with --jobs 2, types are checked on a core that has nothing to do at the beginning or end of the tests.
test: lint types tests

extras: environment
	@wanted="$(EXTRAS): $$($(DIGEST))"; test "$$(cat $(STAMP) 2>/dev/null)" = "$$wanted" \
	 || { rm -f $(STAMP) && $(INSTALL) '.[$(EXTRAS)]' && echo "$$wanted" >$(STAMP); }

lint: extras
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: extras
	$(BIN)/mypy -p closeread

tests: extras
	$(BIN)/pytest -n auto --dist worksteal

# Changed files through everything that reads, on one core.
fuzz: export CLOSEREAD_DATA =
fuzz: export CLOSEREAD_FUZZ_SECONDS = $(FUZZ_SECONDS)
fuzz: extras
	CLOSEREAD_FAULTS=all $(BIN)/pytest -q tests/faults/test_whole_writes.py tests/faults/test_killed_writers.py
	$(BIN)/python tools/fuzz.py

# Changes of single places in the scoring code, and which of them no test notices; `make mutants MUTANTS="-n 20 --jobs 1"`.
mutants: extras
	$(BIN)/python tools/mutants.py $(MUTANTS)

# The oldest versions that pyproject.toml allows, including the previous major version of datasets; and with them, the
# oldest of the extras hub and serve.  They are tried on samples, and without the tests of our own arithmetic: `make test` has the
# corpora, the twins and the official scorers, and the faults of files that no library reads or writes.
test-floors: VENV = .venv-floors
test-floors: export CLOSEREAD_DATA =
test-floors: export CLOSEREAD_FUZZ_SECONDS = 1
test-floors: environment
	@$(INSTALL) --constraint .ci/floors.txt '.[test]'
	$(BIN)/ruff check .
	$(BIN)/pytest -n auto --dist worksteal --hypothesis-profile few --ignore tests/hub --ignore tests/leaderboard \
	  --ignore tests/test_readme.py --ignore tests/test_recipe.py --ignore tests/test_packaging.py \
	  --ignore tests/test_architecture.py --ignore tests/test_makefile.py --ignore tests/coref --ignore tests/tlinks \
	  --ignore tests/test_readers.py --ignore tests/wikipossessions/test_possession_scores.py \
	  --ignore-glob 'tests/faults/test_[!cdp]*' \
	  -k 'not (random or twin or official or by_hand)'
	@$(INSTALL) --constraint .ci/floors-hub.txt '.[hub,serve]'
	$(BIN)/pytest -n auto --dist worksteal --hypothesis-profile few --extras-only \
	  --ignore tests/leaderboard/test_hub_store_crashes.py --ignore tests/leaderboard/test_serve_trust.py
