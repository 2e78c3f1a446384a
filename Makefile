# Each target does its own set-up; `make help` lists them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= demo

.DEFAULT_GOAL := help
.PHONY: help demo test docs check format bench clean

help:  ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/hannun: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[kona,sage,scores,similar,croissant,dev]'
	@touch $(BIN)/hannun

demo: $(BIN)/hannun  ## Rebuild KoNA from its sources, check it, load it, print a row
	@PATH="$(abspath $(BIN)):$$PATH" sh tests/demo.sh "$(DEMO)"

test: $(BIN)/hannun  ## Run the tests (no network)
	$(BIN)/python -m pytest

docs: $(BIN)/hannun  ## Build the guide into site/
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

check:  ## Lint, types and floors, over the installed wheel
	sh tests/check.sh "$(PYTHON)"

format: $(BIN)/hannun  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(BIN)/hannun  ## Measure against peers (see benchmarks/)
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/fetch.py
	$(BIN)/python benchmarks/plan.py
	$(BIN)/python benchmarks/score.py
	$(BIN)/python benchmarks/validate.py

clean:  ## Remove what the targets made
	rm -rf $(VENV) .check-venv build dist site $(DEMO) *.egg-info
