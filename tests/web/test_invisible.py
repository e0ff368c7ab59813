from collections.abc import Callable

import pytest

from localfact.evidence.queries import plain as plain_query
from localfact.web.extracting.cleaning import clean
from localfact.web.invisible import remove_invisible
from localfact.web.searching.search import plain, sendable

HIDDEN = [
    *(
        "\u00ad",
        "\u034f",
        "\u061c",
        "\u115f",
        "\u17b4",
        "\u180e",
        "\u200b",
        "\u200e",
        "\u202e",
        "\u2060",
        "\u2066",
        "\u206f",
        "\u3164",
    ),
    *("\ufe0f", "\ufeff", "\uffa0", "\ufffb", "\U0001d173", "\U000e0001", "\U000e0041", "\U000e0100"),
]


@pytest.mark.parametrize("hidden", [*HIDDEN, "\u200c", "\u200d"], ids=lambda sign: f"U+{ord(sign):04X}")
@pytest.mark.parametrize("reader", [remove_invisible, clean, plain, sendable, plain_query])
def test_pages_results_and_queries_lose_the_same_invisible_characters(reader: "Callable[[str], str]", hidden: str) -> None:
    assert reader(f"light{hidden}house") == "lighthouse"


@pytest.mark.parametrize("reader", [remove_invisible, clean, plain, sendable, plain_query])
@pytest.mark.parametrize("text", ["می\u200cخواهم", "क्\u200dष", "Łódź 北京 مرحبا", "naïve 5 km"])
def test_pages_results_and_queries_keep_what_spells_a_word(reader: "Callable[[str], str]", text: str) -> None:
    assert reader(text) == text
