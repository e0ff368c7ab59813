"""The colours and signs of everything that people look at: the report, figures, the terminal.

A verdict is never told by its colour alone: it has a sign and a word, and in the report a line of its own kind.
"""

from collections.abc import Mapping
from typing import NamedTuple

from localfact.vocabulary import VerdictLabel

#: Distinguishable with any colour vision (Okabe and Ito, 2008); without the yellow, which is too pale for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = COLOURS
GREY = "#767676"


class Mark(NamedTuple):
    """How a verdict is shown: its sign, its colour on paper, and the kind of line below a claim (a CSS line style)."""

    sign: str
    colour: str
    line: str


MARKS: Mapping[VerdictLabel, Mark] = {
    VerdictLabel.SUPPORTED: Mark("✓", GREEN, "solid"),
    VerdictLabel.CONTRADICTED: Mark("✗", VERMILION, "wavy"),
    VerdictLabel.CONFLICTING: Mark("≠", PURPLE, "double"),
    VerdictLabel.NOT_ENOUGH_EVIDENCE: Mark("?", GREY, "dashed"),
    VerdictLabel.UNDECIDED: Mark("~", ORANGE, "dotted"),
    VerdictLabel.IRRELEVANT: Mark("–", SKY, "dotted"),
    VerdictLabel.UNVERIFIABLE: Mark("∅", SKY, "dashed"),
    VerdictLabel.FAILED: Mark("!", VERMILION, "double"),
}
