"""The shipped sample is what its README says: enough of it, labelled, and located."""

import json
from urllib.parse import urlsplit

from localfact.inputs.responses import read_responses
from localfact.runtime.locations import data_folder
from localfact.vocabulary import GoldLabel

INDEX = data_folder("index")


def test_every_claim_is_labelled_flagged_and_stands_in_its_response() -> None:
    responses = read_responses(INDEX / "sample-responses.jsonl")
    assert len(responses) == 20
    assert len({response.topic for response in responses}) >= 15
    claims = [claim for response in responses for claim in response.claims or ()]
    assert len(claims) >= 300
    assert all(claim.gold in {GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED} for claim in claims)
    assert all(claim.in_corpus is not None and len(claim.spans) == 1 for claim in claims)
    false = sum(claim.gold is GoldLabel.NOT_SUPPORTED for claim in claims) / len(claims)
    assert 0.3 <= false <= 0.37


def test_responses_have_120_to_400_words() -> None:
    for response in read_responses(INDEX / "sample-responses.jsonl"):
        assert 120 <= len(response.text.split()) <= 400, response.id


def test_pages_are_on_reserved_hosts_and_some_disagree() -> None:
    pages = [json.loads(line) for line in (INDEX / "sample-pages.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(pages) >= 60
    assert len({page["url"] for page in pages}) == len(pages)
    assert all((urlsplit(page["url"]).hostname or "").endswith(".example") for page in pages)
    assert sum(bool(page.get("disagrees")) for page in pages) >= 5
