"""One engine for everybody who asks, opened once, from any thread; a model's answers come the same road as in `eval`."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from localfact.api import shared_assessor
from localfact.api.evaluate import evaluate
from localfact.api.sample import sample_corpus, sample_recording, sample_responses
from localfact.api.shared_assessor import SharedAssessor
from localfact.errors import InputError
from localfact.methods.options import Options
from localfact.runs.progress import SILENT
from localfact.vocabulary import VerdictLabel

QUICK = {"relations": "lexical", "embedder": "none"}


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


def bridge(year: int) -> dict[str, object]:
    return {
        "id": str(year),
        "response": f"The Halden bridge opened in {year}.",
        "passages": ["The Halden bridge opened in 1932."],
    }


@pytest.mark.slow
def test_responses_of_several_threads_are_judged_by_what_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    wire = shared_assessor.wire

    def counted(*words: object, **named: object) -> object:
        opened.append(words)
        return wire(*words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(shared_assessor, "wire", counted)
    shared = SharedAssessor.of_names(None, QUICK)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(shared.check_or_fail, map(bridge, (1932, 1956, 1932, 1956))))
    shared.close()
    labels = [one.verdicts[0].label for one in found]
    assert labels == [VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED] * 2
    assert len(opened) == 1


def test_a_response_that_cannot_be_judged_fails_alone() -> None:
    shared = SharedAssessor.of_names(None, QUICK, max_words=8)
    bare = shared.check_or_fail({"response": "The Halden bridge opened in 1932."})
    long = shared.check_or_fail({**bridge(1932), "response": "The bridge is old. " * 3})
    assert (bare.status, "No evidence" in str(bare.error)) == ("failed", True)
    assert (long.status, "--max-words" in str(long.error)) == ("failed", True)
    assert shared.check_or_fail(bridge(1932)).status == "scored"
    shared.close()


@pytest.mark.parametrize(
    ("chosen", "told"),
    [({"corpse": "mine"}, "corpse"), ({"k": 0}, "--k"), ({"providers": ["duckduckgo"]}, "localfact corpus fetch")],
)
def test_an_option_that_cannot_be_used_is_refused_by_its_name(chosen: dict[str, object], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        SharedAssessor.of_names(None, chosen)
