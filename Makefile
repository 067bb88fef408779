.PHONY: setup image demo test test-agents test-programs test-crash fuzz check audit bench lock clean
.DEFAULT_GOAL := demo

# Everything this machine needs: .venv, Tesseract, a Docker engine. Nothing is done twice.
setup:
	@scripts/setup

# The sandbox image; rebuilt only when one of its inputs changed.
image: setup
	@.venv/bin/fieldmark sandbox build

demo: image
	@.venv/bin/fieldmark demo

# Two files of tests at a time: most of them wait for containers.
test: image
	@.venv/bin/fieldmark sandbox build --agent opencode
	@.venv/bin/pytest -n 2 --dist loadfile --no-loadscope-reorder

# Agents of others, really installed, against a scripted model: their images are built when they are not there.
test-agents: image
	@FIELDMARK_TEST_AGENTS=1 .venv/bin/pytest tests/real_agents

# The crash matrix (docs/reliability.md); `make test` has five kills of it and one of each other stop. As root: all rows.
test-crash: image
	@FIELDMARK_TEST_CRASH=1 .venv/bin/pytest -m crash

# Programs of others that read our exports, really installed, in an environment of their own.
test-programs: setup
	@FIELDMARK_TEST_PROGRAMS=1 .venv/bin/pytest tests/real_programs

# Every property test steered by the code that its inputs reach, FIELDMARK_FUZZ_SECONDS each; NAMES: of these files alone.
fuzz: setup
	@test -d build/fuzz/atheris || .venv/bin/pip install -qq --no-deps --target build/fuzz atheris
	@PYTHONPATH=build/fuzz .venv/bin/python -m tests.fuzz $(NAMES)

check: setup
	@.venv/bin/ruff check
	@.venv/bin/ruff format --check
	@.venv/bin/mypy
	@.venv/bin/python scripts/licences.py >/dev/null

# Known weaknesses of everything that is locked; asks a service on the network.
audit:
	@test -x .venv-audit/bin/pip-audit || (python3 -m venv .venv-audit && .venv-audit/bin/pip install -qq pip-audit)
	@.venv-audit/bin/pip-audit --requirement requirements.lock --disable-pip

bench: image
	@set -e; for script in benchmarks/[!_]*.py; do .venv/bin/python -m "benchmarks.$$(basename "$$script" .py)"; done

# Newest versions of all dependencies, pinned with hashes.
lock:
	@scripts/lock

clean:
	rm -rf .venv .venv-audit build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
