"""What responses do not say and careless rules would: each case stands for a kind."""

import pytest

from localfact.claims.rules.extractor import RuleExtractor
from localfact.records import Response

TOPIC = "Ada Morel"


async def texts(text: str, topic: str | None = TOPIC) -> list[str]:
    return [claim.text for claim in (await RuleExtractor().extract(Response(id="r", text=text, topic=topic))).claims]


@pytest.mark.parametrize(
    "text",
    [
        "Ada Morel drew plans of the mill. It was built by Bo Fox. It never ran. Its wheel was of oak.",
        "Ada Morel was taught by Bea Ray. She was born in Bonn.",
        "Ada Morel met Bea Ray, and she was kind.",
        "Her tutor was Bea Ray. She was born in Bonn.",
        "Ada Morel and Bea Ray founded a school. She taught there.",
        "The life of Ada Morel was told by Bea Ray. She was born in Bonn.",
        "### Bea Ray\nShe was born in Bonn.",
    ],
)
async def test_a_pronoun_that_may_be_somebody_elses_or_a_things_stays(text: str) -> None:
    assert not any(claim.startswith((TOPIC, "Her wheel")) for claim in (await texts(text))[1:])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada Morel married Bo Fox and John Ray in turn. She was born in Bonn.", "She was born in Bonn."),  # Bo may be anybody
        ("Ada Morel married William Ray in 1835. She was born in Bonn.", "Ada Morel was born in Bonn."),
        ("Ada Morel was praised by Bea Ray.\n\nShe was born in Bonn.", "Ada Morel was born in Bonn."),
        ("Ada Morel wrote to Bea Ray. Morel was ill. She was born in Bonn.", "Ada Morel was born in Bonn."),
        ("Ada Morel is best known for her role as Bea Ray. She was born in Bonn.", "Ada Morel was born in Bonn."),
    ],
)
async def test_who_else_is_named_decides_as_far_as_the_pronoun_may_be_theirs(text: str, expected: str) -> None:
    assert (await texts(text))[-1] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Ada Morel (1) was born in Lyon, (2) moved to Bonn in 1843, and (3) died in 1852.",
            ["Ada Morel was born in Lyon.", "Ada Morel moved to Bonn in 1843.", "Ada Morel died in 1852."],
        ),
        (
            "Ada Morel 1) wrote in Lyon; 2) married Bo Fox in 1843; and 3) directed the Bell Works.",
            ["Ada Morel wrote in Lyon.", "Ada Morel married Bo Fox in 1843.", "Ada Morel directed the Bell Works."],
        ),
        ("Ada Morel was born in Lyon.\\n\\nShe died in Bonn.", ["Ada Morel was born in Lyon.", "Ada Morel died in Bonn."]),
        ("Ada Morel was a painter and won the Bell Prize.", ["Ada Morel was a painter.", "Ada Morel won the Bell Prize."]),
        (
            "Ada Morel was named for the Bell Prize but won none.",
            ["Ada Morel was named for the Bell Prize.", "Ada Morel won none."],
        ),
        (
            "Ada Morel is one of the most loved and talented French poets.",
            ["Ada Morel is one of the most loved and talented French poets."],
        ),
        ("Lyon is a loud and messy town.", ["Lyon is a loud and messy town."]),
        ("Ada Morel has two sons, Bo Fox, Al Fox, and Ed Fox.", ["Ada Morel has two sons, Bo Fox, Al Fox, and Ed Fox."]),
        (
            "Ada Morel made friends feel welcomed and valued by all.",
            ["Ada Morel made friends feel welcomed and valued by all."],
        ),
        ("Ada Morel died in 1852, aged 36, in Bonn.", ["Ada Morel died in 1852, aged 36, in Bonn."]),
        ("Ada Morel won an Oscar, a Tony and an Emmy.", ["Ada Morel won an Oscar, a Tony and an Emmy."]),
        ("- **Slide 4**: The teacher explains the plan.", ["Slide 4: The teacher explains the plan."]),
        ("- **Activation**: Activated by heat", []),
        ("**Education** Ada Morel studied in Bonn.", ["Ada Morel studied in Bonn."]),
    ],
)
async def test_a_claim_keeps_its_own_verb_with_its_own_complement(text: str, expected: list[str]) -> None:
    assert await texts(text) == expected


async def test_a_question_for_a_topic_is_nobodys_name() -> None:
    assert await texts("Lyon is a city. It is old.", "Is Lyon old?") == ["Lyon is a city.", "Lyon is old."]
    assert await texts("She is a chemist.", "Ada Morel (chemist)") == ["Ada Morel is a chemist."]
