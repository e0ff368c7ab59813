"""An edit is proposed in place of what the source has, too, only where the source bears it out."""

import pytest

from localfact.correcting.proposals import propose
from localfact.records import Claim, CountedPassage, Passage
from localfact.vocabulary import RelationLabel

RINKS = "Ada Holm opened a rink in Lervika. Her cousin Ivar Dahl kept the mill in Ostby and sold it in 1931."
PRIZES = "Ada Holm moved to Lervika in 1911. She painted her last mural in 1924 and died in 1950."
SHARES = "In the count 61 per cent of the people of Ostby named Swedish, 22 per cent Finnish and 9 per cent Danish."


@pytest.mark.parametrize(
    ("claim", "said", "proposed"),
    [
        ("Ada Holm kept the mill in Ostby.", RINKS, "Ivar Dahl kept the mill in Ostby."),
        ("Ivar Dahl kept the mill in Ostby.", RINKS, None),
        ("Ada Holm painted her last mural in 1911.", PRIZES, "Ada Holm painted her last mural in 1924."),
        ("Ada Holm painted her last mural in 1924.", PRIZES, None),
        ("In the count 22 per cent of the people of Ostby named Finnish.", SHARES, None),
        (
            "Ivar Dahl beat Ada Holm in the final.",
            "Ada Holm beat Ivar Dahl in the final.",
            "Ada Holm beat Ivar Dahl in the final.",
        ),
        ("Ada Holm beat Ivar Dahl in the final.", "Ada Holm beat Ivar Dahl in the final.", None),
    ],
)
def test_a_source_that_has_both_values_must_have_the_new_one_in_the_claims_place(
    claim: str, said: str, proposed: str | None
) -> None:
    counted = CountedPassage(passage_id="p", relation=RelationLabel.CONTRADICTION, probability=0.9)
    found = propose(Claim(id="c", text=claim), counted, Passage(id="p", text=said), None)
    assert [one.change.apply_to(claim) for one in found][:1] == ([] if proposed is None else [proposed])
