"""The report of a run: what was found, the contradicted claims, every text with its claims; folded: scores, method, costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localfact.records import Assessment, Distribution, Pair
from localfact.report.accounting_view import figures, number
from localfact.report.explanations import FLAG_WORDS, FLAGS, NO_PROOF, VERDICTS, explanations
from localfact.report.findings import WEAK, common_flags, headline, tell_annotators, tell_common_flags
from localfact.report.page.cards import CARDS, make_cards
from localfact.report.page.plain_settings import plain_settings
from localfact.report.page.rendering import page
from localfact.report.page.responses import Decide, index_entry, response_data
from localfact.report.palette import MARKS
from localfact.report.summary import NO_PAGE_READ, Summary
from localfact.scoring.aggregate import ScoreResult
from localfact.scoring.tally import precision_annotated
from localfact.vocabulary import VerdictLabel

#: Width of the bar of verdicts and of the line of an interval, in units of their pictures.
BAR, LINE = 1000, 120


@dataclass(frozen=True)
class ModelCall:
    """A call of the language model, as the page shows it: its stage, what was sent and what came back, perhaps cut."""

    about: str
    prompt: str
    answer: str


@dataclass(frozen=True)
class RunRead:
    """A run as it was read from its folder.

    Attributes:
        name: of the run folder.
        assessments: those that are shown.
        start: the number of the first of them, from 1.
        settings: run.yaml without versions, as plain values.
        seconds: index of a response -> stage -> seconds.
        distributions: of passage and claim, as far as they are known.
        decide: the verdict that a posterior gives by the rules of the run's method.
        how: the same in sentences.
        reader: whose verdicts these are: a model's name, for example.
        limits: what else a reader must know of the method; "" for nothing.
        corrections: id of a response -> its row in the run's file of corrections.
        calls: of the language model; none unless they were asked for.
        calls_left: how many more there are.
    """

    name: str
    summary: Summary
    assessments: Sequence[Assessment]
    decide: Decide
    how: str = ""
    reader: str = "this method"
    limits: str = ""
    start: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    distributions: Mapping[Pair, Sequence[Distribution]] = field(default_factory=dict)
    corrections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calls: Sequence[ModelCall] = ()
    calls_left: int = 0


def run_page(run: RunRead) -> str:
    """The report as one HTML file."""
    meanings, common = dict(explanations(run.summary)), common_flags(run.summary)
    sources: dict[str, int] = {}
    entries = [index_entry(assessment, common, sources) for assessment in run.assessments]
    return page(
        "run.html",
        script=True,
        run=run,
        summary=run.summary,
        headline=headline(run.summary),
        no_proof=NO_PROOF,
        alerts=[NO_PAGE_READ] if run.summary.no_page_read else [],
        common=[*tell_annotators(run.assessments), *tell_common_flags(run.summary)],
        against=sum(verdict.label is VerdictLabel.CONTRADICTED for one in run.assessments for verdict in one.verdicts),
        cards=make_cards(run.assessments, common),
        weak=WEAK,
        scores=[(score, meanings.get(score.name, ""), interval_line(score)) for score in run.summary.scores],
        segments=segments(run.summary.verdicts),
        annotated=precision_of_annotators(run),
        sources={name: Path(str(value)).name for name, value in dict(run.settings.get("sources") or {}).items() if value},
        scored=run.summary.responses - sum(_without_score(run.summary).values()),
        without_score=_without_score(run.summary),
        costs=run.summary.accounting if run.summary.accounting.calls_sent else None,
        figures=figures,
        number=number,
        stages=stage_seconds(run.seconds),
        facts=dict(plain_settings(run.settings)),
        marks={label.value: mark for label, mark in MARKS.items()},
        words={label.value: label.value.replace("_", " ") for label in MARKS},
        meanings={label.value: meaning for label, meaning in VERDICTS.items()},
        index={
            "verdicts": {
                label.value: {"sign": mark.sign, "word": label.value.replace("_", " "), "meaning": VERDICTS[label]}
                for label, mark in MARKS.items()
            },
            "flags": {flag.value: {"word": FLAG_WORDS[flag], "meaning": said} for flag, said in FLAGS.items()},
            "sources": list(sources),
            "weak": WEAK,
            "cards": CARDS,
            "responses": entries,
        },
        responses=[
            response_data(
                assessment,
                run.distributions,
                run.seconds.get(assessment.index, {}),
                run.decide,
                run.corrections.get(assessment.response_id),
            )
            for assessment in run.assessments
        ],
    )


def precision_of_annotators(run: RunRead) -> float | None:
    """The annotators' precision, the mean over responses that have one; None without, or where not all responses are shown."""
    found = [value for one in run.assessments if (value := precision_annotated(one)) is not None]
    return sum(found) / len(found) if found and len(run.assessments) == run.summary.responses else None


def segments(verdicts: Mapping[str, int]) -> list[tuple[str, int, float, float]]:
    """The verdicts that occur, in the order of MARKS: verdict, claims, beginning and width of its part of the bar."""
    total, begin, found = sum(verdicts.values()), 0.0, []
    for label in MARKS:
        count = verdicts.get(label.value, 0)
        if count:
            width = BAR * count / total
            found.append((label.value, count, round(begin, 2), round(width, 2)))
            begin += width
    return found


def interval_line(score: ScoreResult) -> tuple[float, float, float] | None:
    """A score between 0 and 1 and its interval, in units of LINE; None for one without."""
    if score.value is None or score.ci is None or not all(0 <= end <= 1 for end in (score.value, *score.ci)):
        return None
    low, high = score.ci
    return round(LINE * low, 1), round(LINE * score.value, 1), round(LINE * high, 1)


def stage_seconds(seconds: Mapping[int, Mapping[str, float]]) -> list[tuple[str, float]]:
    """Stage -> seconds, summed over the responses, the longest first."""
    total: dict[str, float] = {}
    for stages in seconds.values():
        for stage, spent in stages.items():
            total[stage] = total.get(stage, 0.0) + spent
    return sorted(total.items(), key=lambda one: -one[1])


def _without_score(summary: Summary) -> dict[str, int]:
    return {
        "abstained (no claim was found)": summary.responses_abstained,
        "unscored (no claim was judged)": summary.responses_unscored,
        "failed": summary.responses_failed,
    }
