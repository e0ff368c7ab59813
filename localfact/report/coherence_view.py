"""What a text's claims say of one another, for a terminal: the score, then each contradiction with both places."""

from rich.console import Group, RenderableType
from rich.text import Text

from localfact.records import ClaimPlace, Coherence, SelfContradiction
from localfact.report.console import line
from localfact.report.findings import many
from localfact.report.tables import shorten

#: The most characters of a place that are quoted.
QUOTED = 240
FOUND_BY = {"relations": "by the relation model", "values": "by the rule of values", "times": "by the rule of times"}


def coherence_view(found: Coherence) -> RenderableType:
    """The coherence of one text: how many pairs were compared, and every contradiction."""
    score = "" if found.score is None else f" {found.score:.2f}"
    against = many(len(found.contradictions), "contradiction") if found.contradictions else "no contradiction"
    head = line(f"Coherence{score}: {against} inside the text", "bold")
    left = f"; {many(found.pairs_left_out, 'further pair')} may speak of the same" if found.pairs_left_out else ""
    failed = f"; {many(found.pairs_failed, 'pair')} failed" if found.pairs_failed else ""
    compared = line(f"Compared: {many(found.pairs, 'pair')} of {many(found.claims, 'claim')}{left}{failed}.", "dim")
    return Group(head, compared, *(_view(number, one) for number, one in enumerate(found.contradictions, start=1)))


def _view(number: int, found: SelfContradiction) -> Text:
    head = line(f"{number}. {found.reason} ({found.probability:.2f} {FOUND_BY[found.found_by]})", "red")
    return Text("\n").join([head, _place(found.first), _place(found.second)])


def _place(place: ClaimPlace) -> Text:
    claim = f"   claim {place.number}: {shorten(place.text, QUOTED)}"
    if place.span is None:
        return line(f"{claim} (not found verbatim in the text)")
    quoted = f": “{shorten(place.quoted, QUOTED)}”" if place.quoted != place.text else ""
    return line(f"{claim} (characters {place.span.start:,} to {place.span.end:,}{quoted})")
