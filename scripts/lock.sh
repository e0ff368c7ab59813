#!/usr/bin/env bash
# Writes the pinned files under requirements/ from pyproject.toml, with hashes. Run it after changing a dependency:
#     scripts/lock.sh            (needs uv: pip install uv)
# torch stands apart in requirements/torch.txt: it is installed first, with its own dependencies, so that whichever build
# pip finds (CPU or CUDA) is the one that stays. Everything else is installed with --no-deps from one of these files.
# The file for CUDA is resolved beside the package index's torch, which pins CUDA's libraries and Triton to its own versions;
# the others beside the CPU build, which has none of these. CPU_TORCH: a folder or a page with links to that build.
set -euo pipefail
cd "$(dirname "$0")/.."
CPU_TORCH=${CPU_TORCH:-https://download.pytorch.org/whl/cpu/torch/}

compile() { # OUTPUT [uv options]
    local output=$1
    shift
    uv pip compile --quiet --python-version 3.11 --python-platform x86_64-unknown-linux-gnu --generate-hashes \
        --override requirements/overrides.txt --constraint requirements/torch.txt --no-emit-package torch \
        --custom-compile-command scripts/lock.sh "$@" pyproject.toml --output-file "requirements/$output"
}

compile llm-cpu.txt --find-links "$CPU_TORCH" --extra llm-cpu --extra serve
pins() { # the pins of one compiled file, without hashes: what the next file may not contradict
    sed -nE 's/^([a-z0-9.-]+==[^ \\]+).*/\1/p' "requirements/$1"
}

pins llm-cpu.txt >requirements/.pins
compile base.txt --find-links "$CPU_TORCH" --extra serve --constraint requirements/.pins
pins base.txt >requirements/.base
compile dev.txt --find-links "$CPU_TORCH" --extra dev --constraint requirements/.pins
compile llm-cuda.txt --extra llm-cuda --extra serve --constraint requirements/.base
rm requirements/.pins requirements/.base
# Evaluation tools that pin other versions of what we pin: resolved by themselves, for an environment of their own.
printf 'inspect-ai\nlm-eval\n' | uv pip compile --quiet --python-version 3.11 --python-platform x86_64-unknown-linux-gnu \
    --generate-hashes --custom-compile-command scripts/lock.sh - --output-file requirements/tools.txt
