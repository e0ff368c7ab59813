"""Scores for Langfuse: what a trace gets, and the way to a server, which fails, asks for patience or refuses."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_langfuse import PUBLIC, SECRET, LoopbackLangfuse, serving
from report_runs import small_assessment
from run_builders import assessment
from stored_runs import store_run

from localfact.errors import InputError, LocalFactError, MissingError, SendError
from localfact.integrations.langfuse import BATCH, count_left_out, langfuse_lines, send_scores
from localfact.web.searching.provider_chain import Timing

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SCORES = ["localfact.precision", "localfact.f1", "localfact.supported", "localfact.contradicted", "localfact.undecided"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two traces with scores, one that abstained, and a row that names no trace."""
    return store_run(
        tmp_path / "run",
        [
            small_assessment(0, f"{TRACE.upper()}:{SPAN.upper()}").model_copy(update={"id_given": True}),
            assessment("SC", index=1),
            assessment("", index=2),
            assessment("S", index=3).model_copy(update={"id_given": False}),
        ],
    )


@pytest.fixture
def langfuse(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackLangfuse]:
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", PUBLIC)
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", SECRET)
    with serving(LoopbackLangfuse()) as served:
        yield served


class Waited:
    """Time that passes by waiting alone."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.timing = Timing(clock=lambda: sum(self.seconds), sleep=self.sleep, draw=lambda: 1.0)

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


def test_a_trace_gets_scores_with_what_they_rest_on(run: Path) -> None:
    lines = [json.loads(line) for line in langfuse_lines(run)]
    assert [line["name"] for line in lines] == [*SCORES, *SCORES, "localfact.status"]
    assert {line.get("observationId") for line in lines[:5]} == {SPAN}
    assert [lines[at]["traceId"] for at in (0, 5, 10)] == [TRACE, "r1", "r2"]
    assert (lines[3]["value"], lines[3]["dataType"], "She died in London." in lines[3]["comment"]) == (1, "NUMERIC", True)
    assert (lines[10]["value"], lines[10]["dataType"]) == ("abstained", "CATEGORICAL")
    assert list(langfuse_lines(run)) == [json.dumps(line) for line in lines]  # again the same, ids included


def test_rows_that_name_no_trace_are_counted_and_refused_where_all_are_such(run: Path, tmp_path: Path) -> None:
    assert count_left_out(run) == 1
    bare = store_run(tmp_path / "bare", [assessment("S").model_copy(update={"id_given": False})])
    with pytest.raises(InputError, match=r"has an id that no other has.*TRACE:SPAN where rows share a trace"):
        list(langfuse_lines(bare))


def test_scores_are_sent_in_batches_and_again_after_what_passes(run: Path, langfuse: LoopbackLangfuse) -> None:
    lines, waited = list(langfuse_lines(run)) * 10, Waited()
    langfuse.script += [(503, {}), (429, {"retry-after": "7"})]
    assert send_scores(lines, f"{langfuse.url}/", waited.timing) == 110
    assert langfuse.batches == [BATCH, 10]
    assert sum(waited.seconds) >= 8  # a second before the second try, and the seven that were asked for
    assert len(langfuse.scores) == 11  # a score that comes again replaces itself ...
    assert len(set(langfuse.events)) == 110  # ... by another event each time


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "check LANGFUSE_PUBLIC_KEY"), (400, "refused"), (302, "redirects elsewhere"), (500, "unavailable")],
)
def test_what_a_server_does_not_take_is_told_without_the_key(
    run: Path, langfuse: LoopbackLangfuse, status: int, said: str
) -> None:
    langfuse.script += [(status, {"location": "https://elsewhere.example/"})] * 4
    with pytest.raises(SendError, match=f"(?s){said}.*0 of 11 scores are there") as refused:
        send_scores(list(langfuse_lines(run)), langfuse.url, Waited().timing)
    assert SECRET not in str(refused.value)
    assert langfuse.requests == (4 if status == 500 else 1)


def test_scores_that_a_server_refuses_one_by_one_are_told(run: Path, langfuse: LoopbackLangfuse) -> None:
    langfuse.refused = frozenset({"localfact.f1"})
    with pytest.raises(SendError, match=r"took not all of a batch: Invalid score\. 9 of 11 scores are there"):
        send_scores(list(langfuse_lines(run)), langfuse.url, Waited().timing)


@pytest.mark.parametrize(
    ("address", "error", "said"),
    [
        ("http://langfuse.example", InputError, "unencrypted"),
        ("langfuse.example", InputError, "no address of a server"),
        ("https://user:pass@langfuse.example", InputError, "no address of a server"),
        ("http://127.0.0.1:x", InputError, "no address of a server"),
        ("https://langfuse.example", MissingError, "LANGFUSE_PUBLIC_KEY is not set"),
    ],
)
def test_keys_go_to_an_address_that_was_typed_and_encrypted(
    address: str, error: type[LocalFactError], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANGFUSE_PUBLIC_KEY", raising=False)
    with pytest.raises(error, match=said):
        send_scores(["{}"], address)
