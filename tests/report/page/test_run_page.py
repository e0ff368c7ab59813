"""What the report of a run has in it, before any browser reads it."""

import json
import re

import pytest
from report_runs import HOSTILE, PAGE, TEXT, hostile_assessment, read, small_assessment
from run_builders import run_of

from localfact.records import Distribution, Pair
from localfact.report.page.run_page import ModelCall, run_page
from localfact.vocabulary import VerdictLabel

BLOCK = re.compile(r'<script type="application/json" id="([a-z0-9-]+)">(.*?)</script>', re.DOTALL)


def blocks(page: str) -> dict[str, dict]:
    """The data blocks of a page by their ids."""
    return {name: json.loads(content) for name, content in BLOCK.findall(page)}


@pytest.fixture
def small() -> dict[str, dict]:
    return blocks(run_page(read([small_assessment()])))


def test_the_pieces_of_the_text_are_the_text_and_each_claim_is_in_it_or_said_to_be_nowhere(small: dict[str, dict]) -> None:
    response = small["response-0"]
    assert "".join(text for text, _, _ in response["text"]) == TEXT
    marked = {claim for _, claims, _ in response["text"] for claim in claims}
    assert (
        [claim["placed"] for claim in response["claims"]]
        == [claim in marked for claim in range(4)]
        == [True, True, True, False]
    )


def test_a_claim_within_anothers_place_is_marked_too(small: dict[str, dict]) -> None:
    within = [claims for text, claims, _ in small["response-0"]["text"] if text == "in 1815"]
    assert within == [[0, 1]]


def test_the_deciding_sentence_and_what_would_be_without_the_passage_are_told(small: dict[str, dict]) -> None:
    claim = small["response-0"]["claims"][0]["passages"][0]
    start, end = claim["sentence"]
    assert PAGE[start:end] == "Ada was born in London on 10 December 1815."
    assert claim["without"] == [pytest.approx(0.5), "not_enough_evidence"]
    assert claim["distribution"] == [0.9, 0.08, 0.02]


def test_the_distribution_of_another_opinion_is_not_taken_for_the_one_that_counted() -> None:
    other = {
        Pair(PAGE, "Ada Lovelace was born in London in 1815."): [Distribution(entailment=0.7, neutral=0.2, contradiction=0.1)]
    }
    response = blocks(run_page(read([small_assessment()], distributions=other)))["response-0"]
    assert response["claims"][0]["passages"][0]["distribution"] is None


def test_the_way_to_a_verdict_has_rewording_preverification_and_reason(small: dict[str, dict]) -> None:
    ways = [claim["way"] for claim in small["response-0"]["claims"]]
    assert ways[0] == ["1 passage entails it"]
    assert "in 1815" in ways[1][0]
    assert ways[3] == [
        "Before any evidence, the model labelled it unsure with confidence 0.40; the six labels together had 0.70.",
        "The model decided after reading the claim with 1 passage.",
        "They say nothing of a title.",
    ]


def test_counts_add_up_in_words() -> None:
    run = run_of("SSC", "EU", "", "I")
    page = " ".join(run_page(read(run)).split())
    assert "6 claims = 2 supported + 1 contradicted + 1 not enough evidence + 1 undecided + 1 irrelevant." in page
    assert "4 responses = 2 scored + 1 abstained (no claim was found) + 1 unscored (no claim was judged) + 0 failed." in page


def test_sentences_that_were_passed_over_are_noted_by_their_reason() -> None:
    counts = {"extract": {"claims": 4, "dropped_table_row": 2, "dropped_heading": 0}}
    found = blocks(run_page(read([small_assessment().model_copy(update={"counts": counts, "warnings": ("Odd.",)})])))
    assert found["response-0"]["notes"] == ["Odd.", "2 sentences passed over as no claim: table row."]


def test_every_response_is_in_the_index_and_has_data_of_its_own() -> None:
    run = run_of("SSC", "", "EU")
    found = blocks(run_page(read(run)))
    assert [one["id"] for one in found["index"]["responses"]] == ["r0", "r1", "r2"]
    assert set(found) == {"index", "response-0", "response-1", "response-2"}
    assert set(found["index"]["verdicts"]) == {label.value for label in VerdictLabel}


def test_nothing_hostile_is_markup() -> None:
    page = run_page(read([hostile_assessment(index, text) for index, text in enumerate(HOSTILE)], name=HOSTILE[0]))
    outside = BLOCK.sub("", page)
    assert len(BLOCK.findall(page)) == 1 + len(HOSTILE)
    assert outside.count("<script") == 1
    assert "<img" not in outside
    assert not re.search("[\x00\x1b\u202e\u2066\ud800]", page)
    assert not re.search(r"(?:src|href)=\"(?!#)", page)


def test_calls_are_there_only_where_they_were_asked_for() -> None:
    with_calls = run_page(read([small_assessment()], calls=[ModelCall("verify", "SENT<b>", "ANSWERED")], calls_left=7))
    assert "SENT&lt;b&gt;" in with_calls
    assert "7 more are in the transcript" in with_calls
    assert "calls-title" not in run_page(read([small_assessment()]))
