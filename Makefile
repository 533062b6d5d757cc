# `make run` shows the package at work, `make test` tests it, `make check` is what CI runs; each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
CODE := src paper tests docs benchmarks examples fuzz hatch_build.py noxfile.py
TORCH := torch==2.13.0+cpu
# The paper's data, if available: more tests run with them.
export LANDMARKS_DATA ?= $(abspath $(wildcard ../shared/data))

# pip does not compile, so Python must cache what it compiles: otherwise every process compiles again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: browser thorough docs fuzz newcomer sklearn properties run test slow interpreted check format lint types imports dev clean help

help:
	@echo "make run     set up, then run the demonstration"
	@echo "make test    set up, then run the quick tests and doctests"
	@echo "make thorough  the longer tests: contracts of operators, properties, clusters, crashes"
	@echo "make check   format, lint, types, imports, tests, doctests: what CI runs"
	@echo "make slow    the tests marked slow, which take the longest"
	@echo "make browser install Chromium for the tests of the report, and run them"
	@echo "make fuzz    fuzz every file reader, SECONDS=600 in total"
	@echo "make properties  test every property on EXAMPLES=200 random examples"
	@echo "make interpreted  the GPU kernels in Triton's interpreter, on the CPU"
	@echo "make newcomer  run the README in a clean environment, and test the wheel"
	@echo "make sklearn run scikit-learn's own tests of Nystroem against ours"
	@echo "make docs    build the documentation and run its examples"
	@echo "make format  format the code"
	@echo "make dev     set up the environment with the tools of the tests"
	@echo "make clean   remove the environment and the caches"

run: $(VENV)/.base
	@$(BIN)/landmarks demo

test: $(VENV)/.dev $(VENV)/.torch
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "not slow and not thorough" $(PYTEST_ARGS)

thorough: $(VENV)/.dev $(VENV)/.torch
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "thorough and not slow" $(PYTEST_ARGS)

fuzz: $(VENV)/.dev
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(PIP) install --no-compile atheris
	tools/fuzz $(or $(SECONDS),600)

properties: $(VENV)/.dev $(VENV)/.torch
	tools/properties $(or $(EXAMPLES),200)

slow: $(VENV)/.dev $(VENV)/.torch
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

interpreted: $(VENV)/.dev $(VENV)/.torch $(VENV)/.triton
	TRITON_INTERPRET=1 PYTHONPATH=$(VENV)/triton $(BIN)/python -m pytest tests/operators/test_fused.py \
		tests/operators/test_fused_double.py $(PYTEST_ARGS)

browser: $(VENV)/.dev
	tools/browser
	$(BIN)/python -m pytest -m "slow or not slow" tests/report

newcomer:
	tools/newcomer

sklearn: $(VENV)/.dev $(VENV)/.torch
	$(BIN)/python tools/sklearn_nystroem

check: lint types imports test thorough

lint: $(VENV)/.dev
	@$(BIN)/ruff format --check $(CODE) || { echo "run \`make format\` to format these files"; exit 1; }
	$(BIN)/ruff check $(CODE)

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

dev: $(VENV)/.dev $(VENV)/.torch

# The stamps: made once, and again when pyproject.toml or a C file changes. The install is editable,
# so other sources need none.
# pip compiles nothing: Python compiles what is imported, which is far less.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "landmarks needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) --version 2>&1); say which with make PYTHON=..."; exit 1; }
	@$(BIN)/python -c "import pip" 2>/dev/null || $(PYTHON) -c "import ensurepip" 2>/dev/null || \
		{ echo "$(PYTHON) cannot make environments: install its venv module first (Debian, Ubuntu: apt install python3-venv)"; exit 1; }
	@$(BIN)/python -c "import pip" 2>/dev/null || { echo "creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@touch $@

# What the installation compiles.
COMPILED := hatch_build.py src/landmarks/_library.py $(shell find src/landmarks -path "*/compiled/*.[ch]")

$(VENV)/.base: $(VENV)/.created pyproject.toml $(COMPILED)
	@echo "installing landmarks"
	@$(PIP) install --no-compile -e ".[report]"
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml $(COMPILED)
	@echo "installing landmarks with the tools of its tests"
	@$(PIP) install --no-compile -e ".[dev]"
	@touch $(VENV)/.base $@

# Exactly this build or none: any looser request brings gigabytes of CUDA.
$(VENV)/.torch: $(VENV)/.created
	@$(BIN)/python -c 'import torch' 2>/dev/null || { echo "installing $(TORCH)"; $(PIP) install --no-compile "$(TORCH)"; } || \
		echo "NOTE: no $(TORCH) here: the tests on torch are skipped$${CI:+. THIS IS CI: TORCH IS NOT TESTED}"
	@touch $@

# In a folder of its own: next to torch it would make other tests look for a GPU.
$(VENV)/.triton: $(VENV)/.created
	@echo "installing triton"
	@$(PIP) install --no-compile --no-deps --target $(VENV)/triton "triton>=3.6"
	@touch $@

# Warnings are errors, and every page of the gallery is run.
docs: $(VENV)/.docs
	$(BIN)/python docs/paper_map.py --check
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "documents are in docs/_build/html"

$(VENV)/.docs: $(VENV)/.created pyproject.toml $(COMPILED)
	@echo "installing landmarks with the tools of its documents"
	@$(PIP) install --no-compile -e ".[docs]"
	@touch $@

clean:
	rm -rf $(VENV) .stamps .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build
	find $(CODE) -name __pycache__ -prune -exec rm -rf {} +
