"""Claims that a grammar cut go on as the text does that they were copied from."""

from collections import Counter

import pytest

from localfact.claims.chunks import chunks_of
from localfact.claims.cut_claims import complete_cut_claims
from localfact.prompts.grammars import LAST_TOKEN, LONGEST
from localfact.records import Claim

LONG = (
    "The old mill, which stood for a hundred and forty years beside the upper weir, was sold with its garden and its two ponds "
    "to the town in the spring of the year 1911 for the education of"
)
TEXT = f"{LONG} the **young millers** of the valley. It burned down in 1930. Nobody was hurt."
WHOLE = f"{LONG} the young millers of the valley."
OTHER = LONG.replace("spring", "autumn")


@pytest.mark.parametrize(
    ("said", "claims", "counted"),
    [
        ([LONG], [WHOLE], {"claims_completed": 1}),
        # A token that was short enough, in place of the right one; then the rest, as a claim of its own.
        (
            [f"{LONG[:-2]}为", "young millers of the valley.", "Nobody was hurt."],
            [WHOLE, "Nobody was hurt."],
            {"claims_completed": 1},
        ),
        # The rest with the next sentence.
        ([LONG, "young millers of the valley. It burned."], [WHOLE, "It burned."], {"claims_completed": 1}),
        # Not copied, so that nobody knows the rest.
        ([OTHER], [OTHER], {"claims_cut": 1}),
        # An end that the model chose.
        ([f"{LONG[:-17]}."], [f"{LONG[:-17]}."], {}),
        (["The old mill was sold", "Nobody was hurt."], ["The old mill was sold", "Nobody was hurt."], {}),
    ],
)
def test_what_was_cut_is_completed_by_the_text_it_was_copied_from(
    said: list[str], claims: list[str], counted: dict[str, int]
) -> None:
    assert LONGEST - LAST_TOKEN < len(LONG) <= LONGEST
    (chunk,) = chunks_of(TEXT, "max")
    tally = Counter[str]()
    found = complete_cut_claims([Claim(id="", text=text) for text in said], chunk, tally)
    assert [claim.text for claim in found] == claims
    assert +tally == counted


def test_a_completed_claim_has_its_place() -> None:
    (chunk,) = chunks_of(TEXT, "max")
    (claim,) = complete_cut_claims([Claim(id="", text=LONG)], chunk, Counter())
    (span,) = claim.spans
    assert TEXT[span.start : span.end].startswith("The old mill")
