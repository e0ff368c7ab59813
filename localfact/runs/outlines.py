"""What the sums of a run need of its assessments, small enough that a hundred thousand of them fit into a laptop's memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from localfact.records import Assessment, Claim, Verdict
from localfact.runs.run_folder import assessments_in_order
from localfact.vocabulary import Flag, VerdictLabel


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

    def same(value: Any) -> Any:
        return shared.setdefault(value, value)

    return [_outline(assessment, same) for assessment in assessments_in_order(path)]


def _outline(whole: Assessment, same: Any) -> Assessment:
    claims = tuple(same(_claim(claim)) for claim in whole.claims)
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
            "warnings": tuple(map(same, whole.warnings)),
        }
    )


def _claim(claim: Claim) -> Claim:
    return Claim(id=claim.id, text="", gold=claim.gold, in_corpus=claim.in_corpus)


def _figures(counted: Mapping[str, Mapping[str, Any]], same: Any) -> dict[str, Mapping[str, Any]]:
    """The figures of each stage; equal ones are one object."""
    return {stage: same(_Frozen(figures)) for stage, figures in counted.items()}


class _Frozen(dict[str, Any]):
    """Figures that are not changed any more, and can be looked up whole."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))
