"""One engine for everybody who asks, opened once, from any thread; a model's answers come the same road as in `eval`."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from localfact.api import shared_assessor
from localfact.api.evaluate import evaluate
from localfact.api.sample import sample_corpus, sample_recording, sample_responses
from localfact.api.shared_assessor import SharedAssessor
from localfact.errors import EngineError, InputError, LocalFactError
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
    assert (long.status, "8 at most" in str(long.error)) == ("failed", True)
    assert shared.check_or_fail(bridge(1932)).status == "scored"
    shared.close()


def test_an_opening_that_fails_leaves_nothing_open_and_the_next_call_opens_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    wire = shared_assessor.wire

    def wire_then_fail(chosen: Any, opened: Any, **named: Any) -> Any:
        opened.callback(events.append, "closed")
        wired = wire(chosen, opened, **named)
        if not events:
            raise EngineError("out of memory")
        return wired

    monkeypatch.setattr(shared_assessor, "wire", wire_then_fail)
    with SharedAssessor(options=Options.model_validate(QUICK)) as shared:
        with pytest.raises(EngineError, match="out of memory"):
            shared.open()
        assert events == ["closed"]
        assert shared.check_or_fail(bridge(1932)).status == "scored"
        assert events == ["closed"]
    assert events == ["closed"] * 2


def test_one_that_was_closed_says_so_to_whoever_asks() -> None:
    shared = SharedAssessor(options=Options.model_validate(QUICK))
    shared.close()
    for ask in (shared.open, lambda: shared.check_or_fail(bridge(1932)), lambda: asyncio.run(shared.check(bridge(1932)))):
        with pytest.raises(EngineError, match="The assessor was closed"):
            ask()
    shared.close()


MISUSES: dict[str, tuple[Callable[[SharedAssessor], Any], str]] = {
    "a negative number at once": (lambda _: SharedAssessor(concurrency=-1), "concurrency takes a whole number"),
    "no words": (lambda _: SharedAssessor(max_words=0), "max_words takes a whole number"),
    "a mapping for options": (lambda _: SharedAssessor(options=QUICK), "options takes localfact.Options"),  # type: ignore[arg-type]
    "a search without a corpus": (lambda shared: asyncio.run(shared.search("Warsaw")), "corpus=DIR"),
    "a text without a corpus": (lambda shared: asyncio.run(shared.check("It rains.")), "corpus=DIR"),
    "no text": (lambda shared: asyncio.run(shared.check(None)), "check takes one text"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_misuse_is_answered_with_what_to_do(misuse: str) -> None:
    do, said = MISUSES[misuse]
    with SharedAssessor(options=Options.model_validate(QUICK)) as shared, pytest.raises(LocalFactError) as caught:
        do(shared)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("chosen", "told"),
    [({"corpse": "mine"}, "mean 'corpus'"), ({"k": 0}, "--k"), ({"providers": ["duckduckgo"]}, "localfact corpus fetch")],
)
def test_an_option_that_cannot_be_used_is_refused_by_its_name(chosen: dict[str, object], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        SharedAssessor.of_names(None, chosen)
