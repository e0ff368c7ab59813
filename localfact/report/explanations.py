"""What scores, verdicts and flags say, in a line each for people who meet them for the first time."""

from collections.abc import Mapping

from localfact.report.summary import Summary
from localfact.vocabulary import Flag, VerdictLabel

VERDICTS: Mapping[VerdictLabel, str] = {
    VerdictLabel.SUPPORTED: "what was found speaks for it, on balance",
    VerdictLabel.CONTRADICTED: "what was found speaks against it, on balance",
    VerdictLabel.CONFLICTING: "some of what was found speaks for it and some against it",
    VerdictLabel.NOT_ENOUGH_EVIDENCE: "nothing that was found speaks for or against it surely enough to count",
    VerdictLabel.UNDECIDED: "what was found does not decide it",
    VerdictLabel.IRRELEVANT: "it does not belong to the question, and is in no score",
    VerdictLabel.UNVERIFIABLE: "it is nothing that evidence could decide, and is in no score",
    VerdictLabel.FAILED: "it could not be judged, and is in no score",
}
FLAGS: Mapping[Flag, str] = {
    Flag.UNKNOWN_LANGUAGE: "It, or a passage behind it, is in a language that was not understood.",
    Flag.PARTLY_READ: "Less than half of the passage that decided was read.",
    Flag.SINGLE_SOURCE: "What speaks for the verdict is one passage, or passages of one host.",
    Flag.CUT_ANSWER: "The model's answer was cut at its longest.",
}

#: The beginning of a score's name -> what it says. The first that fits counts.
LINES = (
    ("Pr", "precision: of a response's judged claims the share that is supported; a claim without evidence counts as not"),
    (
        "R@K'",
        "recall as FastFact counts it: 1 where as many claims are supported as K' says, less the further away by gamma",
    ),
    (
        "R@K",
        "recall: supported claims of a response against K, at most 1; median: K is what the run's responses have in the middle",
    ),
    ("F1@K", "precision and recall in one (their harmonic mean), with the recall of the same name"),
    (
        "E(log10)",
        "how unsure the posteriors are: 0.1505 where all are one half, 0 where all are 0 or 1, also where all are wrong",
    ),
    ("#S", "supported claims of a response, on average"),
    ("#C", "contradicted claims of a response, on average"),
    ("#U", "claims of a response that are conflicting, undecided or without enough evidence, on average"),
    ("F1(gold)", "how well the supported claims are those that annotators call supported"),
    ("MAE(Pr)", "how far a response's precision is from the annotators', either way, on average"),
    ("Brier", "squared distance of the posteriors from the annotators' labels: 0 is perfect, 0.25 is a coin"),
    ("ECE", "how far posteriors are from the share that is right among claims of about that posterior"),
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
