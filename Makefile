# Everything a newcomer needs: `make demo` shows the main job, `make test` proves it.
PYTHON ?= python3
BIN := .venv/bin
# Byte code is written on first use instead of for every module of every package: a third less disk.
# aegir-rl is installed from its folder, as the release that aegir-tables asks for.
PIP := AEGIR_RELEASE=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# The exact versions, with hashes, that `make test` installs; `make test LOCK=` takes the newest within the bounds of pyproject.toml.
LOCK ?= requirements/test.txt

.PHONY: demo test test-slow test-cluster test-plugins test-extras test-oldest check fix reference bench bubblewrap axe lock wheels clean

demo: .venv/base
	$(BIN)/aegir annotate examples

test: .venv/dev bubblewrap axe
	$(MAKE) check
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m "not slow"

# The tests marked `slow`; CI runs them after `make test`.
test-slow: .venv/dev bubblewrap
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m slow

# Ray is as large as half of the rest, so `make test` skips these.
test-cluster: .venv/cluster bubblewrap
	$(BIN)/python -m pytest tests/end_to_end/test_ray_cluster.py

# Adapters for other trainers against the installed packages, each in an environment of its own in .venv/plugins (6 GB); prints
# the versions. `make test-plugins DOORS="trl verl"` tests some.
test-plugins: .venv/dev bubblewrap
	$(BIN)/python tests/plugins/installed.py $(DOORS)

# Extras that few need; without them `make test` skips these.
test-extras: .venv/extras
	$(BIN)/python -m pytest tests/end_to_end/test_agents.py tests/unit/test_python_and_notebooks.py tests/unit/tables/test_lake.py

# The oldest versions that pyproject.toml allows, without what trains.
test-oldest: .venv/oldest/bin/python bubblewrap
	$< -m pytest -W default -m "not slow" -n auto --dist loadfile tests/unit/tables tests/unit/answers tests/unit/memory tests/unit/service

.venv/oldest/bin/python: requirements/oldest.txt
	$(PYTHON) -m venv .venv/oldest
	AEGIR_RELEASE=1 $@ -m pip install --quiet --disable-pip-version-check --no-compile --requirement $< --editable rl --editable .

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

fix: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(MAKE) reference

reference: .venv/dev
	$(BIN)/python -m aegir.cli.reference docs/reference
	$(BIN)/python tests/architecture_page.py

# The local sandbox needs it. Where it cannot be installed, tests of the sandbox are skipped; with CI=true they fail.
bubblewrap:
	@command -v bwrap > /dev/null || { \
	  test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	  { apt-get install --yes bubblewrap || { apt-get update && apt-get install --yes bubblewrap; }; } > /dev/null 2>&1; \
	} || echo "bubblewrap is not installed, and installing it needs root and apt-get" >&2

# Checks the page of the service for accessibility. Without npm that test is skipped; with CI=true it fails.
AXE := .venv/axe/node_modules/axe-core/axe.min.js
axe: | .venv/bin/python
	@test -f $(AXE) || { \
	  command -v npm > /dev/null && \
	  npm install --silent --no-save --no-audit --no-fund --prefix .venv/axe axe-core@4.14.0 > /dev/null 2>&1; \
	} || echo "axe-core is not installed, and installing it needs npm" >&2

bench: .venv/bench
	$(BIN)/python -m benchmarks

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/base: pyproject.toml rl/pyproject.toml hatch_build.py rl/hatch_build.py | .venv/bin/python
	$(PIP) --editable rl --editable .
	touch $@

.venv/dev: pyproject.toml rl/pyproject.toml hatch_build.py rl/hatch_build.py $(LOCK) | .venv/bin/python
	$(if $(LOCK),$(PIP) --require-hashes --requirement $(LOCK))
	$(PIP) $(if $(LOCK),--no-build-isolation) --editable rl --editable '.[dev]'
	touch $@ .venv/base

.venv/cluster: .venv/dev
	$(PIP) --editable rl --editable '.[cluster]'
	touch $@

.venv/extras: .venv/dev
	$(PIP) --editable rl --editable '.[lake,mcp]' 'moto[server]>=5,<6' 'sqlalchemy>=2.0,<3'
	touch $@

.venv/bench: .venv/base
	$(PIP) --editable rl --editable '.[bench]'
	touch $@

# Resolves the bounds of pyproject.toml anew; takes some minutes.
lock: .venv/bin/python
	$(PYTHON) -m venv .venv/lock
	.venv/lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools
	$(PYTHON) requirements/lock.py .venv/lock/bin/pip-compile

wheels: .venv/bin/python
	AEGIR_RELEASE=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist ./rl .

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
