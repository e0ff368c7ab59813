"""Claims about somebody of the prompt's own examples are dropped and counted, and nobody else's."""

import re

import pytest

from localfact.claims.decomposer import Decomposer
from localfact.llm.scripted import ScriptedEngine
from localfact.prompts import examples_of
from localfact.records import Response

#: The first of the examples that is about a person, whose name is two words.
EXAMPLE = next(
    found.group() for example in examples_of("decomposition", {}) if (found := re.match(r"\w+ \w+(?= \(born)", example["text"]))
)
TEXT = "Born in 1963, she was a journalist. The mill stood by the weir."


@pytest.mark.parametrize(
    ("text", "topic", "kept", "dropped"),
    [
        (TEXT, None, ["She was a journalist.", "The mill stood."], 1),
        # The text, or its topic, is about somebody of that name.
        (f"{EXAMPLE} was born in 1963.", None, [f"{EXAMPLE} was born in 1963.", "She was a journalist.", "The mill stood."], 0),
        (TEXT, EXAMPLE, [f"{EXAMPLE} was born in 1963.", "She was a journalist.", "The mill stood."], 0),
    ],
)
async def test_a_claim_about_somebody_of_the_examples_is_dropped(
    text: str, topic: str | None, kept: list[str], dropped: int
) -> None:
    said = f"[1] {EXAMPLE} was born in 1963.\n[2] She was a journalist.\n[3] The mill stood."
    engine = ScriptedEngine(lambda chat: said if EXAMPLE in chat[-1].content else "No verifiable claim.")
    extraction = await Decomposer(engine).extract(Response(id="r", text=text, topic=topic))
    assert [claim.text for claim in extraction.claims] == kept
    assert extraction.counts.get("claims_of_examples", 0) == dropped
    assert len(extraction.warnings) == bool(dropped)


@pytest.mark.parametrize(
    "claim",
    [
        "Zyrko Zyrkonia was born in 1963.",  # the model's own name
        "Text Claims was born in 1963.",  # words that the prompt writes small, too, and so no name
    ],
)
async def test_a_claim_that_no_example_is_about_stays(claim: str) -> None:
    extraction = await Decomposer(ScriptedEngine(lambda chat: f"[1] {claim}")).extract(Response(id="r", text=TEXT))
    assert [one.text for one in extraction.claims] == [claim]
