"""Pairs that differ in one detail, made by rule from labelled pairs and clean text: what a relation model gets wrong.

    python -m scripts.training.relation_model.hard_pairs DATA [--per-kind 3]   # samples to read, and how many there are

A pair keeps its source's topics. Most kinds come in groups that share their wording, so that no word alone tells the label:
a changed hypothesis with the unchanged one, a changed premise with the unchanged and the changed hypothesis.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from localfact.text import words
from scripts.training.relation_model.agreements import agreements
from scripts.training.relation_model.claim_pairs import claim_pairs
from scripts.training.relation_model.evidence_sets import evidence_sets
from scripts.training.relation_model.examples import (
    CONTRADICTION,
    ENTAILMENT,
    LABELS,
    NEUTRAL,
    Example,
    Part,
    digest,
    split_by_topic,
)
from scripts.training.relation_model.negations import affirmed, negated
from scripts.training.relation_model.neutral_pairs import (
    Elsewhere,
    detail_missing,
    neutral_hypotheses,
    nowhere_said,
    sentence_missing,
)
from scripts.training.relation_model.passages import Passage, passages, plain_sentences
from scripts.training.relation_model.rewordings import nearly_verbatim, shortened
from scripts.training.relation_model.roles import made, swapped
from scripts.training.relation_model.sentence_edits import Edit, Names, contradicting_edits
from scripts.training.relation_model.sentence_sets import KIND as SENTENCE_PAIR
from scripts.training.relation_model.sentence_sets import sentence_sets

SET = "rules"
#: Of how many sentences of one text pairs are made; WiCE's pages would outnumber all else.
SENTENCES_OF_A_TEXT = 4
#: How many texts of one set lend sentences: no set's style is to prevail.
TEXTS_OF_A_SET = 700
#: How many groups there may be of each rule, a group being the pairs that share their wording.
QUOTAS = {
    "year changed": 420,
    "years confused": 300,
    "number changed": 420,
    "numbers confused": 300,
    "number rounded": 500,
    "date less exact": 300,
    "year less exact": 400,
    "other unit": 200,
    "other spelling": 200,
    "month changed": 160,
    "weekday changed": 60,
    "ordinal changed": 180,
    "written number changed": 220,
    "nationality changed": 200,
    "person changed": 260,
    "persons confused": 120,
    "place changed": 420,
    "places confused": 200,
    "organisation changed": 160,
    "opposite": 600,
    "sister word": 420,
    "quantity word": 260,
    "claim detail changed": 700,
    "negation": 900,
    "negation taken out": 300,
    "swapped names": 150,
    "made": 150,
    "shortened": 500,
    "subject exchanged": 600,
    "detail added": 500,
    "claim strengthened": 300,
    "sentence of the topic": 900,
    "detail missing": 700,
    "sentence missing": 900,
    "with and without its sentence": 800,
    "extracted claim": 2200,
    "claim without its evidence": 700,
    "short pair in a text": 1500,
    "evidence in a longer text": 500,
}
#: The rule, by the names above, of kinds that are not named like theirs.
RULE_OF_KIND = {
    "namesake as subject": "subject exchanged",
    "another subject": "subject exchanged",
    "name for a pronoun": "subject exchanged",
    "year added": "detail added",
    "place added": "detail added",
}


def hard_pairs(examples: Sequence[Example], *, seed: int = 0) -> Iterator[Example]:
    """The pairs made from the examples of one part, group by group, in an order that hangs on their text and the seed.

    Args:
        examples: of the training part only; names and sentences wander between them.
        seed: for another choice among the possible pairs.
    """
    taken: Counter[str] = Counter()
    groups = sorted(
        _groups(examples, seed), key=lambda one: digest(f"{seed}\n{one[0]}\n{one[1][0].premise}\n{one[1][0].hypothesis}")
    )
    seen: set[tuple[str, str]] = set()
    for rule, group in groups:
        fresh = [example for example in group if (example.premise, example.hypothesis) not in seen]
        if taken[rule] < QUOTAS[rule] and len(fresh) == len(group):
            taken[rule] += 1
            seen.update((example.premise, example.hypothesis) for example in group)
            yield from group


def _groups(examples: Sequence[Example], seed: int) -> Iterator[tuple[str, list[Example]]]:
    """Every group that the rules make, with the name of its quota."""
    sources = [example for example in examples if example.kind != SENTENCE_PAIR]
    found = list(source_passages(sources, seed))
    vocabulary = Counter(word for passage in found for word in words(passage.focus) if word.islower())
    names = Names.seen_in(sorted({passage.focus for passage in found}))
    elsewhere = Elsewhere(found, names.persons)
    for passage in found:
        chance = random.Random(f"{seed}\n{passage.text}\n{passage.focus}")
        edits: list[tuple[str, Edit | None]] = [
            *((edit.kind, edit) for edit in contradicting_edits(passage.focus, passage.text, names, chance)),
            ("negation", negated(passage.focus, vocabulary, chance)),
            ("negation taken out", affirmed(passage.focus, vocabulary)),
            ("swapped names", swapped(passage.focus)),
        ]
        for rule, edit in edits:
            if edit:
                yield rule, list(_edited(passage, rule, edit, chance))
        contrary = [edit for _, edit in edits if edit]
        if group := list(_with_and_without(passage, chance.choice(contrary) if contrary else None, chance)):
            yield "with and without its sentence", group
        if short := shortened(passage.focus, chance):
            yield "shortened", [_pair(passage, short.kind, short.sentence, ENTAILMENT)]
        for said in agreements(passage.focus, chance):
            yield said[0].kind, [_pair(passage, one.kind, one.sentence, one.label) for one in said]
        yield "made", list(_made(passage, chance))
        yield from _neutral_groups(passage, elsewhere, chance)
    for group in claim_pairs(source_texts(sources, seed), SET, names, vocabulary, seed):
        yield "extracted claim", group
    yield from _from_claims(sources, names, seed)
    yield from _without_evidence(sources)
    yield from _in_longer_texts(examples, found, seed)


def source_texts(examples: Iterable[Example], seed: int) -> list[Example]:
    """An example of each premise, of some premises of each set."""
    texts: dict[str, Example] = {}
    of_set: Counter[str] = Counter()
    for example in sorted(examples, key=lambda one: digest(f"{seed}\n{one.premise}\n{one.topics}")):
        if example.premise not in texts and of_set[example.set] < TEXTS_OF_A_SET:
            of_set[example.set] += 1
            texts[example.premise] = example
    return list(texts.values())


def source_passages(examples: Iterable[Example], seed: int) -> Iterator[Passage]:
    """Passages of the examples' premises, a few of each text, and no sentence twice."""
    seen: set[str] = set()
    for example in source_texts(examples, seed):
        text = example.premise
        chance = random.Random(f"{seed}\n{text}")
        own = [passage for passage in passages(text, example.topics, chance) if passage.focus not in seen]
        for passage in chance.sample(own, min(len(own), SENTENCES_OF_A_TEXT)):
            if passage.focus not in seen:
                seen.add(passage.focus)
                yield passage


