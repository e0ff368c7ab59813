"""Where a claim's words stand in its text: found by their place and neighbours, and not guessed."""

from localfact.correcting.placing import NO_PLACE, REWORDED, SEVERAL, edit_text, find_place, move_spans
from localfact.correcting.wording import Change
from localfact.records import Claim, Span

TEXT = "The club had 12 boats. In 1901 it had 12 boats and 12 oars."
SECOND = Span(start=23, end=len(TEXT))


def place(claim: str, old: str, *spans: Span) -> object:
    start = claim.index(old)
    return find_place(TEXT, Claim(id="c", text=claim, spans=spans), Change(start, start + len(old), "x"))


def test_words_are_found_in_the_claims_own_place() -> None:
    assert place("The club had 12 boats.", "12", Span(start=0, end=22)) == Span(start=13, end=15)


def test_of_several_the_one_with_the_same_neighbours_is_meant() -> None:
    assert place("It had boats and 12 oars in 1901.", "12", SECOND) == Span(start=51, end=53)


def test_what_cannot_be_told_is_not_guessed() -> None:
    assert place("12 was the number.", "12", SECOND) == SEVERAL
    assert place("The club had twelve boats.", "twelve", SECOND) == REWORDED
    assert place("The club had 12 boats.", "12") == NO_PLACE


def test_places_move_with_the_edits_before_and_inside_them() -> None:
    edits = {Span(start=13, end=15): "nineteen", Span(start=51, end=53): "9"}
    edited = edit_text(TEXT, edits)
    assert edited == "The club had nineteen boats. In 1901 it had 12 boats and 9 oars."
    first, second = move_spans((Span(start=0, end=22), SECOND), edits)
    assert edited[first.start : first.end] == "The club had nineteen boats."
    assert edited[second.start : second.end] == "In 1901 it had 12 boats and 9 oars."
