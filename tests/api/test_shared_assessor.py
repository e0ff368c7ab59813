"""One engine for everybody who asks: a language model's answers come the same road as in `eval`."""

import asyncio
from pathlib import Path

import pytest

from localfact.api.evaluate import evaluate
from localfact.api.sample import sample_corpus, sample_recording, sample_responses
from localfact.api.shared_assessor import SharedAssessor
from localfact.errors import InputError
from localfact.methods.options import Options
from localfact.runs.progress import SILENT


@pytest.mark.slow
def test_evaluations_at_once_by_a_language_model_write_what_eval_writes(tmp_path: Path) -> None:
    lines = sample_responses().read_text(encoding="utf-8").splitlines(keepends=True)
    options = Options(replay=sample_recording(), claims="extract", corpus=sample_corpus())
    files = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for file, line in zip(files, lines, strict=False):
        file.write_text(line, encoding="utf-8")

    async def evaluate_both(shared: SharedAssessor) -> None:
        jobs = [shared.job_of(file, file.with_suffix("")) for file in files]
        await asyncio.gather(*(shared.evaluate(job, SILENT) for job in jobs))

    with SharedAssessor(options=options) as shared:
        asyncio.run(evaluate_both(shared))
        assert shared.judged_by.model == "qwen2.5-coder-1.5b"
    for file in files:
        alone = tmp_path / f"{file.stem}-alone"
        evaluate(file, options=options, out=alone)
        for name in ("assessments.jsonl", "run.yaml"):
            assert (file.with_suffix("") / name).read_bytes() == (alone / name).read_bytes()


def test_the_web_is_not_searched_for_others() -> None:
    with pytest.raises(InputError, match="searches no web"):
        SharedAssessor(options=Options(providers=("duckduckgo",)))
