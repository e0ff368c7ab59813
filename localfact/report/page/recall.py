"""Key facts of a response as the report's script reads them: what it omits and contradicts first, each with its sources."""

from typing import Any

from localfact.records import EvidenceRecall, FactSource, KeyFact
from localfact.report.page.rendering import is_web_address, show
from localfact.report.recall_view import SAID, recall_headline
from localfact.vocabulary import FactVerdict, VerdictLabel

#: Verdict of a fact -> the verdict of a claim in whose colour it is shown.
COLOURS = {
    FactVerdict.OMITTED: VerdictLabel.NOT_ENOUGH_EVIDENCE,
    FactVerdict.CONTRADICTED: VerdictLabel.CONTRADICTED,
    FactVerdict.PARTLY_SAID: VerdictLabel.SUPPORTED,
    FactVerdict.SAID: VerdictLabel.SUPPORTED,
    FactVerdict.FAILED: VerdictLabel.FAILED,
}


def recall_data(found: EvidenceRecall, text: str) -> dict[str, Any]:
    """The headline, and the facts by verdict; `text`: of the response."""
    groups = [(verdict, [fact for fact in found.facts if fact.verdict is verdict]) for verdict in SAID]
    return {
        "headline": show(recall_headline(found)),
        "groups": [
            {
                "colour": COLOURS[verdict].value,
                "sign": SAID[verdict][0],
                "words": SAID[verdict][1],
                "facts": [_fact(fact, text) for fact in facts],
            }
            for verdict, facts in groups
            if facts
        ],
    }


def _fact(fact: KeyFact, text: str) -> dict[str, Any]:
    place = fact.place
    return {
        "text": show(fact.text),
        "weight": fact.weight,
        "hosts": len(fact.hosts),
        "place": None if place is None else show(text[place.start : place.end]),
        "sources": [_source(source) for source in fact.sources],
    }


def _source(source: FactSource) -> dict[str, Any]:
    link = source.link
    return {
        "title": show(source.title or source.host or ("" if link else "a passage without a name")),
        "link": None if link is None else [show(link), is_web_address(link)],
        "quote": show(source.quote),
    }
