import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.claims.rules.extractor import RuleExtractor
from localfact.records import Extraction, Response
from localfact.text import normalise

BIOGRAPHY = """# Ada Morel

**Ada Morel** (born May 4, 1950) is a French chemist [1]. She was born in Lyon and studied in Paris.

## Life
- In 1990 she won the Osmium Prize.
- Is she famous?

Note that the prize was founded in 1950. I hope this helps!

### References
1. Day, B. (1999). The story of osmium was told here.
"""


async def extract(text: str, *, prompt: str | None = None, topic: str | None = None) -> Extraction:
    return await RuleExtractor().extract(Response(id="r", text=text, prompt=prompt, topic=topic))


async def texts(text: str, *, prompt: str | None = None, topic: str | None = None) -> list[str]:
    return [claim.text for claim in (await extract(text, prompt=prompt, topic=topic)).claims]


async def test_a_response_becomes_short_claims_that_can_be_read_alone() -> None:
    extraction = await extract(BIOGRAPHY, prompt="Tell me about Ada Morel.")
    assert [(claim.id, claim.text) for claim in extraction.claims] == [
        ("c1", "Ada Morel is a French chemist."),
        ("c2", "Ada Morel was born May 4, 1950."),
        ("c3", "Ada Morel was born in Lyon."),
        ("c4", "Ada Morel studied in Paris."),
        ("c5", "In 1990 Ada Morel won the Osmium Prize."),
        ("c6", "The prize was founded in 1950."),
    ]


async def test_lists_and_tables_become_claims_and_what_does_not_is_counted() -> None:
    answer = """## Ada Morel
- **Born:** May 4, 1950
- Occupation: chemist
- Nationality: N/A
- Develop a plan for the future

| Year | Event |
|---|---|
| 1990 | Won the Osmium Prize |

### Morel Tower
It was built in 1889. It is high.
"""
    extraction = await extract(answer)
    assert [claim.text for claim in extraction.claims] == [
        "Ada Morel was born on May 4, 1950.",
        "The occupation of Ada Morel is chemist.",
        "In 1990, Ada Morel won the Osmium Prize.",
        "Morel Tower was built in 1889.",
        "Morel Tower is high.",
    ]
    assert extraction.dropped == {"heading": 2, "fragment": 1, "advice": 1, "table row": 2}
    shown = [answer[span.start : span.end] for claim in extraction.claims for span in claim.spans]
    assert shown == ["May 4, 1950", "chemist", "Won the Osmium Prize", "It was built in 1889", "It is high"]


async def test_sentences_that_are_no_claims_are_counted_by_reason() -> None:
    extraction = await extract(BIOGRAPHY)
    assert extraction.dropped["heading"] == 3
    assert extraction.dropped["question"] == 1
    assert extraction.dropped["talk about the answer"] == 1
    assert extraction.dropped["reference"] >= 1


async def test_a_span_shows_the_words_of_the_claim_in_the_response() -> None:
    extraction = await extract(BIOGRAPHY)
    shown = [BIOGRAPHY[span.start : span.end] for claim in extraction.claims for span in claim.spans]
    assert shown[1:4] == ["May 4, 1950", "She was born in Lyon", "studied in Paris"]


async def test_equal_claims_are_merged_and_keep_all_their_places() -> None:
    text = "The bridge was built in 1900. It fell later on. The  bridge was built in **1900**!"
    extraction = await extract(text)
    assert [len(claim.spans) for claim in extraction.claims] == [2, 1]
    assert [claim.id for claim in extraction.claims] == ["c1", "c2"]


async def test_a_pronoun_stays_once_another_person_was_the_subject() -> None:
    text = "Ada Morel is a chemist. She was born in Lyon. Ann Ray was her teacher. She studied in Paris."
    assert (await texts(text, topic="Ada Morel"))[1::2] == ["Ada Morel was born in Lyon.", "She studied in Paris."]


async def test_ranges_titles_and_quotations_stay_whole() -> None:
    assert await texts('The show "Up, Down and Away" ran from 1990 - 1995.') == [
        'The show "Up, Down and Away" ran from 1990 - 1995.'
    ]


async def test_the_comma_inside_a_quotation_mark_goes_with_the_list() -> None:
    assert await texts('Ada wrote "Red Sky," "The Boat," and "Ash."', topic="Ada") == [
        'Ada wrote "Red Sky".',
        'Ada wrote "The Boat".',
        'Ada wrote "Ash."',
    ]


async def test_a_word_that_begins_its_sentence_in_lower_case_stays_so() -> None:
    assert await texts("iPhone sales were high in 2010.") == ["iPhone sales were high in 2010."]


async def test_other_languages_give_whole_sentences() -> None:
    spanish = "Ada nació en Lyon y murió en París. ¿Era química?"
    extraction = await extract(spanish)
    assert [claim.text for claim in extraction.claims] == ["Ada nació en Lyon y murió en París."]
    assert extraction.dropped == {"question": 1}
    assert await texts("El grupo Songs for you nació en Lyon.") == ["El grupo Songs for you nació en Lyon."]
    assert await texts("她出生于里昂。她是化学家。") == ["她出生于里昂。", "她是化学家。"]


