"""The pairs that the teacher labels and the student learns from, as they are met in use, in an order that a seed decides.

Claims are people's and those that localfact's rules make of texts; passages are the windows that a relation model reads of a
text, the one selected for the claim or another, and the nearest passages of other topics; and there are minimal edits of both.
A pair has a label where people judged it or where it was made so: a claim by rule follows from its window, an edit is denied.
"""

import asyncio
import csv
import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from localfact.claims.rules.extractor import RuleExtractor
from localfact.models.cards import load_card, weights_folder
from localfact.models.embedder import token_starts
from localfact.models.onnx import OnnxTokenizer
from localfact.records import Pair, Response
from localfact.relations.calibration import LABELS
from localfact.relations.window_selection import WindowSelection
from localfact.text import readable, words
from scripts.labelled_sets import digest, hash_of_topic, json_lines
from scripts.teaching.exchanges import edited_claim, edited_passage
from scripts.teaching.sources import Judged, judged_claims

#: Tokens of a window, and of a pair as the student reads it, special ones included.
WINDOW, PAIR = 128, 256
#: Pairs to learn from, and the parts of them that make the learning curve. Beside them DEVELOPMENT pairs of other topics.
SIZES, DEVELOPMENT = (1_500, 3_000, 6_000), 450
#: In percent of the topics: those of the development part.
DEVELOPMENT_TOPICS = 8
#: How many pairs of each kind, of 100.
SHARES = {
    "judged": 36,  # people's claim, the window selected for it
    "other window": 6,  # the same, another window of its text
    "extracted": 16,  # a claim by rule, the window that it is from
    "extracted, other window": 6,
    "foreign": 10,  # any claim, the nearest window of another topic
    "claim edited": 14,
    "passage edited": 12,
}
#: Of one set at most so many percent of the pairs of a kind.
MOST_OF_A_SET = 25
#: Claims by rule of one text; texts that are read for them.
CLAIMS_OF_A_TEXT, TEXTS = 3, 1_400
#: Claims and texts of a set that have the same label.
MOST_JUDGED = 900
#: Pairs of sentences of a set.
MOST_SENTENCES = 4_000
#: A foreign passage with more of a claim's words may say the same.
MOST_SHARED = 0.8


class Lesson(NamedTuple):
    """A pair and where it is from. `label`: the relation that people judged it to be or that it was made to be, or ""."""

    kind: str
    set: str
    topic: str
    pair: Pair
    label: str = ""

    @property
    def key(self) -> str:
        """What the pair is known by where its text may not stand: 16 hexadecimal digits."""
        return hashlib.sha256("\n".join(self.pair).encode()).hexdigest()[:16]

    @property
    def is_development(self) -> bool:
        """Whether its topic is looked at and not learned from."""
        return int(digest(f"teach part {hash_of_topic(self.topic)}"), 16) % 100 < DEVELOPMENT_TOPICS


class Lessons(NamedTuple):
    """The pairs to learn from, and those to look at; the first so many of `training` are a point of the learning curve."""

    training: list[Lesson]
    development: list[Lesson]


def lessons(data: Path) -> Lessons:
    """All pairs, in the order in which they are labelled: topics by a hash, the pairs of a topic together."""
    drawn = sorted(candidates(judged_claims(data)), key=lambda one: digest(f"teach {one.kind} {one.pair}"))
    every = list({one.pair: one for one in drawn}.values())
    parts = Lessons([one for one in every if not one.is_development], [one for one in every if one.is_development])
    return Lessons(_quota(parts.training, SIZES[-1]), _quota(parts.development, DEVELOPMENT))


def candidates(judged: Sequence[Judged]) -> Iterator[Lesson]:
    """Pairs of every kind, more than are taken."""
    selection = window_selections()
    drawn = sorted(judged, key=lambda one: digest(f"teach judged {one.claim} {one.text}"))
    own: list[Lesson] = []
    for one in _capped(drawn):
        shown = Pair(readable(one.text), readable(one.claim))
        best, others = windows(shown, selection)
        label = one.label if readable(one.focus or one.text).strip() in best else ""  # or what decided may stand elsewhere
        own.append(Lesson("judged", one.set, one.topic, Pair(best, shown.hypothesis), label))
        yield from (Lesson("other window", one.set, one.topic, Pair(text, shown.hypothesis)) for text in others[:1])
    extracted = list(asyncio.run(_extracted(drawn, selection)))
    own += [one for one in extracted if one.kind == "extracted"]
    yield from own
    yield from (one for one in extracted if one.kind != "extracted")
    yield from _edited(own)
    yield from _foreign(own)


def window_selections() -> Sequence[WindowSelection]:
    """Those of the best window of a text, and of the best two."""
    tokenizer = OnnxTokenizer(weights_folder(load_card("minilm")))
    room = PAIR - tokenizer.num_special_tokens_to_add(pair=True)
    return [WindowSelection(lambda text: token_starts(tokenizer, text), room, size=WINDOW, most=most) for most in (1, 2)]


def windows(pair: Pair, selections: Sequence[WindowSelection]) -> tuple[str, list[str]]:
    """The window of the premise selected for the hypothesis, and others of it."""
    best, both = (selection.windows(pair) for selection in selections)
    return best[0].premise, [one.premise for one in both if one.premise != best[0].premise and len(one.premise) > 200]


