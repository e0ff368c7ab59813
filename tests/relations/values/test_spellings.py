"""Spellings of one value that beginnings of articles, prices and forms have; and those that are of another value."""

import re

import pytest

from localfact.relations.values.judging import Ruling, judge_values
from localfact.relations.values.numerals import NUMERAL

LIFE = "Peter Anders Lund[a] (4 May 1866 – 9 December 1921) was a Danish brewer."
SAME, OTHER = Ruling.SAME, Ruling.OTHER


@pytest.mark.parametrize(
    ("text", "claim", "expected"),
    [
        (LIFE, "Lund was born on 4 May 1866.", SAME),
        (LIFE, "Lund died on the ninth of December, 1921.", SAME),
        (LIFE, "Lund died on 9.12.1921.", SAME),
        (LIFE, "Lund died on 12/9/1921.", SAME),
        (LIFE, "Lund died on 9/12/1921.", SAME),
        (LIFE, "Lund died on 1921/12/09.", SAME),
        (LIFE, "Lund died on 12/19/1921.", OTHER),
        (LIFE, "Lund died on 4 May 1866.", OTHER),
        ("The strike lasted from 2 May 1911 to 9 June 1911.", "The strike began on 2 May 1911.", SAME),
        ("The strike lasted from 2 May 1911 to 9 June 1911.", "The strike ended in June 1911.", SAME),
        ("The strike lasted from 2 May 1911 to 9 June 1911.", "The strike ended in May 1911.", OTHER),
        ("The town has 1 300 000 people.", "The town has 1.3 million people.", SAME),
        ("The town has 3 100 people.", "The town has 3,100 people.", SAME),
        ("It is a 3 100 metre peak.", "It is a 3,100 metre peak.", SAME),
        ("The press sold 20,000 copies.", "The press sold 20k copies.", SAME),
        ("The mill cost $45 million.", "The mill cost US$45m.", SAME),
        ("The fine was 2.5 million pounds.", "The fine was £2.5m.", SAME),
        ("Lund finished 2nd.", "Lund finished in second place.", SAME),
        ("The song spent six weeks at no. 1.", "The song spent 6 weeks at number one.", SAME),
        ("Lund owned 21 mills.", "Lund owned 20 mills.", OTHER),
    ],
)
def test_spellings_of_a_value_are_the_same_and_another_value_is_not(text: str, claim: str, expected: Ruling) -> None:
    assert judge_values(text, claim).ruling is expected


@pytest.mark.parametrize("races", ["3 100 metre races", "3 100-metre races", "12 500 word essays"])
def test_a_count_of_measured_things_is_no_spaced_thousand(races: str) -> None:
    count, measure = races.split()[0], races.split()[1].partition("-")[0]
    values = [float(one.group()) for one in re.finditer(NUMERAL, races, re.IGNORECASE)]
    assert values == [float(count), float(measure)]
