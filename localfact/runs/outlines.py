"""What the sums of a run need of its assessments, small enough that a hundred thousand of them fit into a laptop's memory."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from localfact.records import Assessment, Claim, Verdict
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


def read_outlines(path: Path) -> list[Assessment]:
    """The assessments of a run folder in the order of the input, failures included, as far as scores and costs need them.

    Claims have their id and what the annotator said of them, verdicts their label, posterior and flags; passages and relations
    are left out. One whole assessment at a time is in memory.

    Raises:
        MissingError: there is no such run. InputError: a line that is no assessment.
    """
    shared: dict[Any, Any] = {}

    def same(value: Value, key: Hashable = None) -> Value:
        # Of one type: no flags, (), are not no figures, {}, though both are looked up as ().
        found: Value = shared.setdefault((type(value), value if key is None else key), value)
        return found

    return [_outline(assessment, same) for assessment in assessments_in_order(path)]


def _outline(whole: Assessment, same: Same) -> Assessment:
    claims = tuple(same(Claim(id=one.id, text="", gold=one.gold, in_corpus=one.in_corpus)) for one in whole.claims)
    verdicts = tuple(_VerdictOutline(same(one.claim_id), one.label, one.posterior, same(one.flags)) for one in whole.verdicts)
    return whole.model_copy(
        update={
            "claims": claims,
            "verdicts": cast("tuple[Verdict, ...]", verdicts),
            "passages": (),
            "relations": (),
            "unparsed": (),
            "counts": _figures(whole.counts, same),
            "usage": _figures(whole.usage, same),
            "warnings": tuple(same(warning) for warning in whole.warnings),
        }
    )


def _figures(counted: Mapping[str, Mapping[str, Any]], same: Same) -> dict[str, Mapping[str, Any]]:
    """The figures of each stage; equal ones are one object."""
    return {stage: same(figures, tuple(figures.items())) for stage, figures in counted.items()}