async def _extracted(drawn: Sequence[Judged], selections: Sequence[WindowSelection]) -> list[Lesson]:
    """Claims by rule of the sets' texts, beside the windows of their own text."""
    found = []
    texts = {one.text: one for one in drawn if len(one.text) >= 200}
    for text, one in list(texts.items())[:TEXTS]:
        claims = (await RuleExtractor().extract(Response(id="text", text=readable(text[:4_000])))).claims
        told = [claim.text for claim in claims if len(claim.text.split()) in range(4, 30)]
        for claim in sorted(told, key=lambda claim: digest(f"teach extracted {claim}"))[:CLAIMS_OF_A_TEXT]:
            best, others = windows(Pair(readable(text), claim), selections)
            made = [("extracted", best, "entailment"), *(("extracted, other window", other, "neutral") for other in others[:1])]
            found += [Lesson(kind, one.set, one.topic, Pair(window, claim), label) for kind, window, label in made]
    return found


def _edited(own: Iterable[Lesson]) -> Iterator[Lesson]:
    """Claims and passages with values exchanged, where the claim was not said to be false or left open."""
    for one in own:
        if one.label in ("", "entailment") and int(digest(f"teach edited {one.key}"), 16) % 5 < 2:
            chance, made = random.Random(f"teach {one.key}"), "contradiction" if one.label else ""
            premise, claim = one.pair
            if other := edited_claim(claim, premise, chance):
                yield one._replace(kind="claim edited", pair=Pair(premise, other), label=made)
            if changed := edited_passage(claim, premise, chance):
                yield one._replace(kind="passage edited", pair=Pair(changed, claim), label=made)


def _foreign(own: Sequence[Lesson]) -> Iterator[Lesson]:
    """Claims beside the nearest window of another topic of the same part, as a search would find it."""
    import bm25s
    import numpy as np

    claims = [one for one in own if int(digest(f"teach foreign {one.pair.hypothesis}"), 16) % 5 == 0]
    passages = list({one.pair.premise: one for one in own if len(one.pair.premise) >= 200}.values())
    texts = [words(one.pair.premise.casefold()) for one in passages]
    index = bm25s.BM25(backend="numpy")
    index.index(texts, show_progress=False)
    for one in claims:
        asked = words(one.pair.hypothesis.casefold())
        scores = index.get_scores([word for word in asked if word in index.vocab_dict])
        for place in np.argsort(-scores, kind="stable")[:40].tolist():
            other = passages[place]
            shared = sum(word in texts[place] for word in asked) / max(1, len(asked))
            apart = hash_of_topic(other.topic) != hash_of_topic(one.topic) and one.is_development == other.is_development
            if apart and shared <= MOST_SHARED:
                yield one._replace(kind="foreign", pair=Pair(other.pair.premise, one.pair.hypothesis), label="neutral")
                break


def _capped(drawn: Sequence[Judged]) -> Iterator[Judged]:
    """At most MOST_JUDGED of each set and label, so that none outweighs the rest."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for one in drawn:
        counts[one.set, one.label] += 1
        if counts[one.set, one.label] <= MOST_JUDGED:
            yield one


def _quota(every: Sequence[Lesson], size: int) -> list[Lesson]:
    """So many pairs by SHARES, in the order of their topics' hashes; what a kind lacks the others make up for."""
    taken: list[Lesson] = []
    for kind, percent in SHARES.items():
        room = round(size * percent / 100)
        sets: dict[str, int] = defaultdict(int)
        mine = []
        for one in (each for each in every if each.kind == kind):
            if len(mine) < room and sets[one.set] < room * MOST_OF_A_SET / 100:
                sets[one.set] += 1
                mine.append(one)
        taken += mine
    chosen = set(taken)
    taken += [one for one in every if one not in chosen][: max(0, size - len(taken))]
    return sorted(taken, key=lambda one: (digest(f"teach order {hash_of_topic(one.topic)}"), *one.pair))


def sentence_pairs(data: Path) -> list[Lesson]:
    """Pairs of sentences that people labelled: what the student learns from first; in an order that a seed decides.

    Licences: counterfactually augmented SNLI Apache-2.0, SNLI CC BY-SA 4.0, MultiNLI the OANC's and others without a bar on
    commerce, ConjNLI MIT.
    """
    drawn = sorted({one.pair: one for one in _sentences(data / "nli")}.values(), key=lambda one: digest(f"teach {one.pair}"))
    by_set: dict[str, list[Lesson]] = defaultdict(list)
    for one in drawn:
        by_set[one.set].append(one)
    kept = {one for group in by_set.values() for one in group[:MOST_SENTENCES]}
    return [one for one in drawn if one in kept]


def _sentences(folder: Path) -> Iterator[Lesson]:
    rows = [("cad", *row) for part in ("train", "dev", "test") for row in _table(folder / f"cad_{part}.tsv")]
    rows += [("conjnli", *row) for row in _table(folder / "conjnli_dev.tsv")]
    for name in ("snli", "mnli"):
        read = json_lines(folder / f"{name}_dev.jsonl")
        rows += [(name, row["premise"], row["hypothesis"], row["label"]) for row in read]
    for name, premise, claim, label in rows:
        if label in LABELS:
            yield Lesson("sentences", name, premise, Pair(premise.strip(), claim.strip()), label)


def _table(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return [row[:3] for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]
