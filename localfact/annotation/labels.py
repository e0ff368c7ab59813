"""The labels that people give to claims (FastFact, section 5.2), and the label that corresponds to each verdict."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from localfact.inputs.annotations import FINE_LABELS, IrrelevantMeaning
from localfact.inputs.claims import GOLD_LABELS, label_name
from localfact.vocabulary import GoldLabel, VerdictLabel


class Label(StrEnum):
    """An annotator's label of a claim, in the words of FaStfact's benchmark, which every reader of labels here knows."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    CONFLICTING = "conflicting evidence"
    NOT_ENOUGH = "not enough evidence"
    IRRELEVANT = "irrelevant"


class Shown(NamedTuple):
    """How a label is shown: the key that gives it, the verdict whose colour and sign it has, and what it means."""

    key: str
    verdict: VerdictLabel
    meaning: str


LABELS: Mapping[Label, Shown] = {
    Label.SUPPORTED: Shown("s", VerdictLabel.SUPPORTED, "the evidence says so, all of it"),
    Label.REFUTED: Shown("r", VerdictLabel.CONTRADICTED, "the evidence says otherwise, of a part at least"),
    Label.CONFLICTING: Shown("c", VerdictLabel.CONFLICTING, "some evidence says so, and some says otherwise"),
    Label.NOT_ENOUGH: Shown("n", VerdictLabel.NOT_ENOUGH_EVIDENCE, "you looked, and nothing decides it"),
    Label.IRRELEVANT: Shown("i", VerdictLabel.IRRELEVANT, IrrelevantMeaning.UNRELATED.value),
}

#: Verdicts -> the label of somebody who agrees. Nobody can agree with one that failed; what is unverifiable is no claim, and
#: whoever finds so removes it.
AGREEING: Mapping[VerdictLabel, Label] = {
    **{shown.verdict: label for label, shown in LABELS.items()},
    VerdictLabel.UNDECIDED: Label.NOT_ENOUGH,
}


class Removal(StrEnum):
    """Why a claim was removed (FastFact, appendix I)."""

    REDUNDANT = "redundant"
    NO_CLAIM = "not a claim"


#: Words of a file -> why the claim is removed. FastFact calls unverifiable what states no fact that could be checked.
REMOVALS: Mapping[str, Removal] = {**{one.value: one for one in Removal}, "unverifiable": Removal.NO_CLAIM}


#: What scores count -> the label, where a file says no more. Whoever wrote "not supported" may have had no evidence at all.
_COARSE: Mapping[GoldLabel, Label] = {
    GoldLabel.SUPPORTED: Label.SUPPORTED,
    GoldLabel.NOT_SUPPORTED: Label.REFUTED,
    GoldLabel.IRRELEVANT: Label.IRRELEVANT,
}


def label_of(said: object) -> Label | None:
    """The label that a word of a file means; None where it is no known label."""
    named = label_name(said)
    if named in FINE_LABELS:
        return AGREEING.get(FINE_LABELS[named])
    return _COARSE[GOLD_LABELS[named]] if named in GOLD_LABELS else None
