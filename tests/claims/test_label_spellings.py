"""Labels that a model spells in its own way bias no score: precision over labelled responses stays what annotators found."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from localfact.claims.chunked import ChunkedExtractor
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.records import Response
from localfact.vocabulary import PreVerificationLabel

SAMPLE = Path(__file__).parents[2] / "index" / "sample-responses.jsonl"
RESPONSES = 20
#: The share of labels that are spelled otherwise than asked.
VARIED = 0.2
#: Annotators' label -> the label that was asked for, and other ways of writing it; "" leaves it out.
SPELLINGS = {
    "S": ("SUPPORTED", ("[SUPPORTED]", "**SUPPORTED**", "(Supported)", "#SUPPORTED#", "###supported###", "##SUPPORTED##", "")),
    "NS": (
        "NON-SUPPORTED",
        *[
            (
                "###NOT SUPPORTED###",
                "[UNSUPPORTED]",
                "**Non-supported**",
                "(NOT SUPPORTED)",
                "###non supported###",
                "",
                "#UNSUPPORTED#",
            )
        ],
    ),
    "IR": ("IRRELEVANT", ("[Irrelevant]", "**IRRELEVANT**", "(irrelevant)", "#IRRELEVANT#", "")),
}
Gold = Sequence[tuple[str, str]]


def of_sample() -> Iterator[Gold]:
    """The claims of the sample, each with its annotators' label."""
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        claims = json.loads(line).get("claims") or []
        yield [(claim["text"], claim["label"]) for claim in claims if claim.get("label") in SPELLINGS]


def of_biographies(shared: Path) -> Iterator[Gold]:
    """The facts of biographies, each with its annotators' label."""
    for line in (shared / "data/factscore_bios/ChatGPT.jsonl").read_text(encoding="utf-8").splitlines():
        sentences = json.loads(line)["annotations"] or []
        facts = [fact for sentence in sentences for fact in sentence["human-atomic-facts"] or []]
        yield [(" ".join(fact["text"].split()), fact["label"]) for fact in facts if fact["label"] in SPELLINGS]


def answer(claims: Gold, lot: random.Random) -> str:
    lines = []
    for text, label in claims:
        asked, others = SPELLINGS[label]
        lines.append(f"- {text} {lot.choice(others) if lot.random() < VARIED else f'###{asked}###'}".rstrip())
    return "\n".join(lines)


async def check(responses: Sequence[Gold]) -> None:
    lot = random.Random(3)
    for number, claims in enumerate(responses):
        truth = dict(claims)

        def opinion(chat: Chat, labels: Sequence[str], truth: dict[str, str] = truth) -> dict[str, float]:
            """What the model thinks of the claim whose label is asked for: what it would have written."""
            asked = chat[-1].content.splitlines()[-1]
            (label,) = {label for text, label in truth.items() if asked.startswith(f"- {text}")}
            return {SPELLINGS[label][0]: 0.999}

        written = answer(claims, lot)
        engine = ScriptedEngine(lambda chat, written=written: written, opinion)  # type: ignore[misc]
        extraction = await ChunkedExtractor(engine, merging="none").extract(Response(id=str(number), text=" ".join(truth)))
        assert [claim.text for claim in extraction.claims] == [text for text, _ in claims]
        found = Counter(claim.preverification.label for claim in extraction.claims if claim.preverification)
        gold = Counter(PreVerificationLabel(SPELLINGS[label][0].lower()) for _, label in claims)
        assert found == gold


def distinct(claims: Gold) -> Gold:
    """Claims none of which begins with another, so that each can be told from the others by its beginning."""
    texts = [text for text, _ in claims]
    return [(text, label) for text, label in claims if sum(other.startswith(text) for other in texts) == 1]


async def test_precision_over_the_sample_is_that_of_its_annotators() -> None:
    responses = [distinct(claims) for claims in of_sample() if claims]
    assert responses
    await check(responses)


async def test_precision_over_labelled_biographies_is_that_of_their_annotators(shared: Path) -> None:
    responses = [distinct(claims) for claims in of_biographies(shared) if len(claims) > 5][:RESPONSES]
    assert len(responses) == RESPONSES
    await check(responses)
