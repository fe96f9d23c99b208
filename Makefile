# Everything a newcomer needs is `make serve` and `make test`; `make help` lists the rest.
# PORT=8123 chooses a port; ARGS="…" goes on to the program, as in `make test ARGS="-k paged"`.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup serve site panel test check browser bench lock clean

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
INSTALLED := $(VENV)/.installed

# Any Python from 3.11 on will do; PYTHON=/path/to/python names one.
PYTHONS := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python)
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

# $(call debian,packages): installs them where that needs no password, else says what to install.
define debian
	if [ "$$(id -u)" = 0 ]; then root=; else root="sudo -n"; fi; \
	if command -v apt-get >/dev/null && $$root true 2>/dev/null; then \
	  echo "Installing Debian packages: $(1)"; \
	  $$root apt-get -qq update && \
	  $$root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends $(1) >/dev/null </dev/null; \
	else \
	  echo "Please install these packages, then run make again: $(1)" >&2; exit 1; \
	fi
endef

help:  ## list these targets
	@sed -n 's/^\([a-z]*\):[^#]*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

$(PY):
	@for python in $(PYTHONS); do \
	  if "$$python" -c "$(NEW_ENOUGH)" 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "kvscope needs Python 3.11 or newer, and none of these is: $(PYTHONS)." \
	    "Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python" >&2; exit 1; \
	fi; \
	if ! "$$found" -c "import ensurepip, venv" 2>/dev/null; then $(call debian,python3-venv); fi; \
	echo "Making $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv $(VENV)

$(INSTALLED): requirements.lock pyproject.toml | $(PY)
	@echo "Installing the locked packages into $(VENV): about a minute"
	@$(PIP) install -qq --require-hashes --requirement requirements.lock
	@$(PIP) install -qq --no-build-isolation --no-deps --editable .
	@touch $@

setup: $(INSTALLED)  ## make the virtual environment and install everything from the lock

serve: $(INSTALLED)  ## build the static site, serve it on loopback, print the address, open it
	@exec $(PY) build.py --serve $(if $(PORT),--port $(PORT)) $(ARGS)

site: $(INSTALLED)  ## build the static site into dist/
	@$(PY) build.py

panel: $(INSTALLED)  ## the same page from a Python server
	@exec $(PY) -m panel serve app/main.py --address 127.0.0.1 --port $(or $(PORT),5006) --show $(ARGS)

check: $(INSTALLED)
	@$(VENV)/bin/ruff check --quiet .
	@$(VENV)/bin/ruff format --quiet --check .

# Debian's chromium, a font for Chinese, and what playwright's own node links to.
browser: $(INSTALLED)
	@packages=; \
	command -v chromium >/dev/null || packages="chromium"; \
	fc-list :lang=zh 2>/dev/null | grep -q . || packages="$$packages fonts-noto-cjk"; \
	$(VENV)/lib/python*/site-packages/playwright/driver/node --version >/dev/null 2>&1 \
	  || packages="$$packages libatomic1"; \
	if [ -n "$$packages" ]; then $(call debian,$$packages); fi

test: check browser  ## everything: style, import rules, unit, doctest, JavaScript and browser tests
	@$(PY) -m pytest -n 2 --dist worksteal $(ARGS)

bench: browser  ## the benchmarks, one after the other; TRACE=FILE for those that replay one
	@for path in $$(grep -l __main__ benchmarks/*.py); do \
	  name=$$(basename "$$path" .py); echo "== $$name"; \
	  case $$name in \
	    *replay) if [ -z "$(TRACE)" ]; then echo "left out: it needs TRACE=FILE"; continue; fi; trace="$(TRACE)";; \
	    *) trace=;; \
	  esac; \
	  $(PY) -m benchmarks.$$name $${trace:+"$$trace"} || exit 1; \
	done

lock: $(PY)  ## resolve requirements.lock anew from pyproject.toml
	@$(PIP) install -qq --editable ".[lock]"
	@$(VENV)/bin/uv pip compile pyproject.toml --extra all --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links --quiet \
	  --output-file requirements.lock

clean:  ## remove what was built, and the virtual environment
	rm -rf $(VENV) dist artifacts *.egg-info .pytest_cache .ruff_cache .hypothesis
	find app pycore static tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
