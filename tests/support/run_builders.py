"""Assessments in one line: a letter a verdict, perhaps with a posterior and a gold label."""

from collections.abc import Sequence

from hypothesis import strategies as st

from localfact.records import Assessment, AssessmentStatus, Claim, Verdict
from localfact.vocabulary import NOT_SUPPORTED_LABELS, GoldLabel, VerdictLabel

VERDICTS = {
    "S": VerdictLabel.SUPPORTED,
    "C": VerdictLabel.CONTRADICTED,
    "X": VerdictLabel.CONFLICTING,
    "E": VerdictLabel.NOT_ENOUGH_EVIDENCE,
    "U": VerdictLabel.UNDECIDED,
    "I": VerdictLabel.IRRELEVANT,
    "V": VerdictLabel.UNVERIFIABLE,
    "F": VerdictLabel.FAILED,
}
GOLD = {"s": GoldLabel.SUPPORTED, "n": GoldLabel.NOT_SUPPORTED, "i": GoldLabel.IRRELEVANT, "-": None}


def assessment(
    verdicts: str = "",
    *,
    index: int = 0,
    gold: str = "",
    posteriors: Sequence[float | None] = (),
    annotation: tuple[int, int] | None = None,
    source: str | None = None,
    failed: bool = False,
) -> Assessment:
    """One response: "SSC" is two supported claims and a contradicted one; gold "sn-" labels them; annotation is (S', N')."""
    labels = [VERDICTS[letter] for letter in verdicts]
    golds = [GOLD[letter] for letter in gold] or [None] * len(labels)
    values = list(posteriors) or [None] * len(labels)
    if gold and annotation is None:
        annotation = (gold.count("s"), gold.count("n"))
    return Assessment(
        index=index,
        response_id=f"r{index}",
        id_given=True,
        source=source,
        status=status(labels, failed),
        claims=tuple(Claim(id=f"c{at}", text=f"claim {at}", gold=one) for at, one in enumerate(golds)),
        verdicts=tuple(
            Verdict(claim_id=f"c{at}", label=label, posterior=value)
            for at, (label, value) in enumerate(zip(labels, values, strict=True))
        ),
        gold_supported=annotation and annotation[0],
        gold_not_supported=annotation and annotation[1],
    )


def run_of(*verdicts: str, **same: object) -> list[Assessment]:
    """A run with one response for each string of verdicts."""
    return [assessment(letters, index=at, **same) for at, letters in enumerate(verdicts)]


def status(labels: Sequence[VerdictLabel], failed: bool) -> AssessmentStatus:
    if failed:
        return "failed"
    if not labels:
        return "abstained"
    return "scored" if any(label in NOT_SUPPORTED_LABELS | {VerdictLabel.SUPPORTED} for label in labels) else "unscored"


@st.composite
def runs(draw: st.DrawFn) -> list[Assessment]:
    """Any run: verdicts of all kinds, posteriors and gold labels here and there, several sources."""
    claims = st.tuples(st.sampled_from("SSSCXEUIVF"), st.one_of(st.none(), st.floats(0, 1)), st.sampled_from("ssnni-"))
    row = st.tuples(st.lists(claims, max_size=6), st.booleans(), st.sampled_from(["bio", "qa", None]))
    return [
        assessment(
            "".join(one[0] for one in found),
            index=at,
            posteriors=[one[1] for one in found],
            gold="".join(one[2] for one in found) if labelled else "",
            source=source,
        )
        for at, (found, labelled, source) in enumerate(draw(st.lists(row, max_size=6)))
    ]
