"""What a run found, as readers meet it first: in a sentence, then the contradicted claims, those least likely true first.

The page, the terminal and the tables of a run take order, words and excerpts from here.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from localfact.records import Assessment, Claim, CountedPassage, Passage, Verdict
from localfact.report.explanations import FLAGS
from localfact.report.summary import Summary
from localfact.scoring.tally import labelled_claims
from localfact.vocabulary import Flag, RelationLabel, VerdictLabel

#: A posterior between them decides weakly, one outside clearly.
WEAK = (0.25, 0.75)
#: Where a claim without a posterior stands among others.
UNKNOWN = 0.5
#: A relation up to this probability enters no graph of our own rules.
NEEDED = 0.5
#: A flag that more than this share of the claims it could stand at carry, of at least so many, marks none of them.
COMMON, LEAST_CLAIMS = 0.5, 10
#: Flags that stand at supported and contradicted claims alone.
OF_DECIDED = frozenset({Flag.PARTLY_READ, Flag.SINGLE_SOURCE})
DECIDED = (VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED)
UNCHECKED = (VerdictLabel.NOT_ENOUGH_EVIDENCE, VerdictLabel.UNDECIDED, VerdictLabel.UNVERIFIABLE, VerdictLabel.FAILED)


class FoundClaim(NamedTuple):
    """A claim with its verdict. number: of the claim in its response, from 0; counted, passage: what leads to the verdict."""

    assessment: Assessment
    number: int
    claim: Claim
    verdict: Verdict
    counted: CountedPassage | None
    passage: Passage | None


def headline(summary: Summary) -> str:
    """What was found, in one sentence: how many claims the pages contradict, and how many could not be checked."""
    counts = {label: summary.verdicts.get(label.value, 0) for label in VerdictLabel}
    if not summary.claims:
        return f"No claim was found in {many(summary.responses, 'text')}."
    against, unchecked = counts[VerdictLabel.CONTRADICTED], sum(counts[label] for label in UNCHECKED)
    found = f"{against:,} of {many(summary.claims, 'claim')}" if against else f"None of {many(summary.claims, 'claim')}"
    is_against = f"{found} {'are' if against > 1 else 'is'} contradicted by {summary.pages}"
    return f"{is_against}; {f'{unchecked:,} could not be checked' if unchecked else 'all could be checked'}."


def common_flags(summary: Summary) -> frozenset[Flag]:
    """The flags that most claims of a run carry which could: they tell no claim from another, and mark none."""
    return frozenset(
        flag
        for flag in Flag
        if _could_carry(summary, flag) >= LEAST_CLAIMS
        and summary.flags.get(flag.value, 0) > COMMON * _could_carry(summary, flag)
    )


def tell_common_flags(summary: Summary) -> list[str]:
    """A sentence for each flag that marks no claim because most carry it."""
    common = common_flags(summary)
    return [
        f"{FLAGS[flag].removesuffix('.')}: so for {summary.flags[flag.value]:,} of {_could_carry(summary, flag):,}"
        f"{' decided' if flag in OF_DECIDED else ''} claims, which are therefore not marked one by one."
        for flag in Flag
        if flag in common
    ]


def tell_annotators(assessments: Iterable[Assessment]) -> list[str]:
    """A sentence about the contradicted claims that annotators labelled; none where there are none."""
    labelled = [
        supported
        for one in assessments
        for supported, verdict in labelled_claims(one)
        if verdict.label is VerdictLabel.CONTRADICTED
    ]
    if not labelled:
        return []
    agreed = len(labelled) - sum(labelled)
    return [f"Annotators labelled {len(labelled):,} of the contradicted claims, and call {agreed:,} of them not supported."]


def without_flags(verdict: Verdict, common: Collection[Flag]) -> tuple[Flag, ...]:
    """The flags of a verdict that mark it."""
    return tuple(flag for flag in verdict.flags if flag not in common)


def is_weak(label: VerdictLabel, posterior: float | None) -> bool:
    """Whether a claim is but weakly supported or contradicted."""
    return label in DECIDED and posterior is not None and WEAK[0] < posterior < WEAK[1]


def how_clearly(label: VerdictLabel, posterior: float | None) -> str:
    """A verdict in words: "clearly contradicted", "weakly supported", "not enough evidence"."""
    word = label.value.replace("_", " ")
    if label not in DECIDED or posterior is None:
        return word
    return f"{'weakly' if is_weak(label, posterior) else 'clearly'} {word}"


def too_weak(counted: CountedPassage) -> str:
    """Why a passage that leans to a side did not count: "too weak to count: 0.49 of 0.50 needed"; "" where it does not lean."""
    leans = counted.relation in (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION) and counted.shift is None
    if not leans or counted.probability is None or counted.probability > NEEDED:
        return ""
    shown = min(counted.probability, NEEDED - 0.01)  # 0.4996 is not said to be 0.50
    return f"too weak to count: {shown:.2f} of {NEEDED:.2f} needed"


def find_claims(assessments: Iterable[Assessment], labels: Collection[VerdictLabel]) -> list[FoundClaim]:
    """The claims of these verdicts over all responses, those first that are the least likely to be true."""
    found = [
        FoundClaim(assessment, number, claim, verdict, *leading_passage(assessment, verdict))
        for assessment in assessments
        for number, (claim, verdict) in enumerate(zip(assessment.claims, assessment.verdicts, strict=True))
        if verdict.label in labels
    ]
    return sorted(found, key=lambda one: likelihood(one.verdict))


def leading_passage(assessment: Assessment, verdict: Verdict) -> tuple[CountedPassage | None, Passage | None]:
    """The passage that speaks most for a verdict, or the best that was read; None without any."""
    passages = {passage.id: passage for passage in assessment.passages}
    counted = next((one for one in verdict.speaking_passages if one.passage_id in passages), None)
    return counted, passages[counted.passage_id] if counted is not None else None


def _could_carry(summary: Summary, flag: Flag) -> int:
    if flag in OF_DECIDED:
        return sum(summary.verdicts.get(label.value, 0) for label in DECIDED)
    return summary.claims - summary.verdicts.get(VerdictLabel.FAILED.value, 0)


def many(count: int, what: str) -> str:
    """A number with what it counts: "1 claim", "2,000 claims"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def likelihood(verdict: Verdict) -> float:
    """How likely a claim is to be true, to put claims in order; one half where there is no posterior."""
    return UNKNOWN if verdict.posterior is None else verdict.posterior


def only_verdicts(assessment: Assessment, labels: Collection[VerdictLabel]) -> Assessment:
    """The assessment with the claims of these verdicts alone, those first that are the least likely to be true."""
    judged = zip(assessment.claims, assessment.verdicts, strict=True)
    kept = [(claim, verdict) for claim, verdict in judged if verdict.label in labels]
    kept.sort(key=lambda one: likelihood(one[1]))
    claims, verdicts = (tuple(claim for claim, _ in kept), tuple(verdict for _, verdict in kept))
    return assessment.model_copy(update={"claims": claims, "verdicts": verdicts, "warnings": (), "unparsed": ()})


def worst_first(assessments: Iterable[Assessment]) -> list[Assessment]:
    """Those with claims, the one first whose first claim is the least likely to be true."""
    return sorted((one for one in assessments if one.claims), key=lambda one: likelihood(one.verdicts[0]))
