"""Responses checked as they come: one opening for all of them, from several threads, with what fails told of each."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from localfact.api import checker as checking
from localfact.api.checker import Checker
from localfact.errors import InputError
from localfact.vocabulary import VerdictLabel

QUICK = {"relations": "lexical", "embedder": "none"}


def bridge(year: int) -> dict[str, object]:
    return {
        "id": str(year),
        "response": f"The Halden bridge opened in {year}.",
        "passages": ["The Halden bridge opened in 1932."],
    }


@pytest.mark.slow
def test_responses_of_several_threads_are_judged_by_what_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    wire = checking.wire

    def counted(*words: object, **named: object) -> object:
        opened.append(words)
        return wire(*words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "wire", counted)
    checker = Checker.of(None, QUICK)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(checker.check, map(bridge, (1932, 1956, 1932, 1956))))
    checker.close()
    labels = [one.verdicts[0].label for one in found]
    assert labels == [VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED] * 2
    assert len(opened) == 1


def test_a_response_that_cannot_be_judged_fails_alone() -> None:
    checker = Checker.of(None, QUICK, max_words=8)
    bare = checker.check({"response": "The Halden bridge opened in 1932."})
    long = checker.check({**bridge(1932), "response": "The bridge is old. " * 3})
    assert (bare.status, "No evidence" in str(bare.error)) == ("failed", True)
    assert (long.status, "--max-words" in str(long.error)) == ("failed", True)
    assert checker.check(bridge(1932)).status == "scored"
    checker.close()


@pytest.mark.parametrize(
    ("chosen", "told"),
    [({"corpse": "mine"}, "corpse"), ({"k": 0}, "--k"), ({"providers": ["duckduckgo"]}, "localfact corpus fetch")],
)
def test_an_option_that_cannot_be_used_is_refused_by_its_name(chosen: dict[str, object], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        Checker.of(None, chosen)
