"""Thresholds of verdicts with a guarantee: a verdict that is not sure enough by its posterior is undecided instead.

Fitted on labelled claims by `localfact calibrate --verdicts` (api/calibrate_verdicts.py says what is guaranteed), used by every
method with a graph.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from localfact.assess.around import AroundAssessor
from localfact.records import Claim, Count, Evidence, Judgement, Probability, Record, Response, Verdict
from localfact.runtime.fitted_files import read_fitted
from localfact.stages import Relations
from localfact.vocabulary import VerdictLabel

#: The number of the form in which they are written.
FORMAT: Literal[1] = 1


class VerdictThresholds(Record):
    """From which posterior on a verdict stands.

    Attributes:
        supported: the least posterior of a supported claim; None where nothing shows that supported ones are right often
            enough: then none is supported.
        contradicted: the largest posterior of a contradicted claim; None likewise.
        max_risk: the largest share of wrong ones among the verdicts of each kind that stand. delta: the probability that it is
            exceeded.
        settings: what the posteriors depend on: the method's name, its assessment and its language model, as in run.yaml.
        data: the SHA-256 of the labelled claims' texts and labels. responses, claims: how many were judged for them.
    """

    format: Literal[1] = FORMAT
    supported: Probability | None
    contradicted: Probability | None
    max_risk: Probability
    delta: Probability
    settings: Mapping[str, Any]
    data: str
    responses: Count
    claims: Count = Field(default=0)

    def allows(self, verdict: Verdict) -> bool:
        """Whether a verdict stands: one that decides nothing does, one that decides without a posterior does not."""
        if verdict.label is VerdictLabel.SUPPORTED:
            return verdict.posterior is not None and self.supported is not None and verdict.posterior >= self.supported
        if verdict.label is VerdictLabel.CONTRADICTED:
            return verdict.posterior is not None and self.contradicted is not None and verdict.posterior <= self.contradicted
        return True


@dataclass(frozen=True)
class Guaranteeing(AroundAssessor):
    """Wraps an assessor; verdicts that its thresholds do not allow are undecided.

    Attributes:
        thresholds: fitted for that assessor.
    """

    thresholds: VerdictThresholds

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        """The wrapped assessor's judgement; posteriors stay as they are."""
        judgement = await self.assessor.assess(response, claims, evidence, relations)
        return judgement.model_copy(update={"verdicts": tuple(map(self._decide, judgement.verdicts))})

    def _decide(self, verdict: Verdict) -> Verdict:
        if self.thresholds.allows(verdict):
            return verdict
        why = f"not sure enough to be {verdict.label.value} at a risk of {self.thresholds.max_risk:g}"
        rationale = f"{verdict.rationale}; {why}" if verdict.rationale else why
        return verdict.model_copy(update={"label": VerdictLabel.UNDECIDED, "rationale": rationale})


def settings_behind(run_settings: Mapping[str, Any]) -> dict[str, Any]:
    """What posteriors depend on, of the settings of a run: method, assessment, how passages are found, and language model.

    Not which corpus they are found in: that it is like the one of the labelled claims is for the user to see to.
    """
    assessment = {name: value for name, value in run_settings["assessment"].items() if name != "thresholds"}
    evidence = {name: value for name, value in (run_settings.get("evidence") or {}).items() if name != "corpus"}
    return {
        "method": run_settings["method"],
        "assessment": assessment,
        "evidence": evidence,
        "model": run_settings.get("model"),
    }


def explain_thresholds(thresholds: VerdictThresholds) -> str:
    """What the thresholds promise, and on what that rests, in a sentence for readers."""
    said = [
        f"{name} only {word} {limit:g}"
        if limit is not None
        else f"never {name}, as nothing showed that to be right often enough"
        for name, word, limit in (
            ("supported", "from a probability of", thresholds.supported),
            ("contradicted", "up to", thresholds.contradicted),
        )
    ]
    return (
        f"A claim is {' and '.join(said)}: so that, with probability {1 - thresholds.delta:g} each, at most "
        f"{thresholds.max_risk:.0%} of the claims called so are wrong, for texts like the {thresholds.responses} labelled "
        f"responses that the thresholds are from; otherwise undecided."
    )


def read_verdict_thresholds(file: Path) -> VerdictThresholds:
    """Reads thresholds from a file that `localfact calibrate --verdicts` wrote.

    Raises:
        InputError: it cannot be read, or holds none.
    """
    cure = "`localfact calibrate --verdicts RUN --verdict-thresholds FILE` makes one."
    return read_fitted(VerdictThresholds, file, "file of verdict thresholds", cure)
