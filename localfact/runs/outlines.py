"""What the sums of a run need of its assessments, small enough that a hundred thousand of them fit into a laptop's memory."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from localfact.records import Assessment, Claim, Passage, Verdict
from localfact.runs.assessments import assessments_in_order
from localfact.vocabulary import Flag, VerdictLabel

Value = TypeVar("Value")


class Same(Protocol):
    """Gives one object for all equal values."""

    def __call__(self, value: Value, key: Hashable = None) -> Value:
        """The first value that was equal to this one; or, where it cannot be looked up itself, had its key."""
        ...


@dataclass(frozen=True, slots=True)
class _VerdictOutline:
    """A verdict without passages and rationale: a tenth of a `Verdict`'s bytes, and it may stand for one in any sum."""

    claim_id: str
    label: VerdictLabel
    posterior: float | None
    flags: tuple[Flag, ...]


class AssessmentsRead(NamedTuple):
    """Assessments that were read in one pass, in the order of the input: outlines of all, and some of them whole."""

    outlines: list[Assessment]
    shown: list[Assessment]


def read_outlines(path: Path) -> list[Assessment]:
    """The assessments of a run folder in the order of the input, failures included, as far as scores and costs need them.

    Raises:
        MissingError: there is no such run. InputError: a line that is no assessment.
    """
    return read_outlines_and_shown(assessments_in_order(path)).outlines


def read_outlines_and_shown(found: Iterable[Assessment], start: int = 1, most: int | None = 0) -> AssessmentsRead:
    """Makes outlines of assessments, and keeps some whole; of the others one at a time is in memory.

    In an outline claims have their id and what the annotator said of them, verdicts their label, posterior and flags; of the
    passages there is an empty one for each of those they are from; relations are left out.

    Args:
        found: each is taken once.
        start, most: which are kept whole: from that number on, counted from 1, at most so many; None for all.
    """
    shared: dict[Any, Any] = {}

    def same(value: Value, key: Hashable = None) -> Value:
        # Of one type: no flags, (), are not no figures, {}, though both are looked up as ().
        found: Value = shared.setdefault((type(value), value if key is None else key), value)
        return found

    read = AssessmentsRead([], [])
    for number, assessment in enumerate(found, start=1):
        read.outlines.append(_outline(assessment, same))
        if number >= start and (most is None or number < start + most):
            read.shown.append(assessment)
    return read


def _outline(whole: Assessment, same: Same) -> Assessment:
    claims = tuple(same(Claim(id=one.id, text="", gold=one.gold, in_corpus=one.in_corpus)) for one in whole.claims)
    verdicts = tuple(_VerdictOutline(same(one.claim_id), one.label, one.posterior, same(one.flags)) for one in whole.verdicts)
    providers = sorted({one.provider for one in whole.passages})
    coherence = whole.coherence and whole.coherence.model_copy(update={"contradictions": ()})
    return whole.model_copy(
        update={
            "coherence": coherence,
            "claims": claims,
            "verdicts": cast("tuple[Verdict, ...]", verdicts),
            "passages": tuple(same(Passage(id="", text="", provider=name), ("from", name)) for name in providers),
            "relations": (),
            "unparsed": (),
            "counts": _figures(whole.counts, same),
            "usage": _figures(whole.usage, same),
            "warnings": tuple(same(warning) for warning in whole.warnings),
            "citations": whole.citations and whole.citations.model_copy(update={"sources": (), "sentences": (), "counts": {}}),
            "recall": whole.recall and whole.recall.model_copy(update={"facts": (), "counts": {}}),
        }
    )


def _figures(counted: Mapping[str, Mapping[str, Any]], same: Same) -> dict[str, Mapping[str, Any]]:
    """The figures of each stage; equal ones are one object."""
    return {stage: same(figures, tuple(figures.items())) for stage, figures in counted.items()}
