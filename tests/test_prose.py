"""Bytes, encoded data and markup are told from prose, and quickly."""

import base64
import random

import pytest

from localfact.prose import instead_of_prose
from localfact.text import readable

RANDOM = random.Random(5).randbytes(6_000)
ENCODED = base64.encodebytes(RANDOM).decode()
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0L100 100 20 30" fill="#ff0000"/><text>A tower.</text></svg>'
PROSE = "The tower stands in Paris. It was finished in 1889, and it is 324 metres high. "


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (readable(RANDOM.decode("utf-8", "replace")), "binary data"),
        (ENCODED, "encoded data (base64)"),
        (RANDOM.hex(), "encoded data (base64)"),
        (f"data:image/png;base64,{ENCODED.replace(chr(10), '')}", "encoded data (base64)"),
        (SVG, "markup (SVG, HTML)"),
        (PROSE, None),
        (PROSE * 40 + ENCODED[:300], None),
        (f"<p>{PROSE}</p>", None),
        ("x < y and y > z, as a<b shows.", None),
        ("The commit is 9fceb02d0ae598e95dc970b74767f19372d61af8, made on Friday.", None),
        ("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft 1924", None),
        ("https://example.org/2024/Annual/Report/Of/The/Company/And/Its/Board/Of/Directors", None),
        ("Марія Кюрі народилася у Варшаві. 居里夫人出生于华沙。", None),
        ("One byte was lost here: \N{REPLACEMENT CHARACTER}, and that does not matter much.", None),
        ("", None),
        (" \n", None),
    ],
)
def test_what_a_text_is_where_it_is_no_prose(text: str, instead: str | None) -> None:
    assert instead_of_prose(text) == instead


@pytest.mark.slow
@pytest.mark.parametrize("text", ["a," * 500_000, "<a" * 500_000, "A1b" * 400_000, "=" * 1_000_000, "(" * 1_000_000])
def test_no_text_makes_it_slow(text: str) -> None:
    instead_of_prose(text)