def _pair(passage: Passage, kind: str, hypothesis: str, label: str) -> Example:
    return Example(SET, kind, passage.text, hypothesis, label, passage.topics, passage.focus)


def _edited(passage: Passage, rule: str, edit: Edit, chance: random.Random) -> Iterator[Example]:
    """The edit in the hypothesis or in the premise, each with its twin that nothing contradicts."""
    if chance.random() < 0.5:
        yield _pair(passage, rule, edit.sentence, CONTRADICTION)
        yield _pair(passage, f"{rule}: unchanged", nearly_verbatim(passage.focus, chance).sentence, ENTAILMENT)
    else:
        changed = passage.with_focus(edit.sentence)
        yield _pair(changed, f"{rule}: in the premise", passage.focus, CONTRADICTION)
        yield _pair(changed, f"{rule}: in both", edit.sentence, ENTAILMENT)


def _with_and_without(passage: Passage, contrary: Edit | None, chance: random.Random) -> Iterator[Example]:
    """A statement, and one against it, beside the whole text, and beside that text without the sentence that decides.

    Nothing but that sentence tells the labels apart: a text about the same with other names and numbers contradicts nothing.
    """
    said = (shortened(passage.focus, chance) or nearly_verbatim(passage.focus, chance)).sentence
    statements = [(said, ENTAILMENT), *([(contrary.sentence, CONTRADICTION)] if contrary else [])]
    if not all(nowhere_said(statement, passage.others) for statement, _ in statements):
        return
    rest = " ".join(passage.others)
    for statement, label in statements:
        yield Example(SET, "with its sentence", passage.whole, statement, label, passage.topics, passage.focus)
        yield Example(SET, "without its sentence", rest, statement, NEUTRAL, passage.topics)


