"""What scores, verdicts and flags say, in a line each for people who meet them for the first time."""

from collections.abc import Mapping

from localfact.report.summary import Summary
from localfact.vocabulary import Flag, VerdictLabel

#: What no verdict is.
NO_PROOF = (
    "A verdict reports how the method reads the passages that were found; it does not prove that a claim is true or false."
)

VERDICTS: Mapping[VerdictLabel, str] = {
    VerdictLabel.SUPPORTED: "on balance, the evidence found supports it",
    VerdictLabel.CONTRADICTED: "on balance, the evidence found contradicts it",
    VerdictLabel.CONFLICTING: "some of the evidence found supports it and some contradicts it",
    VerdictLabel.NOT_ENOUGH_EVIDENCE: "none of the evidence found supports or contradicts it with enough certainty to count",
    VerdictLabel.UNDECIDED: "the evidence found does not settle it",
    VerdictLabel.IRRELEVANT: "it is not relevant to the question; it enters no score",
    VerdictLabel.UNVERIFIABLE: "no evidence could settle it; it enters no score",
    VerdictLabel.FAILED: "it could not be judged; it enters no score",
}
FLAGS: Mapping[Flag, str] = {
    Flag.UNKNOWN_LANGUAGE: "The claim, or a passage behind its verdict, is in a language that localfact does not know.",
    Flag.PARTLY_READ: "Less than half of the decisive passage was read.",
    Flag.SINGLE_SOURCE: "Other sources were found, but only one agrees: a single passage, or passages from one website.",
    Flag.CUT_ANSWER: "The model's answer reached its length limit and was cut off.",
    Flag.UNCLEAR_SUBJECT: "The claim begins with a pronoun, and it is not known whom it stands for.",
}
#: The same in a few words.
FLAG_WORDS: Mapping[Flag, str] = {
    Flag.UNKNOWN_LANGUAGE: "unknown language",
    Flag.PARTLY_READ: "less than half of the passage was read",
    Flag.SINGLE_SOURCE: "a single source of several found",
    Flag.CUT_ANSWER: "the model's answer was cut off",
    Flag.UNCLEAR_SUBJECT: "a pronoun for a subject",
}

#: The beginning of a score's name -> what it says. The first that fits counts.
LINES = (
    (
        "Pr",
        "precision: the share of a response's judged claims that are supported; one without evidence counts as not supported",
    ),
    (
        "R@K'",
        "recall as FastFact defines it: 1 where K' claims are supported, less the further their number is from K' (gamma)",
    ),
    (
        "R@K",
        "recall: a response's supported claims divided by K, at most 1; median: K is the median of the run's judged claims",
    ),
    ("F1@K", "the harmonic mean of precision and the recall with the same K"),
    ("E(log10)", "how uncertain the posteriors are: 0.1505 where all are 0.5, 0 where all are 0 or 1, even if all are wrong"),
    ("#S", "supported claims per response, on average"),
    ("#C", "contradicted claims per response, on average"),
    ("#U", "claims per response that are conflicting, undecided or without enough evidence, on average"),
    ("F1(gold)", "F1 of the supported claims against the annotators' labels"),
    ("MAE(Pr)", "mean absolute difference between a response's precision and the precision by the annotators' labels"),
    ("Brier", "mean squared difference between posteriors and annotators' labels: 0 is perfect, 0.25 is a constant 0.5"),
    ("ECE", "calibration error: how far posteriors are from the share of true claims among claims with a similar posterior"),
    ("coherence", "the share of a response's claims that no other claim of it contradicts; it says nothing of what is true"),
    ("citation recall", "the share of a response's sentences that what they cite entails (ALCE); uncited ones count as 0"),
    ("citation precision", "the share of a response's citations that entail their sentence, or are needed for that (ALCE)"),
    ("R@E", "recall from evidence: the share, by weight, of the key facts of the pages found that a response says"),
    ("F1@E", "the harmonic mean of precision and recall from evidence"),
    ("AU", "the area under the curve: 1 is perfect, 0.5 is chance for a ROC curve"),
)


def explanations(summary: Summary) -> list[tuple[str, str]]:
    """The name of each score of a summary with its line, in order; those without a line are left out."""
    found = []
    for score in summary.scores:
        line = next((line for beginning, line in LINES if score.name.startswith(beginning)), None)
        if line is not None:
            found.append((score.name, line))
    return found
