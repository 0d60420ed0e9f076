# Two commands for a fresh clone: `make score` shows what closeread does, `make test` checks that it works.
# CONTRIBUTING.md says which tests are in `make test`, `make gate` and `make test-all`.

# Without bytecode, each of hundreds of processes would compile the libraries that it imports anew.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= test,hub,browser
BIN = $(VENV)/bin
ENVIRONMENT = test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
# No bytecode is compiled at installation, because only a small part of what is installed is ever imported.
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --no-compile
PREDICTIONS = $(VENV)/always-positive.jsonl
ANNOTATIONS = loaders/marmara_coref/sample/annotations/77000112
# What is installed: the extras, and a digest of everything that goes into the package. Nothing is installed again as long as
# that is the same.
STAMP = $(VENV)/installed
SOURCES = pyproject.toml setup.py README.md LICENSE src loaders metrics schemas cards
DIGEST = find $(SOURCES) -type f ! -path '*/__pycache__/*' ! -path '*.egg-info/*' -exec cksum {} + | LC_ALL=C sort | cksum

PYTEST = $(BIN)/pytest -n auto --dist worksteal
SKIPS ?= $(VENV)/skipped.txt

FUZZ_SECONDS ?= 600

MUTANTS ?=

.PHONY: score docs test gate test-all test-floors test-llm fuzz mutants environment extras lint types tests audit

# Scores the test split of McTaco, or the sample if the corpus is neither here nor to be had (any other error is printed).
score:
	@digest="$$($(DIGEST))"; case "$$(cat $(STAMP) 2>/dev/null)" in *": $$digest") ;; *) \
	   echo "Installing closeread into $(VENV) (about a minute) ..."; { $(ENVIRONMENT); } \
	   && rm -f $(STAMP) && $(INSTALL) . && echo "no extras: $$digest" >$(STAMP);; esac
	@sample=; \
	 if ! error=$$($(BIN)/closeread info mctaco --stats --format csv 2>&1 >/dev/null); then \
	   case "$$error" in *"--config sample"*) sample="--config sample";; *) echo "$$error"; exit 1;; esac; \
	   echo "Note: McTaco's files are not here and can't be downloaded, so the invented sample is scored."; \
	 fi; \
	 $(BIN)/closeread baseline mctaco always-positive $$sample -o $(PREDICTIONS) \
	 && $(BIN)/closeread score mctaco $(PREDICTIONS) $$sample --by category
	@printf '%s\n' '' 'Next, for example:' '  . $(BIN)/activate' \
	  '  closeread score coref $(ANNOTATIONS)/anna.conll $(ANNOTATIONS)/ben.conll' '  closeread --help'

# The site, in $(VENV)/docs/html/index.html, with what the notebooks print; a warning is an error, and nothing is fetched.
docs: EXTRAS = docs
docs: extras
	$(BIN)/python tools/build_site.py $(VENV)/docs --notebooks

environment:
	@$(ENVIRONMENT)

# Types are checked beside the tests, which leave a core idle when they begin and end.
test: extras
	@$(MAKE) --no-print-directory --jobs 2 lint types tests

extras:
	@wanted="$(EXTRAS): $$($(DIGEST))"; test "$$(cat $(STAMP) 2>/dev/null)" = "$$wanted" \
	 || { echo "Installing closeread with [$(EXTRAS)] into $(VENV) (some minutes) ..."; { $(ENVIRONMENT); } \
	   && rm -f $(STAMP) && $(INSTALL) '.[$(EXTRAS)]' && echo "$$wanted" >$(STAMP); }

lint: extras
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: extras
	$(BIN)/mypy -p closeread

tests: extras
	$(PYTEST) -m 'not gate and not extended'

# What `.ci/run` tries after `make test`: packaging, recipes, README and docs, the stand-in of the Hub, a board's life, inspect-ai.
gate: extras
	$(PYTEST) -m 'gate and not extended'

