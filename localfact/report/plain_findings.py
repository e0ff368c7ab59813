"""What a verdict rests on, in plain lines, for places that know no markup: a failed test, a build's log, a trace."""

from collections.abc import Sequence

from localfact.records import Assessment, JudgedClaim
from localfact.records.judged_claims import said, shorten_line, true_with
from localfact.vocabulary import NOT_SUPPORTED_LABELS, VerdictLabel

#: How many characters of a claim, a sentence or a source are shown; the run's report has all of them.
LONGEST = 600
#: How many claims an explanation beside a score names.
MOST_TOLD = 20


def describe(claim: JudgedClaim) -> str:
    """A claim, its verdict, the sentence that it rests on and where that is from: a line each."""
    lines = [shorten_line(claim.text, LONGEST), f"    {said(claim.verdict)}{true_with(claim.probability)}"]
    if claim.sentence is not None:
        lines.append(f"    sentence: {shorten_line(claim.sentence, LONGEST)}")
    if claim.source:
        lines.append(f"    source: {shorten_line(claim.source, LONGEST)}")
    return "\n".join(lines)


def describe_all(claims: Sequence[JudgedClaim], most: int | None = None) -> str:
    """The claims, one below the other, at most so many of them; None for all."""
    told = [f"  {describe(claim)}".replace("\n", "\n  ") for claim in claims[:most]]
    left = len(claims) - len(told)
    return "\n".join([*told, *([f"  And {left} more."] if left else [])])


def not_supported(assessment: Assessment) -> Sequence[JudgedClaim]:
    """The claims that lower the precision though nothing contradicts them, in the order of the text."""
    lacking = NOT_SUPPORTED_LABELS - {VerdictLabel.CONTRADICTED}
    return [claim for claim in assessment.judged if claim.verdict in lacking]


def failed_claims(assessment: Assessment) -> Sequence[JudgedClaim]:
    """The claims that something kept from being judged."""
    return [claim for claim in assessment.judged if claim.verdict is VerdictLabel.FAILED]


def unjudged_because(assessment: Assessment) -> str | None:
    """Why a response has no score, in a sentence; None where it has one."""
    if assessment.status == "failed":
        return f"It could not be judged: {assessment.error}"
    if assessment.status == "abstained":
        return "It states nothing that could be judged: it has no claim."
    if assessment.status == "unscored":
        return "None of its claims could be judged." if assessment.claims else "No claim could be read in it."
    return None
