"""What the relation model learns, and in which order: sentence pairs, then everything, then what is most like its use."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scripts.training.relation_model import written_sets
from scripts.training.relation_model.answer_sets import PARTIAL
from scripts.training.relation_model.evidence_sets import evidence_sets, without_shown
from scripts.training.relation_model.examples import CONTRADICTION, NEUTRAL, Example, Part, digest, split_by_topic
from scripts.training.relation_model.hard_pairs import hard_pairs
from scripts.training.relation_model.reading import as_read
from scripts.training.relation_model.retrieved_pairs import retrieved_pairs
from scripts.training.relation_model.sentence_sets import KIND as SENTENCE_PAIR
from scripts.training.relation_model.sentence_sets import sentence_sets

#: A contradiction holds in both directions: this share of the contradictory sentence pairs is learned turned round, too.
TURNED = 0.3
#: Words of a premise at most that becomes a hypothesis.
LONGEST_TURNED = 40
#: Pairs made by rule that training is watched by; there are many more of them than of the labelled ones.
DEVELOPMENT_RULES = 600
#: Of a set of claims and evidence at most so many neutral pairs are learned in an epoch for each that is entailed or
#: contradicted; of sets where nearly all is neutral a model learns to say so of everything.
NEUTRAL_SHARE = 1.0
#: The sets of claims, of long answers and of articles, that people judged by a passage; learned so often in an epoch that is
#: like the use, since they are few.
CLAIM_SETS = frozenset({"answers", "stance", "stance_joined", "wice", "expertqa"})
#: Passages written for this model are learned in every epoch, whole.
WHOLE = frozenset({written_sets.SET})
CLAIM_SETS_AGAIN = 2
#: Sentence pairs and made pairs in an epoch of everything; there are many more, and in each epoch others are drawn.
SENTENCES_OF_ALL, MADE_OF_ALL = 6_000, 4_000
#: Pairs of any other set in an epoch that is like the use, sentence pairs, and made pairs.
OTHERS_LIKE_USE, SENTENCES_LIKE_USE, MADE_LIKE_USE = 400, 2_000, 2_000
#: How often sentence pairs are seen by themselves, and all else; made pairs are others in each epoch.
SENTENCE_EPOCHS, EPOCHS, EPOCHS_LIKE_USE = 1, 2, 1


class Reading(NamedTuple):
    """The pairs as they are learned: sentence pairs, everything, what is like the use; and those that decide, per set.

    Made pairs mostly repeat their premise word by word. The last epochs hold fewer of them, and more of the claims that people
    judged.
    """

    sentences: list[Example]
    everything: list[list[Example]]
    like_use: list[list[Example]]
    development: dict[str, list[Example]]


def read(data: Path, tokenizer: Any, seed: int, say: Callable[[str], None]) -> Reading:
    """Reads all sets, makes the hard pairs, and cuts long premises as they are cut at use."""
    parts = split_by_topic([*without_shown(sentence_sets(data), data), *evidence_sets(data)])
    starts = token_starts(tokenizer)
    sentences, evidence = told_apart(parts[Part.TRAINING])
    everything, used = [], []
    made = list(as_read(made_pairs(parts[Part.TRAINING], seed), starts))
    for epoch in range(EPOCHS):
        learned = list(as_read(evened(evidence, seed + epoch), starts))
        short = drawn([*sentences, *turned(sentences)], SENTENCES_OF_ALL, seed + epoch)
        everything.append([*short, *learned, *drawn(made, MADE_OF_ALL, seed + epoch)])
        say(f"epoch {epoch + 1}: {len(short)} sentence pairs, {len(learned)} with evidence")
        if epoch < EPOCHS_LIKE_USE:
            clearer = list(as_read(evened(clear(evidence), seed + epoch), starts))
            used.append(like_use(sentences, clearer, made, seed + epoch))
            say(f"epoch {epoch + 1} like the use: {len(used[-1])} pairs")
    return Reading(sentences, everything, used, development(parts[Part.DEVELOPMENT], starts, seed))


def development(examples: Sequence[Example], starts: Callable[[str], list[int]], seed: int) -> dict[str, list[Example]]:
    """What training is watched by, per set."""
    watched, evidence = told_apart(examples)
    made = drawn(made_pairs(examples, seed), DEVELOPMENT_RULES)
    found: dict[str, list[Example]] = defaultdict(list)
    for example in (*watched, *as_read([*evidence, *made], starts)):
        found[example.set].append(example)
    return dict(found)


def like_use(sentences: Sequence[Example], evidence: Sequence[Example], made: Sequence[Example], seed: int) -> list[Example]:
    """The pairs of one of the last epochs."""
    by_set: dict[str, list[Example]] = defaultdict(list)
    for example in evidence:
        by_set[example.set].append(example)
    found = [*drawn(sentences, SENTENCES_LIKE_USE, seed), *drawn(made, MADE_LIKE_USE, seed)]
    for name, examples in by_set.items():
        if name in CLAIM_SETS:
            found += CLAIM_SETS_AGAIN * examples
        else:
            found += examples if name in WHOLE else drawn(examples, OTHERS_LIKE_USE, seed)
    return found


def clear(examples: Sequence[Example]) -> list[Example]:
    """The examples without claims that their evidence supports in part: neither supported nor unspoken of."""
    return [example for example in examples if example.kind != PARTIAL]


def drawn(examples: Sequence[Example], number: int, seed: int | None = None) -> list[Example]:
    """So many of the examples, which ones hangs on their text and the seed."""
    drawing = "" if seed is None else f"{seed} drawn "
    return sorted(examples, key=lambda one: digest(f"{drawing}{one.premise}\n{one.hypothesis}"))[:number]


def made_pairs(examples: Sequence[Example], seed: int) -> list[Example]:
    """Pairs that no set has: made by rule, and claims beside passages that a search finds for them."""
    return [*hard_pairs(examples, seed=seed), *retrieved_pairs(examples, seed=seed)]


def evened(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples without some neutral ones of the sets that have too many; which ones hangs on the seed, so on the epoch."""
    decided = Counter(example.set for example in examples if example.label != NEUTRAL)
    neutral: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.label == NEUTRAL:
            neutral[example.set].append(example)
    kept = [one for name, found in neutral.items() for one in drawn(found, math.ceil(NEUTRAL_SHARE * decided[name]), seed)]
    return [*(example for example in examples if example.label != NEUTRAL), *kept]


def told_apart(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Sentence pairs, and claims with evidence."""
    plain = [example for example in examples if example.kind == SENTENCE_PAIR]
    return plain, [example for example in examples if example.kind != SENTENCE_PAIR]


def turned(examples: Sequence[Example]) -> list[Example]:
    """A share of the contradictory pairs, the other way round."""
    return [
        example._replace(premise=example.hypothesis, hypothesis=example.premise)
        for example in examples
        if example.label == CONTRADICTION
        and len(example.premise.split()) <= LONGEST_TURNED
        and int(digest(example.premise + example.hypothesis), 16) % 100 < 100 * TURNED
    ]


def token_starts(tokenizer: Any) -> Callable[[str], list[int]]:
    """Tells where each token of a text begins."""

    def starts(text: str) -> list[int]:
        encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [start for start, _ in encoded["offset_mapping"]]

    return starts
