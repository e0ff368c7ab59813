"""What a trace is told of one response: a few scores by name, each with what it rests on in plain lines."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from localfact.records import Assessment
from localfact.report.plain_findings import MOST_TOLD, describe_all, not_supported, unjudged_because
from localfact.scoring.aggregate import ResponseScore, contribution_of
from localfact.scoring.scores import F1AtK, Precision, VerdictCount
from localfact.scoring.tally import Unscored

#: The name of what a response without a score has in place of scores: why it has none.
STATUS = "localfact.status"
#: An id that is a trace's, perhaps with the span's behind it, as W3C writes them in hexadecimal.
_TRACE = re.compile(r"(?P<trace>[0-9a-f]{32})(?:[:-](?P<span>[0-9a-f]{16}))?")


class Trace(NamedTuple):
    """A trace, by its id, and perhaps the span in it."""

    id: str
    span: str | None = None


class TraceScore(NamedTuple):
    """A score of one response, as tools that trace language models keep it.

    Attributes:
        value: the number; None where the response has none.
        label: a word in place of a number, such as a verdict.
        explanation: for people: what the value is of, or why there is none.
    """

    name: str
    value: float | None
    label: str | None
    explanation: str


def trace_scores(run: Sequence[Assessment]) -> Callable[[Assessment], list[TraceScore]]:
    """Returns the function from a response of a run to its scores, with the K of that run.

    Args:
        run: all responses of it, as outlines perhaps.
    """
    f1 = F1AtK().fit(run)
    scores: list[tuple[str, ResponseScore, Callable[[Assessment], str]]] = [
        ("localfact.precision", Precision(), lambda one: one.headline),
        ("localfact.f1", f1, lambda one: str(f1)),
        ("localfact.supported", VerdictCount("S"), lambda one: ""),
        ("localfact.contradicted", VerdictCount("C"), lambda one: describe_all(one.contradicted, MOST_TOLD)),
        ("localfact.undecided", VerdictCount("U"), lambda one: describe_all(not_supported(one), MOST_TOLD)),
    ]

    def of(assessment: Assessment) -> list[TraceScore]:
        if (because := unjudged_because(assessment)) is not None:
            return [TraceScore(STATUS, None, assessment.status, because)]
        found = []
        for name, score, explain in scores:
            value: float | Unscored = contribution_of(score, assessment)
            if not isinstance(value, Unscored):
                found.append(TraceScore(name, value, None, explain(assessment)))
        return found

    return of


def trace_of(assessment: Assessment) -> Trace | None:
    """The trace that a response's id names, in small letters, as both are looked up; None where its file gave it no such id."""
    named = _TRACE.fullmatch(assessment.response_id.lower()) if assessment.id_given else None
    return None if named is None else Trace(named["trace"], named["span"])


def run_name(run: Path) -> str:
    """What a run folder is called."""
    return run.resolve().name