@pytest.mark.parametrize("text", ["", " \n", "Yes.", "Lyon", "---", "\x00", "## Title", "😀"])
async def test_a_response_without_a_statement_has_no_claims(text: str) -> None:
    assert (await extract(text)).claims == ()


async def test_a_refusal_has_no_claims_and_is_counted() -> None:
    extraction = await extract("I'm sorry, but I cannot find this person. There are many people with that name.")
    assert extraction == Extraction(dropped={"abstention": 2})


async def test_a_quoted_apology_is_no_refusal() -> None:
    assert await texts('The minister said "I apologize, I cannot answer" in 1999.') == [
        'The minister said "I apologize, I cannot answer" in 1999.'
    ]


FRAGMENTS = st.sampled_from(
    [
        "Ada Morel ",
        "was born in Lyon",
        " and ",
        ", who ",
        "died. ",
        "She ",
        "(born 1950) ",
        "\n- ",
        "**",
        "[1]",
        '"',
        "“",
        "\x00",
        "😀",
        "?",
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(FRAGMENTS, max_size=40).map("".join)))
async def test_claims_are_numbered_unique_and_lie_in_the_response(text: str) -> None:
    claims = (await extract(text)).claims
    assert [claim.id for claim in claims] == [f"c{number}" for number in range(1, len(claims) + 1)]
    assert len({normalise(claim.text) for claim in claims}) == len(claims)
    for claim in claims:
        assert claim.text.strip()
        assert claim.spans
        assert all(span.start < span.end <= len(text) for span in claim.spans)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1_000, pytest.param(11_000, marks=pytest.mark.exhaustive)])
async def test_a_response_of_many_thousand_words_is_carried_through(times: int) -> None:
    sentence = "In 1990 Ada Morel, a French chemist, won the Osmium Prize and moved to Paris, which is a city. "
    extraction = await extract(sentence * times)
    assert [claim.text for claim in extraction.claims] == [
        "In 1990 Ada Morel won the Osmium Prize.",
        "Ada Morel moved to Paris.",
        "Paris is a city.",
        "Ada Morel was a French chemist.",
    ]
    assert {len(claim.spans) for claim in extraction.claims} == {times}


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "Ada " * 240 + ". ",
        "Ada Bo, " * 120 + "was. ",
        "The a was b and " * 55 + ". ",
        "X is a b who c " * 60 + ". ",
        "he was; " * 120 + ". ",
        "In Ada, " * 120 + ". ",
        "“" * 999,
        "[a](" * 250,
        "*_" * 500,
        " \n" * 500,
    ],
)
@pytest.mark.parametrize("times", [50, pytest.param(200, marks=pytest.mark.exhaustive)])
async def test_text_made_to_slow_the_rules_down_is_carried_through(unit: str, times: int) -> None:
    extraction = await extract(unit * times)
    assert len(extraction.claims) < 100


async def test_another_process_extracts_the_same() -> None:
    script = (
        "import asyncio, sys; from localfact.claims.rules.extractor import RuleExtractor;"
        "from localfact.records import Response;"
        "print(asyncio.run(RuleExtractor().extract(Response(id='r', text=sys.argv[1]))).model_dump_json())"
    )
    run = subprocess.run([sys.executable, "-c", script, BIOGRAPHY], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == (await extract(BIOGRAPHY)).model_dump_json()


@pytest.mark.slow
async def test_biographies_give_claims_and_refusals_none(shared: Path) -> None:
    """The rule for abstentions was written on these very refusals: this guards it and does not measure it.

    Six answers state something of somebody else behind their refusal.
    """
    differing = []
    for model in ("ChatGPT", "InstructGPT", "PerplexityAI"):
        for line in (shared / f"data/factscore_bios/{model}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            claims = (await extract(row["output"], prompt=row["input"], topic=row["topic"])).claims
            has_facts = any(sentence["human-atomic-facts"] for sentence in row["annotations"] or [])
            if has_facts or row["annotations"] is None:
                differing += [row["topic"]] if bool(claims) != has_facts else []
    assert len(differing) <= 6, differing


def test_encoded_data_in_a_text_is_no_claim() -> None:
    data = "Nsno+tYId6oDplDR1GDSPrrcJupifjLoA/qTbd3KxCpjEHPuop1g8mmwEITo0c2V2uocTiAueifw"
    text = f"Marie Curie was born in Warsaw.\n\n{data}\n\nShe won two Nobel Prizes for her work on radioactivity."
    found = asyncio.run(RuleExtractor().extract(Response(id="r", text=text)))
    assert [claim.text for claim in found.claims] == [
        "Marie Curie was born in Warsaw.",
        "Marie Curie won two Nobel Prizes for her work on radioactivity.",
    ]
    assert found.dropped == {"no prose": 1}
