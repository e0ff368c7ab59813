"""The features of a pair for the lexical relation model: how much of a claim the best sentence covers, and what disagrees.

Names are read from the claim only, so a lower-cased premise works as well. Each feature is a plain number that a person can
check by hand; `model.py` weighs them.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from localfact.relations.lexical.polarity import denies
from localfact.relations.lexical.statements import ParsedClaim, Premise, Window
from localfact.relations.lexical.tokens import LexicalToken, is_detail, stem

#: How much more of a claim two neighbouring sentences must cover than one alone to be used instead.
TWO_SENTENCE_PENALTY = 0.05
#: Disagreeing details only count where more than this share of the rest of the claim is covered.
REST_COVERED = 0.4
#: With this share of its words missing, the subject is another one (a namesake).
SUBJECT_LOST = 0.5
#: A premise of fewer tokens is a single statement: details that it lacks are more likely denied than left open.
SHORT_PREMISE = 40

#: Two words a line that cannot both be true of one thing.
OPPOSITES_FILE = Path(__file__).with_name("opposites.txt")


class Features(NamedTuple):
    """The features of one pair, all in [0, 1] but the two lengths. Shares are of idf weight; of names and numbers, of stems.

    The best window is the sentence, or the two neighbouring ones, that covers most of the claim. The claim's subject counts as
    covered there if it stands anywhere in the premise, for texts go on with "he" and "it". A conflict is scaled by how well the
    rest of the claim is covered, and is 0 when half of the subject is missing: then the premise is about a namesake.

    Attributes:
        coverage: share of the claim that the best window holds.
        whole_coverage: that the premise holds, all in all.
        said: share of the claim without its subject that the window holds, if it has the subject; `above`: how far beyond.
        said_in_full: the window holds all of the claim.
        bigrams: share of the claim's pairs of neighbours that are neighbours in the window.
        largest_gap: share of the claim that its weightiest missing word makes up.
        one_gap: all missing words stand together.
        subject_missing: share of the subject that the premise lacks.
        other_subject: how much is said, but of another; 0 in a short premise.
        names_missing, numbers_missing: share that the window lacks; `elsewhere`: of that, what the premise has elsewhere.
        name_conflict: names that the premise lacks. year_, number_, month_conflict: the window has another instead, and
            the word that it is said of.
        slot_conflict: where a word is missing, the two words beside it are neighbours in the window too.
        opposite: the window has the opposite of a missing word, beside the same neighbour.
        premise_length, claim_length: ln(1 + tokens).
        short_premise: fewer tokens than SHORT_PREMISE.
        short_uncovered: what such a one leaves out.
    """

    coverage: float = 0.0
    whole_coverage: float = 0.0
    said: float = 0.0
    said_above_half: float = 0.0
    said_above_80: float = 0.0
    said_in_full: float = 0.0
    bigrams: float = 0.0
    largest_gap: float = 0.0
    one_gap: float = 0.0
    subject_missing: float = 0.0
    other_subject: float = 0.0
    names_missing: float = 0.0
    names_elsewhere: float = 0.0
    numbers_missing: float = 0.0
    numbers_elsewhere: float = 0.0
    name_conflict: float = 0.0
    year_conflict: float = 0.0
    number_conflict: float = 0.0
    month_conflict: float = 0.0
    slot_conflict: float = 0.0
    opposite: float = 0.0
    premise_length: float = 0.0
    claim_length: float = 0.0
    short_premise: float = 0.0
    short_uncovered: float = 0.0


def compare(match: "Match") -> Features:
    """The features of a pair; all 0 where either text has no words."""
    claim, premise = match.claim, match.premise
    if not claim.tokens or not premise.length:
        return Features()
    numbers = claim.details(attrgetter("number")) | claim.details(attrgetter("year"))
    short = premise.length < SHORT_PREMISE
    return Features(
        coverage=match.share(match.covered, claim.weights),
        whole_coverage=match.share(match.anywhere, claim.weights),
        said=match.said,
        said_above_half=max(0.0, match.said - 0.5),
        said_above_80=max(0.0, match.said - 0.8),
        said_in_full=float(not match.gaps),
        bigrams=match.bigram_share(),
        largest_gap=max((claim.weights[gap] for gap in match.gaps), default=0.0) / (claim.total or 1.0),
        one_gap=match.scale * (match.runs_of_gaps() == 1),
        subject_missing=match.subject_missing,
        other_subject=(not short) * match.subject_missing * match.predicate,
        names_missing=ratio(claim.names - match.covered, claim.names),
        names_elsewhere=ratio(claim.names & match.anywhere - match.covered, claim.names),
        numbers_missing=ratio(numbers - match.covered, numbers),
        numbers_elsewhere=ratio(numbers & match.anywhere - match.covered, numbers),
        name_conflict=match.scale * ratio(claim.names - match.anywhere, claim.names),
        year_conflict=match.scale * match.has_another(attrgetter("year")),
        number_conflict=match.scale * match.has_another(attrgetter("number")),
        month_conflict=match.scale * match.has_another(attrgetter("month")),
        slot_conflict=match.scale * match.has_filled_slot(),
        opposite=match.scale * match.has_opposite,
        premise_length=math.log1p(premise.length),
        claim_length=math.log1p(len(claim.tokens)),
        short_premise=float(short),
        short_uncovered=short * (1 - match.predicate),
    )


def best_window(claim: ParsedClaim, premise: Premise) -> Window:
    """The sentence, or two neighbouring ones, that covers most of the claim; the shorter and earlier of equals."""
    alone = [0.0] * len(premise.sentences)
    common = [0.0] * len(premise.sentences)  # the weight that a sentence shares with the one after it
    for word, weight in claim.weights.items():
        previous = None
        for index in premise.places.get(word, ()) if word not in claim.subject else ():
            alone[index] += weight
            if previous == index - 1:
                common[previous] += weight
            previous = index
    first = max(range(len(alone)), key=alone.__getitem__)
    best, most = (first,), alone[first] + TWO_SENTENCE_PENALTY * claim.total
    together = [alone[index] + alone[index + 1] - common[index] for index in range(len(alone) - 1)]
    if together and max(together) > most:
        second = together.index(max(together))
        return (second, second + 1)
    return best


@dataclass(frozen=True)
class Match:
    """A claim compared with the best window of a premise."""

    claim: ParsedClaim
    premise: Premise

    @cached_property
    def window(self) -> Window:
        """The sentences that are compared."""
        return best_window(self.claim, self.premise)

    @cached_property
    def anywhere(self) -> frozenset[str]:
        """The claim's stems that the premise has."""
        return frozenset(word for word in self.claim.weights if word in self.premise.places)

    @cached_property
    def covered(self) -> frozenset[str]:
        """The claim's stems found in the window, and its subject's stems found in the premise."""
        subject = self.claim.subject
        return frozenset(word for word in self.anywhere if word in subject or self.premise.holds(self.window, word))

    @cached_property
    def gaps(self) -> list[str]:
        """The claim's stems that are not covered, in order."""
        return [word for word in self.claim.weights if word not in self.covered]

    @cached_property
    def subject_missing(self) -> float:
        """The share of the subject's stems that the premise lacks."""
        return ratio(self.claim.subject - self.anywhere, self.claim.subject)

    @cached_property
    def predicate(self) -> float:
        """The share of the claim without its subject that is covered; 1 where it has no other words."""
        rest = self.claim.weights.keys() - self.claim.subject
        return self.share(self.covered, rest) if rest else 1.0

    @cached_property
    def said(self) -> float:
        """`predicate` times the share of the subject that the premise has."""
        return self.predicate * (1 - self.subject_missing)

    @cached_property
    def scale(self) -> float:
        """How much a differing detail counts, in [0, 1]: more, the better the rest of the claim is covered."""
        details = self.claim.names | self.claim.details(is_detail)
        rest = self.share(self.covered, self.claim.weights.keys() - details)
        return max(0.0, rest - REST_COVERED) / (1 - REST_COVERED) * max(0.0, 1 - self.subject_missing / SUBJECT_LOST)

    @cached_property
    def neighbours(self) -> list[bool]:
        """For each pair of neighbours in the claim, whether they are neighbours in the window too."""
        stems = [token.stem for token in self.claim.tokens]
        return [self.premise.holds_pair(self.window, left, right) for left, right in pairwise(stems)]

    @cached_property
    def is_denied(self) -> bool:
        """Whether either text denies what both speak of."""
        return denies(self.claim, self.premise, self.window, self.covered)

    @cached_property
    def tells_other_event(self) -> bool:
        """Whether the window tells the opposite with another date or number: who was born in 1950 can have died in 2010."""
        return self.has_opposite and not self.claim.details(is_detail) <= self.covered

    def share(self, part: Collection[str], whole: Collection[str]) -> float:
        """The share of the weight of `whole` that is also in `part`; 0 where `whole` is empty."""
        weights = [(word, weight) for word, weight in self.claim.weights.items() if word in whole]
        total = sum(weight for _, weight in weights)
        return sum(weight for word, weight in weights if word in part) / total if total else 0.0

    def bigram_share(self) -> float:
        """The share of the claim's pairs of neighbours that are neighbours in the window, by the weight of their words."""
        weights = [
            self.claim.weights[left.stem] + self.claim.weights[right.stem] for left, right in pairwise(self.claim.tokens)
        ]
        total = sum(weights)
        return sum(weight for weight, held in zip(weights, self.neighbours, strict=True) if held) / total if total else 0.0

    def has_another(self, kind: Callable[[LexicalToken], bool]) -> bool:
        """Whether the window lacks a detail of the claim and has another of its kind, and for a date what it is said of."""
        own = self.claim.details(kind)
        if own <= self.covered or self.premise.details(self.window, kind) <= own:
            return False
        told = zip(self.claim.tokens, self.claim.governors, strict=True)
        missing = ((token, word) for token, word in told if kind(token) and token.stem not in self.covered)
        return any(token.number or word in ("", *self.covered) for token, word in missing)

    def runs_of_gaps(self) -> int:
        """How many runs of missing content words the claim has, between covered ones."""
        tokens = zip(self.claim.tokens, self.claim.content, strict=True)
        missing = [token.stem not in self.covered for token, content in tokens if content]
        return sum(now and not before for before, now in pairwise([False, *missing]))

    def has_filled_slot(self) -> bool:
        """Whether two words right before or right after a missing content word are neighbours in the window."""
        for place, (token, content) in enumerate(zip(self.claim.tokens, self.claim.content, strict=True)):
            if content and token.stem not in self.covered:
                before = place >= 2 and self.neighbours[place - 2]
                after = place + 1 < len(self.neighbours) and self.neighbours[place + 1]
                if before or after:
                    return True
        return False

    @cached_property
    def has_opposite(self) -> bool:
        """Whether the window has the opposite of a missing word, next to the word that is its neighbour in the claim."""
        stems = ["", *(token.stem for token in self.claim.tokens), ""]
        opposites = read_opposites()
        return any(
            self.premise.holds_pair(self.window, before, opposite) or self.premise.holds_pair(self.window, opposite, after)
            for before, word, after in zip(stems, stems[1:], stems[2:], strict=False)
            if word not in self.covered
            for opposite in opposites.get(word, ())
        )


def ratio(part: Collection[str], whole: Collection[str]) -> float:
    """The share of the stems of `whole` that are in `part`; 0 where `whole` is empty."""
    return len(part) / len(whole) if whole else 0.0


@cache
def read_opposites() -> dict[str, list[str]]:
    """Stem -> the stems that are its opposites, from OPPOSITES_FILE."""
    opposites: dict[str, list[str]] = {}
    for line in OPPOSITES_FILE.read_text(encoding="utf-8").splitlines():
        one, other = map(stem, line.split())
        opposites.setdefault(one, []).append(other)
        opposites.setdefault(other, []).append(one)
    return opposites
