"""A claim with what was decided of it, for people: one line, or a card in a notebook."""

from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlsplit

from localfact.records.responses import Probability, Record
from localfact.vocabulary import VerdictLabel

#: How many characters of a text a line shows, and how many of a sentence a card.
LINE, CARD = 80, 600
#: How many claims a notebook shows.
SHOWN_CLAIMS = 200
#: The colour of the edge of a card, readable on white and on black.
COLOURS = {VerdictLabel.SUPPORTED: "#2e8b57", VerdictLabel.CONTRADICTED: "#c0392b", VerdictLabel.FAILED: "#c0392b"}
OTHER_COLOUR = "#888"


class JudgedClaim(Record):
    """A claim of a response with its verdict.

    Attributes:
        id: of the claim, unique in the response.
        text: the claim.
        verdict: what was decided.
        probability: that the claim is true; None where the method computes none.
        sentence: the one that decides, of the passage that speaks most for the verdict; all that was read of it where none is
            recorded. None where no passage was read.
        source: the first address of that passage, else its title.
    """

    id: str
    text: str
    verdict: VerdictLabel
    probability: Probability | None = None
    sentence: str | None = None
    source: str | None = None

    def __repr__(self) -> str:
        """One line."""
        return f"<{said(self.verdict)}{true_with(self.probability)}: {shorten_line(self.text, LINE)!r}>"

    __str__ = __repr__


def said(verdict: VerdictLabel) -> str:
    """A verdict in words."""
    return verdict.value.replace("_", " ")


def true_with(probability: float | None) -> str:
    """How probable it is that a claim is true, in brackets; "" where that is not known."""
    return "" if probability is None else f" ({probability:.2f})"


def shorten_line(text: str, most: int) -> str:
    """A text on one line, of so many characters at most."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def cards(claims: Sequence[JudgedClaim]) -> str:
    """HTML of the claims, contradicted ones open and the others folded, without scripts and complete in itself."""
    open_ones = [claim for claim in claims if claim.verdict is VerdictLabel.CONTRADICTED]
    shown = claims[:SHOWN_CLAIMS]
    more = f"<p>And {len(claims) - len(shown)} more.</p>" if len(claims) > len(shown) else ""
    folded = (
        f"<details><summary>All {len(claims)} claims</summary>{''.join(map(card, shown))}{more}</details>" if claims else ""
    )
    return "".join(map(card, open_ones[:SHOWN_CLAIMS])) + folded


def card(claim: JudgedClaim) -> str:
    """HTML of one claim."""
    sentence = "" if claim.sentence is None else f"<br><q>{escape(shorten_line(claim.sentence, CARD))}</q>"
    source = "" if not claim.source else f"<br><small>{_address(claim.source)}</small>"
    probability = "" if claim.probability is None else f", P(true) {claim.probability:.2f}"
    colour = COLOURS.get(claim.verdict, OTHER_COLOUR)
    return (
        f'<div style="border-left:4px solid {colour};padding:2px 8px;margin:6px 0"><b>{escape(claim.text)}</b> '
        f"<small>{said(claim.verdict)}{probability}</small>{sentence}{source}</div>"
    )


def frame(headline: str, lines: Iterable[str], body: str = "") -> str:
    """HTML of a headline, lines of text, which are escaped, and HTML below them."""
    paragraphs = "".join(f"<p style='margin:4px 0'>{escape(line)}</p>" for line in lines)
    return f'<div style="max-width:60em"><p style="margin:4px 0"><b>{escape(headline)}</b></p>{paragraphs}{body}</div>'


def _address(source: str) -> str:
    """A link to a page of the web; of any other address, and of a title, the text."""
    try:
        web = urlsplit(source).scheme in ("http", "https")
    except ValueError:
        web = False
    return f'<a href="{escape(source)}" rel="noopener noreferrer">{escape(source)}</a>' if web else escape(source)
