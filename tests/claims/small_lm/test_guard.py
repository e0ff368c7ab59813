import pytest

from localfact.claims.small_lm.guard import Refusal, refusal

SOURCE = (
    "Ada Morel\nShe was born in Lyon.\nIn 1990, the Argentine-born chemist's two sons, José and Luc, won 12,500 francs for the "
    "film “Over There”, which she did not see."
)


@pytest.mark.parametrize(
    "claim",
    [
        "Ada Morel was born in Lyon.",
        "Ada Morel's two sons won 12500 francs.",
        "Ada Morel has 2 sons.",
        "Jose is one of the sons of Ada Morel.",
        "Ada Morel did not see the film Over There.",
        "Chemist Ada Morel is located in a family.",
        "The Morels won in 1990.",
    ],
)
def test_what_the_text_has_passes(claim: str) -> None:
    assert refusal(claim, SOURCE) is None


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("Born here.", Refusal.SHORT),
        ("Ada Morel was born in 1950.", Refusal.NUMBER),
        ("Ada Morel has three sons.", Refusal.NUMBER),
        ("Ada Morel won 12.5 francs.", Refusal.NUMBER),
        ("Ada Morel won in the 1990s.", Refusal.NUMBER),
        ("Ada Morel was born in Paris.", Refusal.NAME),
        ("The chemist Eva Morel was born in Lyon.", Refusal.NAME),
        ("Eva was born in Lyon.", Refusal.NAME),
        ("Ada Morel enjoys gardening, cycling and painting landscapes.", Refusal.WORDS),
    ],
)
def test_what_the_text_lacks_does_not(claim: str, why: Refusal) -> None:
    assert refusal(claim, SOURCE) is why


def test_a_negation_needs_one_in_the_text() -> None:
    assert refusal("Ada was not born in Lyon.", "Ada\n\nAda was born in Lyon.") is Refusal.NEGATION
    assert refusal("Ada wasn’t born in Lyon.", "Ada\n\nAda was never seen in Lyon, where she was born.") is None


@pytest.mark.parametrize(
    ("claim", "kept"),
    [
        ("The onions cook until they are brown.", False),
        ("The onions cook until they are soft.", True),
        ("The onions are not brown.", True),
        ("The letter was opened.", False),
        ("United had lost since October.", False),
        ("Ada is an actress.", True),
        ("Ada is a singer.", True),
        ("The cook is here.", True),
    ],
)
def test_what_a_text_denies_is_not_claimed(claim: str, kept: bool) -> None:
    source = (
        "The onions cook until they are soft but not brown. The letter was never opened. United had not lost since October. "
        "Ada is not only an actress but a singer. No cook is here, says the cook."
    )
    assert (refusal(claim, source) is None) == kept
    assert kept or refusal(claim, source) is Refusal.NEGATION_LOST


def test_a_longer_claim_may_have_more_words_of_its_own() -> None:
    short = "Ada located consists existing."
    assert refusal(short, "Ada is here.") is Refusal.WORDS
    assert refusal(short[:-1] + " here" * 12 + ".", "Ada is here.") is None
