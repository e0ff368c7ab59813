"""A script without `if __name__ == "__main__":` that evaluates with a language model: its processes do not run it again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from engines import NEEDS_VLLM
from tiny_models import tiny_llama

pytestmark = [NEEDS_VLLM, pytest.mark.models]

SCRIPT = """
import sys
print("begun", flush=True)
import localfact
data, model, out, *engine_args = sys.argv[1:]
options = localfact.Options(model=model, relations="llm", embedder="none", min_mass=0, engine_args=engine_args)
print(localfact.evaluate(data, method="factreasoner-fr1", options=options, out=out).responses, flush=True)
"""
ROW = {
    "response": "The mill is tall.",
    "claims": [{"text": "The mill is tall.", "passages": ["p"]}],
    "passages": [{"id": "p", "text": "The mill is 30 metres tall."}],
}


@pytest.mark.parametrize("engine_args", [[], pytest.param(["data_parallel_size=2"], marks=pytest.mark.exhaustive)])
def test_a_script_without_a_guard_runs_once_with_one_process_or_several(tmp_path: Path, engine_args: list[str]) -> None:
    data, script = tmp_path / "rows.jsonl", tmp_path / "script.py"
    data.write_text(json.dumps(ROW) + "\n")
    script.write_text(SCRIPT)
    model = tiny_llama(tmp_path / "tiny", window=8192)
    given = [str(data), str(model), str(tmp_path / "out"), *engine_args]
    said = subprocess.run([sys.executable, str(script), *given], capture_output=True, text=True, timeout=300, check=False)
    assert (said.returncode, said.stdout.splitlines()) == (0, ["begun", "1"]), said.stderr[-2000:]