def _made(passage: Passage, chance: random.Random) -> Iterator[Example]:
    """A made sentence put among others of a text that is about something else."""
    place = chance.randint(0, len(passage.sentences))
    pairs = list(made(chance))
    before, after = passage.sentences[max(0, place - 3) : place], passage.sentences[place : place + 2]
    around = Passage((*before, pairs[0][1], *after), len(before), passage.topics)
    yield from (_pair(around, kind, hypothesis, label) for kind, _, hypothesis, label in pairs)


def _neutral_groups(passage: Passage, elsewhere: Elsewhere, chance: random.Random) -> Iterator[tuple[str, list[Example]]]:
    for kind, hypothesis in neutral_hypotheses(passage, elsewhere, chance):
        rule = RULE_OF_KIND.get(kind, kind)
        yield rule, [_pair(passage, kind, hypothesis, NEUTRAL)]
    if missing := detail_missing(passage):
        without, whole = missing
        yield (
            "detail missing",
            [
                _pair(without, "detail not in the premise", whole, NEUTRAL),
                _pair(passage, "detail in the premise", whole, ENTAILMENT),
            ],
        )
    if rest := sentence_missing(passage):
        absent = _pair(rest, "sentence not in the premise", passage.focus, NEUTRAL)._replace(focus="")
        yield "sentence missing", [absent]


def _from_claims(sources: Sequence[Example], names: Names, seed: int) -> Iterator[tuple[str, list[Example]]]:
    """Entailed claims, which say it in other words than their premise, with a detail changed that the premise has as well."""
    for example in sources:
        if example.label != ENTAILMENT:
            continue
        chance = random.Random(f"{seed}\n{example.premise}\n{example.hypothesis}")
        edits = [
            edit
            for edit in contradicting_edits(example.hypothesis, example.premise, names, chance)
            if edit.old.casefold() in (example.focus or example.premise).casefold() and not edit.kind.endswith("confused")
        ]
        if edits:
            edit = chance.choice(edits)
            changed = example._replace(set=SET, kind=f"claim: {edit.kind}", hypothesis=edit.sentence, label=CONTRADICTION)
            yield "claim detail changed", [changed]


def _without_evidence(sources: Sequence[Example]) -> Iterator[tuple[str, list[Example]]]:
    """Claims beside the text that decides them, without the sentences that do."""
    for example in sources:
        if example.label == NEUTRAL or not example.focus or example.focus not in example.premise:
            continue
        rest = plain_sentences(example.premise.replace(example.focus, "\n"))
        if nowhere_said(example.hypothesis, rest):
            without = example._replace(
                set=SET, kind="claim without its evidence", premise=" ".join(rest), label=NEUTRAL, focus=""
            )
            yield without.kind, [without]


def _in_longer_texts(examples: Sequence[Example], found: Sequence[Passage], seed: int) -> Iterator[tuple[str, list[Example]]]:
    """Short pairs and evidence with a known sentence among sentences of a text of another topic; the label stays."""
    for example in examples:
        chance = random.Random(f"{seed}\n{example.premise}\n{example.hypothesis}\nlonger")
        short = example.kind == SENTENCE_PAIR
        if not found or (not short and not example.focus) or (short and chance.random() < 0.5):
            continue
        core = example.premise if short else example.focus
        around = chance.choice(found)
        if around.topics[0] in example.topics or len(core) > 600:
            continue
        place = chance.randint(0, len(around.sentences))
        others = around.sentences[max(0, place - 3) : place], around.sentences[place : place + 2]
        if not any(others):
            continue
        premise = " ".join((*others[0], core, *others[1]))
        rule = "short pair in a text" if short else "evidence in a longer text"
        if short or (example.label != NEUTRAL and example.hypothesis != core):
            yield rule, [Example(SET, rule, premise, example.hypothesis, example.label, example.topics, core)]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path, help="the folder of public data sets")
    arguments.add_argument("--per-kind", type=int, default=3)
    options = arguments.parse_args()
    training = split_by_topic([*sentence_sets(options.data), *evidence_sets(options.data)])[Part.TRAINING]
    by_kind: dict[str, list[Example]] = defaultdict(list)
    for example in hard_pairs(training):
        by_kind[example.kind].append(example)
    for kind, pairs in sorted(by_kind.items()):
        for example in pairs[: options.per_kind]:
            print(
                f"[{kind}] {example.label.upper()}\n  P: {example.premise}\n  F: {example.focus}\n  H: {example.hypothesis}\n"
            )
    for kind, pairs in sorted(by_kind.items()):
        print(f"{len(pairs):6} {kind}")
    labels = Counter(example.label for pairs in by_kind.values() for example in pairs)
    print(", ".join(f"{label}: {labels[label]}" for label in LABELS))


if __name__ == "__main__":
    main()
