"""What a text leaves out of the pages about its topic: facts are found, merged, weighed, and asked of it."""

import asyncio
from collections.abc import Sequence

from localfact.evidence.given import GivenEvidence
from localfact.recall.checking import NO_FACT, NO_PAGES, NOTHING_ASKED, RecallChecker, weigh
from localfact.recall.facts import stands_alone, subject_of
from localfact.recall.merging import registrable
from localfact.records import Distribution, Evidence, EvidenceRecall, Failure, Pair, Passage, Response, passage_id
from localfact.stages import Relate, Relations

UNSURE = Distribution(entailment=0.1, contradiction=0.1, neutral=0.8)
TEXT = "The Moss Bridge is a stone bridge in Torvik. The Moss Bridge opened in 1931. It was drawn by Ada Holm."


def passage(text: str, host: str = "one.example", title: str = "The Moss Bridge") -> Passage:
    return Passage(id=passage_id(text), text=text, title=title, host=host, links=(f"https://{host}/bridge",))


PAGES = (
    passage("The Moss Bridge opened in 1931. The Moss Bridge carries two railway tracks. It crosses the Lund in four arches."),
    passage("The Moss Bridge carries two tracks of the railway. The bridge was designed by Ada Holm in 1928.", "other.example"),
    passage("Puffins nest on cliffs. Puffins eat sand eels.", title="Puffins"),
)


async def knows_nothing(pairs: Sequence[Pair]) -> Relations:
    return dict.fromkeys(pairs, UNSURE)


async def fails(pairs: Sequence[Pair]) -> Relations:
    return dict.fromkeys(pairs, Failure(reason="out of memory"))


async def denies(pairs: Sequence[Pair]) -> Relations:
    return dict.fromkeys(pairs, Distribution(entailment=0.0, contradiction=0.9, neutral=0.1))


def asked(response: Response, relate: Relate = knows_nothing, most: int = 50) -> EvidenceRecall:
    checker = RecallChecker(GivenEvidence(None, None, k=10), None, most)
    return asyncio.run(checker.check(response, relate, lambda what, number: None))


def bridge(text: str = TEXT, **more: object) -> Response:
    fields = {"id": "a", "text": text, "topic": "The Moss Bridge", "evidence": Evidence(passages=PAGES), **more}
    return Response.model_validate(fields)


def test_a_fact_that_the_text_lacks_is_missing_with_all_hosts_that_say_it() -> None:
    found = asked(bridge())
    verdicts = {fact.text: fact.verdict.value for fact in found.facts}
    assert verdicts["The Moss Bridge opened in 1931."] == "said"
    tracks = next(fact for fact in found.missing if "tracks" in fact.text)
    assert tracks.hosts == ("one.example", "other.example")
    assert [source.link for source in tracks.sources] == ["https://one.example/bridge", "https://other.example/bridge"]
    assert all("railway" in source.quote for source in tracks.sources)
    assert not any("uffin" in fact.text for fact in found.facts)
    assert found.counts["unclear"] == 1  # "It crosses the Lund"
    assert found.score is not None
    assert 0 < found.score < 1


def test_what_is_deleted_is_missing_then_and_recall_falls() -> None:
    whole = asked(bridge(f"{TEXT} The Moss Bridge carries two railway tracks."))
    without = asked(bridge())
    assert not any("tracks" in fact.text for fact in whole.missing)
    assert whole.score is not None
    assert without.score is not None
    assert whole.score > without.score


def test_another_date_is_not_missing_but_said_otherwise_and_a_longer_fact_is_said_in_part() -> None:
    found = asked(bridge("The Moss Bridge opened in 1935. Ada Holm designed the bridge."))
    verdicts = {fact.text: fact.verdict.value for fact in found.facts}
    assert verdicts["The Moss Bridge opened in 1931."] == "contradicted"
    assert verdicts["The bridge was designed by Ada Holm in 1928."] == "partly_said"


def test_what_the_text_denies_is_not_said() -> None:
    found = asked(bridge("The Moss Bridge did not open in 1931."))
    assert {fact.text: fact.verdict.value for fact in found.facts}["The Moss Bridge opened in 1931."] != "said"


def test_only_so_many_facts_are_asked_for_the_weightiest_first_and_the_rest_is_counted() -> None:
    found = asked(bridge(), most=1)
    (fact,) = found.facts
    assert "tracks" in fact.text
    assert found.counts["left_out"] >= 2


def test_what_a_model_denies_but_the_text_does_not_speak_of_is_omitted() -> None:
    verdicts = {fact.text: fact.verdict.value for fact in asked(bridge(), denies).facts}
    assert {verdict for text, verdict in verdicts.items() if "tracks" in text} == {"omitted"}


def test_a_model_that_fails_makes_nothing_missing() -> None:
    found = asked(bridge(), fails)
    assert found.missing == ()
    assert found.counts["failed"] >= 1
    assert weigh([fact for fact in found.facts if fact.verdict == "failed"]) is None


def test_without_pages_about_the_topic_there_is_no_figure_and_the_reason() -> None:
    assert asked(bridge(evidence=None)).reason == NO_PAGES
    assert asked(bridge(evidence=Evidence(passages=PAGES[2:]))).reason == NO_FACT
    assert asked(bridge("Yes.", topic=None)).reason == NOTHING_ASKED
    assert asked(bridge(evidence=None)).score is None


def test_what_facts_are_about_is_the_topic_else_what_the_prompt_asks_or_the_text_defines() -> None:
    assert subject_of(bridge(topic=None, prompt="Who was Ada Holm?")) == "Ada Holm"
    assert subject_of(bridge(topic=None, prompt="Explain how tidal bridges move.")) == "tidal bridges move."
    assert subject_of(bridge(topic=None)) == "The Moss Bridge"


def test_a_claim_that_hangs_on_another_sentence_is_no_fact() -> None:
    assert not stands_alone("In 1928 she drew the bridge anew.", "The Moss Bridge")
    assert not stands_alone("Others were built later in the north.", "The Moss Bridge")
    assert stands_alone("In 1928 Ada Holm drew her first bridge.", "Ada Holm")


def test_hosts_below_one_domain_are_one_owner() -> None:
    assert {registrable(host) for host in ("news.one.example", "one.example", "a.b.one.example")} == {"one.example"}
    assert registrable("news.one.co.uk") == "one.co.uk"
    assert registrable("10.0.0.1") == "10.0.0.1"
