"""What cannot be true in one order of time, and what only looks so."""

import pytest

from localfact.coherence.times import find_time_conflicts
from localfact.records import Claim

BORN = "Ada Holm was born in 1850."
FOUNDED = "The Lumens were founded in 1990."


def conflicts(*texts: str) -> list[tuple[str, str]]:
    """The values that do not go together."""
    claims = [Claim(id=f"c{place}", text=text) for place, text in enumerate(texts)]
    return [
        (
            texts[one.first][one.first_value.start : one.first_value.end],
            texts[one.second][one.second_value.start : one.second_value.end],
        )
        for one in find_time_conflicts(claims)
    ]


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (("Ada Holm was born in 1867.", "Ada Holm died in 1860 in Oslo."), ("1867", "1860")),
        ((BORN, "Ada Holm was 40 in 1900."), ("1850", "40 in 1900")),
        ((BORN, "Holm, aged 40 in 1900, moved to Oslo."), ("1850", "40 in 1900")),
        ((BORN, "Holm died at the age of 40.", "Ada Holm died in 1900."), ("1850", "40")),
        (("Ada Holm (1850–1901) was a painter.", "Ada Holm won the Lind Prize in 1840."), ("1850", "1840")),
        (("Ada Holm died in 1901.", "Ada Holm moved to Bergen in 1920."), ("1901", "1920")),
        ((FOUNDED, "Its 1985 debut sold a million copies."), ("1990", "1985")),
        ((FOUNDED, "The Lumens' 1985 debut sold well."), ("1990", "1985")),
        (("Lund married after he moved to Oslo in 1990.", "Lund married in 1985."), ("1990", "1985")),
        (("The festival lasted three days, from Monday to Tuesday.",), ("lasted three days", "from Monday to Tuesday")),
        (("Queen Ilva reigned for 25 years from 1990 to 2000.",), ("for 25 years", "from 1990 to 2000")),
    ],
)
def test_times_that_cannot_all_be_true(texts: tuple[str, ...], values: tuple[str, str]) -> None:
    assert conflicts(*texts) == [values]


@pytest.mark.parametrize(
    "texts",
    [
        (BORN, "Ada Holm died in 1901 at the age of 50.", "Ada Holm was 40 in 1891.", "Ada Holm was 40 in 1890."),
        (BORN, "Ada Holm's father moved to Oslo in 1840.", "Ada Holm's novel was published in 1840."),
        (BORN, "According to one diary, Ada Holm was born in 1855.", "Ada Holm was not born in 1840."),
        (BORN, "Jan Moe married in 1840.", "Ada Holm was honoured in 1990."),
        (FOUNDED, "Its 1992 debut sold a million copies.", "The site of the Lumens was opened in 1980."),
        ("The festival lasted three days, from Friday to Sunday.", "It lasted three days, from Friday to Monday."),
        ("Queen Ilva reigned for 10 years from 1990 to 2000.", "The plan for 25 years was made from 1990 to 2000."),
        ("Jan Holm was born in 1850.", "Ada Holm was born in 1880.", "Holm died in 1870."),
        ("Ivar Dahl was born in 1820.", "His grandson Ivar Dahl was born in 1890."),
    ],
)
def test_where_the_rules_are_silent(texts: tuple[str, ...]) -> None:
    assert conflicts(*texts) == []
