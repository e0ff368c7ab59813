"""Which responses of two runs belong together: by an id that the input gave, else by the prompt, else by prompt and text.

The number of a row is no id: it says nothing of another file, or of the same one in another order.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from localfact.errors import InputError
from localfact.records import Assessment

#: How a pair was found, in words; the order in which the ways are tried.
BY_ID, BY_PROMPT, BY_PROMPT_AND_TEXT, BY_TEXT = "id", "prompt", "prompt and text", "text"
#: Why a response has no partner, in words.
OTHER_PROMPT, AMBIGUOUS, ALONE = "another prompt under the same id", "ambiguous", "without a partner"


class Identity(NamedTuple):
    """What tells a response from others. `id` is None where its row was only counted, `prompt` where the input has none."""

    id: str | None
    prompt: str | None
    text: str


class Pairing(NamedTuple):
    """Places of the first and the second side that belong together, in the order of the first.

    Attributes:
        found_by: way -> how many pairs it found.
        left: of each side, reason -> how many responses have no partner.
    """

    pairs: list[tuple[int, int]]
    found_by: dict[str, int]
    left: tuple[Counter[str], Counter[str]]


def pair(first: Sequence[Identity], second: Sequence[Identity]) -> Pairing:
    """Finds the partner of each response.

    Two belong together that have one given id and equal prompts; of the others, those whose prompt stands once on each side;
    of what is left, those whose prompt and text stand once on each side, or whose text does where a side has no prompt.
    Answers of two models to one prompt are a pair. White space, and how Unicode writes a letter, make no difference.
    """
    first, second = [_in_one_form(one) for one in first], [_in_one_form(one) for one in second]
    partners: dict[int, int] = {}
    found_by: dict[str, int] = {}
    conflicts = 0
    ways: tuple[tuple[str, Callable[[Identity], Hashable | None]], ...] = (
        (BY_ID, lambda one: one.id),
        (BY_PROMPT, lambda one: one.prompt),
        (BY_PROMPT_AND_TEXT, lambda one: (one.prompt, one.text)),
        (BY_TEXT, lambda one: one.text or None),
    )
    left = set(range(len(first))), set(range(len(second)))
    for way, key_of in ways:
        ours, theirs = _places_of_unique_keys(first, key_of), _places_of_unique_keys(second, key_of)
        for key in ours.keys() & theirs.keys():
            one, other = ours[key], theirs[key]
            if one not in left[0] or other not in left[1]:
                continue
            if _have_one_prompt(first[one], second[other]):
                partners[one] = other
                found_by[way] = found_by.get(way, 0) + 1
            elif way == BY_ID:
                conflicts += 1
            else:
                continue
            left[0].discard(one)
            left[1].discard(other)
    # Rows that hold nothing at all (damaged ones) cannot be told apart, and need not be: no score reads them.
    empty = [sorted(at for at in places if not any(rows[at])) for places, rows in zip(left, (first, second), strict=True)]
    for one, other in zip(*empty, strict=False):
        partners[one] = other
        left[0].discard(one)
        left[1].discard(other)
    reasons = [Counter({OTHER_PROMPT: conflicts}) for _ in left]
    for reason, places, mine, others in zip(reasons, left, (first, second), (second, first), strict=True):
        reason.update(_reasons([mine[at] for at in places], others))
    return Pairing(sorted(partners.items()), found_by, (+reasons[0], +reasons[1]))


def pair_runs(
    first: Sequence[Assessment], second: Sequence[Assessment]
) -> tuple[list[tuple[Assessment, Assessment]], Mapping[str, int]]:
    """Pairs the responses of two runs that belong together.

    Returns:
        The pairs, in the order of the first run's input; and way ("id", "prompt", ...) -> how many pairs it found.

    Raises:
        InputError: a response of one run has no partner in the other, or none for certain; the message says how many and why.
    """
    first = sorted(first, key=lambda assessment: assessment.index)
    pairing = pair([identity_of(one) for one in first], [identity_of(one) for one in second])
    refused = pairing.left[0] | pairing.left[1]
    if refused:
        why = ", ".join(f"{number} {reason}" for reason, number in refused.items())
        raise InputError(
            f"The two runs are not over the same responses: of {len(first)} and {len(second)}, {len(pairing.pairs)} belong "
            f"together for certain ({why}). Compare runs of the same data file; an id in each row tells what belongs together "
            "where prompts or texts are equal, or texts were changed."
        )
    return [(first[one], second[other]) for one, other in pairing.pairs], pairing.found_by


def identity_of(assessment: Assessment) -> Identity:
    """What tells an assessed response from others."""
    return Identity(assessment.response_id if assessment.id_given else None, assessment.prompt, assessment.text)


def _in_one_form(one: Identity) -> Identity:
    prompt, words = (text and " ".join(unicodedata.normalize("NFC", text).split()) for text in (one.prompt, one.text))
    return Identity(one.id, prompt or None, words or "")


def _places_of_unique_keys(rows: Sequence[Identity], key_of: Callable[[Identity], Hashable | None]) -> dict[Hashable, int]:
    """Key -> the place of the only row that has it."""
    keys = [key_of(row) for row in rows]
    times = Counter(keys)
    return {key: place for place, key in enumerate(keys) if key is not None and times[key] == 1}


def _have_one_prompt(one: Identity, other: Identity) -> bool:
    """Whether the prompts are equal; where one side alone has a prompt, whether the texts are."""
    return one.prompt == other.prompt or (None in (one.prompt, other.prompt) and one.text == other.text)


def _reasons(left: Sequence[Identity], others: Sequence[Identity]) -> Iterator[str]:
    """Why each of the responses has no partner among the others."""
    prompts = {other.prompt for other in others} - {None}
    texts = {(other.prompt, other.text) for other in others}
    for one in left:
        yield AMBIGUOUS if one.prompt in prompts or (one.prompt, one.text) in texts else ALONE
