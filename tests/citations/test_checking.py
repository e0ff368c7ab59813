"""What becomes of a mark: its source entails the sentence, contradicts it, does not say it, is gone, or is nowhere."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from localfact.citations.checking import CitationChecker
from localfact.citations.reading import WINDOW_WORDS, WINDOWS, extract_of
from localfact.citations.sources import FoundPage, comparable, forms_of
from localfact.inputs.responses import response_of
from localfact.records import Citations, Claim, Distribution, Failure, Pair, Span
from localfact.stages import Relations
from localfact.vocabulary import CitationVerdict

SURE, UNSURE = 0.9, 0.05


async def relate(pairs: Sequence[Pair]) -> Relations:
    """A reader who knows a sentence where all its words but "not" are in the premise, and no two "not"s."""

    def says(pair: Pair) -> Distribution:
        premise, hypothesis = (set(text.casefold().replace(".", " ").split()) for text in pair)
        if hypothesis - {"not"} - premise:
            return Distribution(entailment=UNSURE, contradiction=UNSURE, neutral=SURE)
        against = "not" in premise
        one, other = (SURE, UNSURE) if not against else (UNSURE, SURE)
        return Distribution(entailment=one, contradiction=other, neutral=UNSURE)

    return {pair: says(pair) for pair in pairs}


def checked(row: dict[str, Any], checker: CitationChecker | None = None, claims: Sequence[Claim] = ()) -> Citations:
    response = response_of(row, 1)
    assert response.problem is None
    return asyncio.run((checker or CitationChecker()).check(response, claims, relate, lambda what, number: None))


def verdicts(found: Citations) -> list[list[str]]:
    return [[citation.verdict.value for citation in one.citations] for one in found.sentences]


SOURCES = ["The bridge is long. It is old and red.", {"title": "Quays", "text": "The quay is not wide."}, {"title": "Lost"}]


def test_each_citation_gets_what_its_source_says() -> None:
    text = "The bridge is long [1]. The quay is wide [2]. The bridge is iron [1]. It is old [3]. It is new [4]. It is ugly too."
    found = checked({"response": text, "sources": SOURCES})
    assert verdicts(found) == [["entailed"], ["contradicted"], ["not_said"], ["not_given"], ["no_target"], []]
    assert [one.citations[0].quote for one in found.sentences[:2]] == ["The bridge is long.", "The quay is not wide."]
    assert (found.recall, found.precision) == (pytest.approx(1 / 6), pytest.approx(1 / 5))
    assert text[found.sentences[1].citations[0].marks[0].start :].startswith("[2]")


def test_two_halves_are_both_needed_and_a_third_source_is_irrelevant() -> None:
    rows = ["The bridge is long.", "The bridge is red.", "Ships pass."]
    (sentence,) = checked({"response": "The bridge is long red [1][2][3].", "sources": rows}).sentences
    assert sentence.supported
    assert [citation.counts for citation in sentence.citations] == [True, True, False]


def test_the_claims_of_a_sentence_are_asked_of_all_that_it_cites() -> None:
    text = "The bridge is long and iron [1]."
    claims = [Claim(id="c1", text="The bridge is long.", spans=(Span(start=0, end=18),))]
    (sentence,) = checked({"response": text, "sources": SOURCES}, claims=claims).sentences
    assert [(one.claim_id, one.verdict) for one in sentence.claims] == [("c1", CitationVerdict.ENTAILED)]


def test_pages_are_looked_up_by_the_address_that_a_mark_or_its_entry_names() -> None:
    pages = {"https://port.example/bridge": FoundPage("The bridge is long.", "Port", origin="corpus")}

    async def look_up(link: str) -> FoundPage:
        return pages.get(link, FoundPage(failure="http status: 404") if link.endswith("gone") else FoundPage())

    text = (
        "The bridge is long [1]. The [bridge](https://port.example/gone) is new. The bridge is old (https://port.example/x)."
        "\n\nReferences:\n[1] Port. https://port.example/bridge"
    )
    found = checked({"response": text}, CitationChecker(look_up=look_up))
    assert verdicts(found) == [["entailed"], ["gone"], ["not_given"]]
    assert [(one.origin, one.reason) for one in found.sources][:2] == [("corpus", None), (None, "http status: 404")]


@pytest.mark.parametrize(
    "row",
    [
        {"sources": {"Molen, 1891": "The bridge is long."}, "response": "The bridge is long (Molen & Bo, 1891)."},
        {"sources": {"[^a]": "The bridge is long."}, "response": "The bridge is long.[^a]"},
        {"docs": [{"title": "Port", "text": "The bridge is long."}], "response": "The bridge is long [1]."},
        {"passages": [{"text": "The bridge is long."}], "response": "The bridge is long [1]."},
        {"sources": [], "docs": {}, "passages": ["The bridge is long."], "response": "The bridge is long [1]."},
        {"sources": {"Mu\u0308ller, 1891": "The bridge is long."}, "response": "The bridge is long (M\u00fcller, 1891)."},
        {
            "sources": [{"url": "http://www.port.example/a/", "text": "The bridge is long."}],
            "response": "The [bridge](https://port.example/a#top) is long.",
        },
        {  # the text's own list numbers the sources otherwise than the row
            "sources": [{"title": "All the quays", "text": "No."}, {"title": "The old bridge", "text": "The bridge is long."}],
            "response": "The bridge is long [1].\n\n## References\n1. Molen, I. (1891). The old bridge. Port Press.",
        },
    ],
)
def test_sources_are_found_by_mark_title_and_address(row: dict[str, Any]) -> None:
    assert verdicts(checked(row)) == [["entailed"]]


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        ("everywhere", "'sources' must be a list"),
        ([7], "Source 1 is '7'"),
        ([{"title": 3}], "The title of source 1 is no text"),
        ({"a": {}}, "Source a has neither text nor title nor url"),
    ],
)
def test_sources_of_another_shape_are_refused_by_name(sources: object, told: str) -> None:
    response = response_of({"response": "It is.", "sources": sources}, 1)
    assert response.problem is None
    assert response.sources is not None
    assert told in (response.sources.problem or "")


def test_a_failed_prediction_is_in_no_score() -> None:
    async def fails(pairs: Sequence[Pair]) -> Relations:
        return {pair: Failure(reason="no answer") for pair in pairs}

    response = response_of({"response": "The bridge is long [1].", "sources": SOURCES}, 1)
    found = asyncio.run(CitationChecker().check(response, (), fails, lambda what, number: None))
    assert (verdicts(found), found.recall, found.precision) == ([["failed"]], None, None)


def test_of_a_long_source_the_parts_are_read_that_speak_of_the_sentence() -> None:
    filler = " ".join(f"Boat {number} came in with fish." for number in range(400))
    source = f"{filler} The harbour master Ottilie Brun retired in 1907. {filler}"
    extract = extract_of(source, "Ottilie Brun retired in 1907.")
    assert "Ottilie Brun retired in 1907." in extract
    assert len(extract.split()) <= WINDOWS * WINDOW_WORDS


def test_addresses_are_compared_without_what_does_not_matter() -> None:
    assert comparable("http://www.port.example/a/#b") == comparable("port.example/a") == "port.example/a"
    assert "http://port.example/a" in forms_of("https://www.port.example/a/#b")
