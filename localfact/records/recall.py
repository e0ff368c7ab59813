"""What a response says of the key facts of the pages about its prompt: said, contradicted, omitted, each with its sources."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from localfact.records.responses import Count, Probability, Record, Span
from localfact.vocabulary import FactVerdict

#: Who decided: the relation model, the values in both texts (numbers, dates, names), or their words.
Decider = Literal["relations", "values", "words"]


class FactSource(Record):
    """A page that says a fact.

    Attributes:
        host: None where the page has no address. quote: the sentence, or the part of it, that the fact is from.
    """

    title: str = ""
    link: str | None = None
    host: str | None = None
    quote: str


class KeyFact(Record):
    """A fact of the pages, asked of the response.

    Attributes:
        text: as the shortest of the pages that say it has it.
        verdict: what the response makes of it. found_by: who decided that; None for an omitted or failed one.
        nearness: to topic or prompt, in [0, 1]. hosts: of different owners, that say it. weight: nearness times their number.
        sources: pages that say it.
        entailment, contradiction: the relation model's probabilities, the response's text being the premise; None where it
            failed.
        place: the sentence of the response that is nearest, as its characters; None for an omitted or failed one.
    """

    text: str
    verdict: FactVerdict
    found_by: Decider | None = None
    nearness: Probability
    hosts: tuple[str, ...]
    weight: Annotated[float, Field(ge=0)]
    sources: tuple[FactSource, ...]
    entailment: Probability | None = None
    contradiction: Probability | None = None
    place: Span | None = None


class EvidenceRecall(Record):
    """What a response says of the key facts.

    Attributes:
        score: R@E, the share of the facts' weight that it says, one said in part counting one half; None without any fact.
        reason: why there is no figure, in words.
        facts: the weightiest first.
        counts: verdict -> number of facts; passages read; claims found in them, and unclear ones that are no facts; facts
            left out as there are more than were asked for; pairs related.
    """

    score: Probability | None
    reason: str | None = None
    facts: tuple[KeyFact, ...] = ()
    counts: Mapping[str, Count] = Field(default_factory=dict)

    @property
    def missing(self) -> tuple[KeyFact, ...]:
        """The facts that the response omits, the weightiest first."""
        return tuple(fact for fact in self.facts if fact.verdict is FactVerdict.OMITTED)
