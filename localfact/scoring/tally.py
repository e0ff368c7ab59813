"""Counts the verdicts and the annotation of one assessment, and says why it has no score where it has none."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from localfact.records import Assessment, Verdict
from localfact.vocabulary import UNDECIDED_LABELS, GoldLabel, VerdictLabel

#: Why a response without a score may still count as 0; of a failed one nothing is known.
UNJUDGED = ("abstained", "unscored")


@dataclass(frozen=True)
class Unscored:
    """Stands for a value that does not exist; `reason` says why in a few words, and responses are counted by it."""

    reason: str


@dataclass(frozen=True)
class Tally:
    """How many claims of one response have each kind of verdict: #S, #C and #U of the papers' tables.

    Failed, irrelevant and unverifiable claims are in none of the three.
    """

    supported: int
    contradicted: int
    undecided: int

    @property
    def not_supported(self) -> int:
        """N: contradicted, conflicting, not enough evidence or undecided."""
        return self.contradicted + self.undecided

    @property
    def judged(self) -> int:
        """S + N."""
        return self.supported + self.not_supported

    @property
    def precision(self) -> float:
        """S / (S + N), in [0, 1]; there is none where S + N = 0 (ZeroDivisionError: ask `reason_unscored` first)."""
        return self.supported / self.judged


def tally(assessment: Assessment) -> Tally:
    """Counts the verdicts of one response."""
    labels = Counter(verdict.label for verdict in assessment.verdicts)
    return Tally(
        supported=labels[VerdictLabel.SUPPORTED],
        contradicted=labels[VerdictLabel.CONTRADICTED],
        undecided=sum(labels[label] for label in UNDECIDED_LABELS),
    )


def reason_unscored(assessment: Assessment) -> str | None:
    """Why a response has no score at all: failed, abstained (no claim) or unscored (S + N = 0); None where it has one."""
    return None if assessment.status == "scored" else assessment.status


def total_annotated(assessment: Assessment) -> int | None:
    """S' + N' of the annotation, the K' of FastFact (Table 7); None without an annotation."""
    if assessment.gold_supported is None or assessment.gold_not_supported is None:
        return None
    return assessment.gold_supported + assessment.gold_not_supported


def precision_annotated(assessment: Assessment) -> float | None:
    """Pr*, S' / (S' + N') of the annotation; None without an annotation or where nothing in it counts."""
    total = total_annotated(assessment)
    return assessment.gold_supported / total if assessment.gold_supported is not None and total else None


def labelled_claims(assessment: Assessment) -> Iterator[tuple[bool, Verdict]]:
    """The claims that carry a gold label: whether it says supported, and the verdict. Irrelevant ones are on neither side."""
    for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True):
        if claim.gold in (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED):
            yield claim.gold is GoldLabel.SUPPORTED, verdict
