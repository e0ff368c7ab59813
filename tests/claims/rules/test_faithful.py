"""No claim has a content word that its sentence, context and topic lack: over texts of many kinds, and over public ones."""

import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.rules.extractor import RuleExtractor
from localfact.records import Response
from scripts.measure_invented import new_words, public_answers

TEXTS = {
    "Ada Morel": """# Ada Morel

**Ada Morel** (born 4 May 1950), a French chemist and poet, won the Osmium Prize, the Bell Medal, and the Ray Cup [1].
Born in Lyon, she studied in Paris, married Bo Fox, a painter, and moved to Rome, becoming the first woman at the Fox Works.
She wrote "Red Sky," "The Boat," and "Ash." It was printed by Bea Ray, who lived in Bonn; her sister sold it.

## Life
- **Born:** 4 May 1950
- 1990: Awarded the Osmium Prize
- 1995: a long illness
- Career: She taught in Bonn (1990-1995).
- Opened a school and later a museum

| Year | Event |
|---|---|
| 1999 | Retired |
| 2001 | Peace |

References
[1] B. Ray, The chemists. Lyon: Bell Press, 1998.
""",
    "Morel Tower": """The Morel Tower is a tower in Lyon that was built in 1889 and opened in 1890. It has a bell.
It was cast by Bo Fox.

<ul><li>Height: 330 m</li><li>Architect - Bo Fox</li></ul>

City | Towers | In 2010
--- | --- | ---
Lyon | 3 | 4

**Bell Tower**: Opened in 1900. **History** The tower burnt twice, in 1901 and 1950, while its bell was saved.
""",
}


@pytest.mark.parametrize("topic", TEXTS)
async def test_every_content_word_of_a_claim_stands_in_its_text(topic: str) -> None:
    response = Response(id="r", text=TEXTS[topic], topic=topic)
    claims = (await RuleExtractor().extract(response)).claims
    assert len(claims) > 7
    assert [(claim.text, new) for claim in claims if (new := new_words(claim, response))] == []


PARTS = [line for text in TEXTS.values() for line in re.split(r"(?<=[.;\n]) ?", text) if line.strip()]


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.sampled_from([None, *TEXTS]))
async def test_however_sentences_and_lines_are_put_together(parts: list[str], topic: str | None) -> None:
    response = Response(id="r", text=" ".join(parts), topic=topic)
    claims = (await RuleExtractor().extract(response)).claims
    assert [(claim.text, new) for claim in claims if (new := new_words(claim, response))] == []


@pytest.mark.slow
async def test_every_content_word_of_the_claims_of_public_texts_stands_in_them(shared: Path) -> None:
    violations, claims = [], 0
    for _, response in islice(public_answers(shared / "data"), 0, None, 10):
        for claim in (await RuleExtractor().extract(response)).claims:
            claims += 1
            if new := new_words(claim, response):
                violations.append((claim.text, new))
    assert claims > 1_000
    assert violations == []


@pytest.mark.parametrize(
    "text",
    [
        "My Fair Isle opened in Lyon in 1956, but the film came out in 1964.",
        "Although I Love Bo ended in 1957, its songs lived on.",
        "The sum of {4, 5} is 9.",
        "The film is a J. Arthur Fox production from 1948.",
        "There are no records of tigers in Lyon before 1900.",
    ],
)
async def test_what_only_looks_like_a_caveat_a_mark_an_end_or_a_refusal_is_kept_whole(text: str) -> None:
    assert [claim.text for claim in (await RuleExtractor().extract(Response(id="r", text=text))).claims] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "[1]: https://a.example\n\n  - Lyon has two towers.\n  - Bonn was founded in 12 BC.\n",
        "    ## Past\n\n    Lyon was founded in 43 BC.\n\n    ## Now\n\n    Bonn has two rivers.\n",
        "Lyon lies on a river.\n\n    $15 million was paid for the bridge.\n",
    ],
)
async def test_prose_that_is_indented_is_neither_code_nor_a_reference(text: str) -> None:
    assert len((await RuleExtractor().extract(Response(id="r", text=text))).claims) == 2
