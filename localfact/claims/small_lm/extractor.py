"""Extracts claims with a small language model, a sentence at a time; what its sentence does not say is thrown away."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from localfact.claims.merging import Merging, merge_within, number_claims
from localfact.claims.rules.checkworthy import left_unread
from localfact.claims.rules.statements import Statement, finish_claim, statements
from localfact.claims.small_lm.frame import Frame, read_claims, repeats
from localfact.claims.small_lm.guard import Refusal, refusal
from localfact.records import Claim, Distribution, Extraction, Pair, Response, Span
from localfact.stages import RelationModel

#: Sentences before one that are read with it.
SENTENCES_BEFORE = 2
#: A claim that its sentence in its context entails with a lower probability is thrown away. By word overlap that is 1.5 %
#: of the facts that people took from sentences, and 78 % of those of later sentences of the same biography (1,768 and 726 facts
#: of 60 biographies by FActScore's annotators; counted at 0.2 by the label shares that it was fitted on, about the same here).
LEAST_ENTAILMENT = 0.46
#: Why a sentence gives no claim, in `Extraction.dropped`, besides the rules' reasons.
NOTHING = "nothing checkable, by the model"


class Writer(Protocol):
    """A language model that continues texts."""

    def write(self, prompts: Sequence[str], done: Callable[[str], bool]) -> list[str]:
        """Returns the continuation of each prompt, to the model's own end, or until `done` is true of what was written."""
        ...


class Taken(NamedTuple):
    """The claims that the model wrote for a sentence, and those of them that were kept."""

    written: list[str]
    kept: list[str]


class SmallLanguageModelExtractor:
    """Splits English sentences into claims with a model trained for it; keeps only claims that the sentence entails.

    A sentence that loses all its claims keeps those that the rules find; so does one with a question in it, and one of another
    language.

    Args:
        writer: loads the language model; called when a first response needs it.
        relations: loads the relation model that says whether a sentence in its context entails a claim.
        merging: which equal claims become one.
    """

    def __init__(
        self, writer: Callable[[], Writer], relations: Callable[[], RelationModel], merging: Merging = "response"
    ) -> None:
        self.merging = merging
        self._load = writer, relations
        self._loaded: tuple[Writer, RelationModel] | None = None
        self._loading = threading.Lock()

    async def extract(self, response: Response) -> Extraction:
        """Returns the claims in the order of the text; equal ones are merged by `merging`.

        `dropped` counts sentences without a claim by reason, `counts` the claims thrown away by reason ("thrown_away_...") and
        the sentences that were left to the rules ("sentences_by_rules").
        """
        dropped: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        found = await asyncio.to_thread(lambda: list(statements(response, dropped)))
        # What is asked is not stated, and the model was not taught the difference.
        asked = {
            place: frame for place, frame in enumerate(frames_of(found)) if found[place].english and "?" not in frame.sentence
        }
        taken = dict(zip(asked, await self.take_apart(list(asked.values()), counts) if asked else [], strict=True))
        claims: list[list[tuple[str, Span]]] = []
        for place, one in enumerate(found):
            each = taken.get(place)
            if each and not each.written:
                dropped[NOTHING] += 1
            elif each and each.kept:
                claims.append([(claim, one.span) for claim in each.kept])
            else:
                claims.append(list(one.claims))
                counts["sentences_by_rules"] += one.english
        made = [[Claim(id="", text=claim, spans=(span,)) for claim, span in part] for part in claims]
        unique = merge_within(made, self.merging).claims
        unread = () if unique else left_unread(dropped)
        return Extraction(
            claims=number_claims(unique), dropped=dict(dropped), counts=dict(+counts), warnings=unread, unread=bool(unread)
        )

    async def take_apart(self, frames: Sequence[Frame], counts: Counter[str]) -> list[Taken]:
        """The claims that the model writes for each sentence; kept are those that no rule refuses and the sentence entails."""
        writer, relations = await asyncio.to_thread(self._open)
        answers = await asyncio.to_thread(writer.write, [frame.prompt for frame in frames], repeats)
        taken = [Taken(read_claims(written), []) for written in answers]
        passed: list[tuple[int, Pair]] = []
        for place, (frame, each) in enumerate(zip(frames, taken, strict=True)):
            for claim in (finish_claim(line, frame.sentence) for line in each.written):
                if refused := refusal(claim, frame.source):
                    counts[f"thrown_away_{refused}"] += 1
                else:
                    passed.append((place, premise_and(claim, frame)))
        said = await relations.relate([pair for _, pair in passed])
        for (place, pair), relation in zip(passed, said, strict=True):
            if isinstance(relation, Distribution) and relation.entailment >= LEAST_ENTAILMENT:
                taken[place].kept.append(pair.hypothesis)
            else:
                counts[f"thrown_away_{Refusal.NOT_ENTAILED}"] += 1
        return taken

    def _open(self) -> tuple[Writer, RelationModel]:
        with self._loading:
            if self._loaded is None:
                writer, relations = self._load
                self._loaded = writer(), relations()
            return self._loaded


def premise_and(claim: str, frame: Frame) -> Pair:
    """The pair to relate. Premise: the topic, the sentences before, and the sentence; hypothesis: the claim."""
    topic = f"{frame.topic}." if frame.topic else ""
    return Pair(" ".join(part for part in (topic, frame.before, frame.sentence) if part), claim)


def frames_of(found: Sequence[Statement]) -> list[Frame]:
    """The statements of a response, each with its topic and what stood before it."""
    texts = [one.text for one in found]
    return [
        Frame(one.topic or "", " ".join(texts[max(0, place - SENTENCES_BEFORE) : place]), one.text)
        for place, one in enumerate(found)
    ]