# Everything: all tiers with many examples, kills at every change of a file and a minute of changed files; what was recorded on
# released corpora; the oldest libraries; harnesses of language models.  It ends with a table of what was skipped and why, tests in a browser included if there
# is no Chromium (`apt-get install chromium`), and recipes for Ray, Dask and Spark where these can't be installed.
test-all: EXTRAS = test,neural,spacy,hub,browser,docs
test-all: export CLOSEREAD_FAULTS = all
test-all: export CLOSEREAD_FUZZ_SECONDS = 60
test-all: lint types
	-$(INSTALL) 'ray[data]' 'dask[dataframe]' pyspark
	@: >$(SKIPS)
	$(PYTEST) --hypothesis-profile many --skips=$(SKIPS)
	test -z "$$CLOSEREAD_DATA" || $(BIN)/python tools/recording.py --check
	env -u CLOSEREAD_FAULTS $(MAKE) test-floors VENV=.venv-floors SKIPS=$(abspath $(SKIPS))
	env -u CLOSEREAD_FAULTS $(MAKE) test-llm VENV=.venv-llm SKIPS=$(abspath $(SKIPS))
	@printf '\nSkipped, how often, and why:\n'; sort $(SKIPS) | uniq -c

# Fails if PyPI knows a vulnerability of an installed library, or can't be asked about one.
audit: extras
	@$(INSTALL) 'pip-audit>=2.9'
	@$(BIN)/pip freeze --exclude closeread >$(VENV)/installed.txt
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement $(VENV)/installed.txt

# Changed files through everything that reads, on one core.
fuzz: export CLOSEREAD_DATA =
fuzz: export CLOSEREAD_FUZZ_SECONDS = $(FUZZ_SECONDS)
fuzz: extras
	CLOSEREAD_FAULTS=all $(BIN)/pytest -q tests/faults/test_whole_writes.py tests/faults/test_killed_writers.py
	$(BIN)/python tools/fuzz.py

# Changes of single places in the scoring code, and which of them no test notices; `make mutants MUTANTS="-n 20 --jobs 1"`.
mutants: extras
	$(BIN)/python tools/mutants.py $(MUTANTS)

# Runs of language models' harnesses: lm-evaluation-harness holds libraries of ours at older versions and so has an
# environment of its own.  `make gate` runs those of inspect-ai, if it is installed.
test-llm: VENV = .venv-llm
test-llm: environment
	@$(INSTALL) '.[test,llm]' 'lm-eval>=0.4.13'
	$(PYTEST) --skips=$(SKIPS) tests/llm tests/mctaco/test_lm_eval.py

# The oldest versions that pyproject.toml allows, including the previous major version of datasets; and with them, the
# oldest of the extra hub.  They are tried on samples, and without the tests of our own arithmetic: `make test` has the
# corpora, the twins and the official scorers, and the faults of files that no library reads or writes.
test-floors: VENV = .venv-floors
test-floors: export CLOSEREAD_DATA =
test-floors: export CLOSEREAD_FUZZ_SECONDS = 1
test-floors: environment
	@$(INSTALL) --constraint .ci/floors.txt '.[test]'
	$(BIN)/ruff check .
	$(PYTEST) --skips=$(SKIPS) --hypothesis-profile few --ignore tests/hub --ignore tests/leaderboard \
	  --ignore tests/test_readme.py --ignore tests/test_recorded.py --ignore tests/test_recipe.py --ignore tests/test_packaging.py \
	  --ignore tests/test_architecture.py --ignore tests/test_makefile.py --ignore tests/coref --ignore tests/annotation --ignore tests/tlinks \
	  --ignore tests/test_readers.py --ignore tests/wikipossessions/test_possession_scores.py \
	  --ignore-glob 'tests/faults/test_[!cdp]*' \
	  -k 'not (random or twin or official or by_hand)'
	@$(INSTALL) --constraint .ci/floors-hub.txt '.[hub]'
	$(PYTEST) --skips=$(SKIPS) --hypothesis-profile few --extras-only \
	  --ignore tests/leaderboard/test_hub_copy_crashes.py
