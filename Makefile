# Two commands for a fresh clone: `make score` shows what closeread does, `make test` checks that it does it.

PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= test
BIN = $(VENV)/bin
# Python compiles what is imported, and that is a small part of what is installed.
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
SHOWN = $(VENV)/always-positive.jsonl

.PHONY: score test test-floors environment

environment:
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)

# The test split where it can be had; where it can't, the message says so and the sample is scored.
score: environment
	@$(INSTALL) .
	@sample=; \
	 if ! why=$$($(BIN)/closeread stats mctaco --format csv 2>&1 >/dev/null); then \
	   echo "$$why"; \
	   case "$$why" in *"can't be had"*) sample="--config sample";; *) exit 1;; esac; \
	   echo "Instead, the invented sample that ships in the package:"; \
	 fi; \
	 $(BIN)/closeread baseline mctaco always-positive $$sample -o $(SHOWN) \
	 && $(BIN)/closeread score mctaco $(SHOWN) $$sample --by category

test: environment
	@$(INSTALL) '.[$(EXTRAS)]'
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p closeread
	$(BIN)/pytest -n auto

# The oldest versions that pyproject.toml allows, the older generation of datasets among them.
test-floors: VENV = .venv-floors
test-floors: environment
	@$(INSTALL) --constraint .ci/floors.txt '.[test]'
	$(BIN)/ruff check .
	$(BIN)/pytest -n auto --hypothesis-profile few --ignore tests/test_readme.py
