"""The enumerations in the data: verdicts and their flags, relations, labels of annotators and extractors, roles in a chat,
failures of claims."""

from enum import StrEnum
from typing import Literal

#: Whose turn it is in a chat; "context" is that of models that were trained with one for the text to judge by.
ChatRole = Literal["system", "user", "assistant", "context"]


class VerdictLabel(StrEnum):
    """A method's decision about one claim; one enumeration for all methods."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    CONFLICTING = "conflicting"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"
    UNDECIDED = "undecided"
    IRRELEVANT = "irrelevant"
    UNVERIFIABLE = "unverifiable"
    FAILED = "failed"


#: Verdicts that count as N, not supported, in S / (S + N). Those in neither S nor N leave the score but not the record.
NOT_SUPPORTED_LABELS = frozenset(
    {VerdictLabel.CONTRADICTED, VerdictLabel.CONFLICTING, VerdictLabel.NOT_ENOUGH_EVIDENCE, VerdictLabel.UNDECIDED}
)
#: Verdicts that the papers' tables add up as #U.
UNDECIDED_LABELS = NOT_SUPPORTED_LABELS - {VerdictLabel.CONTRADICTED}


class RelationLabel(StrEnum):
    """How an ordered pair of texts relates. Equivalence exists between passages only."""

    ENTAILMENT = "entailment"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"
    EQUIVALENCE = "equivalence"


class Flag(StrEnum):
    """What a reader of a verdict must know; no flag changes a score (SPEC section 5).

    unknown_language: the response, or a passage behind the verdict, is in a language that the extractor or the relation model
    does not know. partly_read: less than half of the passage that speaks for it was read (in runs with builtin-nli, which is
    withdrawn). single_source: one passage, or passages of one host, are all that is behind it, though another source was
    found about the same thing. cut_answer: the model's answer was cut at its longest. unclear_subject: the claim begins with
    a pronoun, and nobody knows for whom.
    """

    UNKNOWN_LANGUAGE = "unknown_language"
    PARTLY_READ = "partly_read"
    SINGLE_SOURCE = "single_source"
    CUT_ANSWER = "cut_answer"
    UNCLEAR_SUBJECT = "unclear_subject"


class CitationVerdict(StrEnum):
    """What a cited source says of what cites it.

    gone: it was looked for, and there is no text (404). not_given: named, and nowhere at hand. no_target: nothing says what the
    mark stands for. failed: the relation model could not answer.
    """

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    NOT_SAID = "not_said"
    GONE = "gone"
    NOT_GIVEN = "not_given"
    NO_TARGET = "no_target"
    FAILED = "failed"


class FactVerdict(StrEnum):
    """What a response makes of a fact of the pages. failed: the relation model could not answer."""

    SAID = "said"
    PARTLY_SAID = "partly_said"
    CONTRADICTED = "contradicted"
    OMITTED = "omitted"
    FAILED = "failed"


class GoldLabel(StrEnum):
    """An annotator's label of a claim. Irrelevant claims are not counted in the gold precision."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not_supported"
    IRRELEVANT = "irrelevant"


class PreVerificationLabel(StrEnum):
    """An extractor's label of its own claim before any evidence (FastFact, section 4.1)."""

    SUPPORTED = "supported"
    NON_SUPPORTED = "non-supported"
    IRRELEVANT = "irrelevant"
    LIKELY_SUPPORTED = "likely supported"
    LIKELY_NON_SUPPORTED = "likely non-supported"
    UNSURE = "unsure"


#: The labels that may settle a claim without evidence, given enough confidence (FastFact, section 4.1, condition 1).
DEFINITE_LABELS = frozenset(
    {PreVerificationLabel.SUPPORTED, PreVerificationLabel.NON_SUPPORTED, PreVerificationLabel.IRRELEVANT}
)


class ClaimFailure(StrEnum):
    """What a judge finds of one claim (FastFact, appendix C.2): that it is acceptable, or one of five failures.

    SUBJECTIVE, TAUTOLOGY and AMBIGUOUS claims cannot be verified; the other two repeat an earlier claim, from the same sentence
    (INTRA_SENTENCE) or from another one (INTER_SENTENCE).
    """

    ACCEPTABLE = "acceptable"
    SUBJECTIVE = "subjective"
    TAUTOLOGY = "tautology"
    AMBIGUOUS = "ambiguous"
    INTRA_SENTENCE = "intra-sentence redundancy"
    INTER_SENTENCE = "inter-sentence redundancy"


class MissingKind(StrEnum):
    """Why a statement is missing: a sentence has it and it was thrown away, or it takes several sentences."""

    REMOVED = "removed"
    MISSED = "missed"
