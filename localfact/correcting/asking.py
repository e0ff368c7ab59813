"""Has a language model say which words of a claim are wrong, and what belongs in their place.

It writes nothing else: the rest of the sentence is never generated. Under a grammar the wrong words are a run of words of the
claim that stands in the text; without one an answer is taken only where they are.
"""

import re
from collections.abc import Iterator
from typing import Protocol

from localfact.correcting.proposals import Proposal
from localfact.correcting.wording import Change, fit
from localfact.errors import InputError, RequestError
from localfact.llm.engine import Engine
from localfact.prompts import boundary_of, correction_chat
from localfact.prompts.grammars import LONGEST_NEW, correction_grammar
from localfact.records import Claim, CountedPassage, Passage, Span
from localfact.text import closest_sentences, readable, sentences

#: The stage that calls are counted under.
STAGE = "correct"
MAX_TOKENS = 48
#: The most words of a claim that a model replaces.
MOST_WORDS = 5
#: So many sentences before the deciding one are shown with it, and after it.
BEFORE, AFTER = 2, 1
#: The group of a model's proposals: behind those of the rules.
GROUP = 9
ARROW, NOTHING = " => ", "nothing"
_WORD = re.compile(r"[^\W_]+(?:[-'’.,][^\W_]+)*%?")
_MUST_STAND = re.compile(r"\d+(?:[.,]\d+)*|\b[A-Z][^\W\d_]+")


class EditWriter(Protocol):
    """Proposes a change of a claim where no rule has one."""

    async def propose(self, claim: Claim, counted: CountedPassage, passage: Passage) -> Proposal | None:
        """The proposal by one passage that speaks against the claim; None where there is none."""
        ...


class ModelWriter:
    """An EditWriter over a language model: one short call a claim."""

    def __init__(self, engine: Engine, *, seed: int = 0) -> None:
        """`seed` keys the markers around the texts."""
        self._engine = engine
        self._seed = seed

    async def propose(self, claim: Claim, counted: CountedPassage, passage: Passage) -> Proposal | None:
        """What the model answers; None for "nothing", for words that the claim or the source has not, and where it fails.

        Raises:
            LocalFactError: one that concerns every claim: a dead engine, a call that a replay lacks.
        """
        claimed = list(dict.fromkeys(runs(claim.text)))
        if not claimed:
            return None
        sentence = counted.sentence or next(iter(closest_sentences(passage.text, claim.text)), None)
        shown = around(passage.text, sentence)
        chat = correction_chat(passage.title, shown, claim.text, boundary=boundary_of(self._engine, self._seed))
        grammar = correction_grammar(claimed)
        try:
            said = await self._engine.generate(chat, max_tokens=MAX_TOKENS, grammar=grammar, seed=self._seed, stage=STAGE)
        except (InputError, RequestError):
            return None
        change = read_change(readable(said.text), claim.text, f"{passage.title} {passage.text}")
        return None if change is None else Proposal(change, passage, sentence, GROUP)


def runs(claim: str) -> Iterator[str]:
    """The runs of at most MOST_WORDS words of a claim, each of which stands in it once."""
    places = [found.span() for found in _WORD.finditer(claim)]
    for first, (start, _) in enumerate(places):
        for _, end in places[first : first + MOST_WORDS]:
            run = claim[start:end]
            if "\n" not in run and len(re.findall(rf"(?<!\w){re.escape(run)}(?!\w)", claim)) == 1:
                yield run


def around(text: str, sentence: Span | None) -> str:
    """The deciding sentence with its neighbours; without one, all of the text."""
    spans = sentences(text)
    at = next((place for place, span in enumerate(spans) if sentence and span.end > sentence.start), None)
    if at is None or sentence is None:
        return text
    last = next((place for place in range(len(spans) - 1, -1, -1) if spans[place].start < sentence.end), at)
    shown = spans[max(0, at - BEFORE) : last + 1 + AFTER]
    return text[min(shown[0].start, sentence.start) : max(shown[-1].end, sentence.end)]


def read_change(answer: str, claim: str, source: str) -> Change | None:
    """The change of an answer "wrong => right"; None where it is none.

    The wrong words stand in the claim once. Of the right ones, every number and every name stands in the source or the claim.
    """
    wrong, arrow, right = answer.strip().partition(ARROW.strip())
    wrong, right = wrong.strip(), right.strip().rstrip(".")
    hits = [hit.start() for hit in re.finditer(rf"(?<!\w){re.escape(wrong)}(?!\w)", claim)] if wrong else []
    if not arrow or len(hits) != 1 or not right or "\n" in right or len(right) > LONGEST_NEW or right == wrong:
        return None
    known = f"{source} {claim}"
    if any(word not in known for word in _MUST_STAND.findall(right[:1].lower() + right[1:])):
        return None
    change = fit(claim, Change(hits[0], hits[0] + len(wrong), right))
    return None if change.apply_to(claim) == claim else change
