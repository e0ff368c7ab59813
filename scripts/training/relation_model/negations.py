"""Puts a negation into a plain sentence, or takes one out, so that the two contradict each other."""

import random
import re
from collections.abc import Iterator, Mapping

from scripts.training.relation_model.rule_words import FIRST_NAMES, IRREGULAR_PASTS, PRESENTS
from scripts.training.relation_model.sentence_edits import NEGATION, Edit

_AUXILIARY = re.compile(
    r"\b(?:is|was|are|were|has been|have been|had been|can|will)\b(?! (?:also|only|just|still|often|some|usually|either|both))"
)
#: Up to the main verb there may be no second clause, whose verb would be taken for it.
_ELSEWHERE = re.compile(
    r",|;|:|\b(?:that|which|who|whose|whom|where|when|while|once|although|though|because|if|as|since|and|or|what|how|why"
    r"|some|all|many"
    r"|most|every|each|any|several|both|there|only)\b",
    re.IGNORECASE,
)
_SUBJECT = r"^(?:He|She|It|They|(?:The |This )?[A-Z][a-z]+(?: [A-Z][a-z]+){0,3}|The [a-z]+)"
_PAST = re.compile(
    rf"{_SUBJECT} (?P<verb>[a-z]+ed|{'|'.join(verb for verb in IRREGULAR_PASTS if verb != 'was')})(?= (?P<next>[a-z]+|[A-Z\d]))"
)
_PRESENT = re.compile(rf"{_SUBJECT} (?P<verb>{'|'.join(PRESENTS)})(?= [a-zA-Z\d])")
_NEGATED_AUXILIARY = re.compile(
    r"\b(?P<verb>is|was|are|were|has|have|had|can|could|will|would|do|did|does)(?:n't| not|(?<=can)not)\b"
    r"(?! (?:only|just|necessarily|all|every|always|yet|the only|even|a single|any|simply|merely|until|enough|because"
    r"|been|so|ever))"
)
#: Before a negation: what makes it one of a part of the sentence, whose loss need contradict nothing.
_SUBORDINATE = re.compile(r"\b(?:who|whom|that|which|if|when|where|although|though|while|unhappy|so|maybe)\b", re.IGNORECASE)
_POLARITY = re.compile(r"\b(?:any|anyone|anything|ever|yet|either|at all|until|but|because|unless|much|enough|rather|nor)\b")


def negated(sentence: str, vocabulary: Mapping[str, int], chance: random.Random) -> Edit | None:
    """The sentence denied; None where it has a negation or its main verb is not sure.

    Args:
        sentence: a plain statement.
        vocabulary: how often a lower-case word occurs, by which the infinitive of a regular past is told.
        chance: which of the possible forms is taken.
    """
    if NEGATION.search(sentence) or re.search(
        r"\b(?:some|sometimes|may|might|could|but|although|though)\b", sentence, re.IGNORECASE
    ):
        return None
    forms = list(_denials(sentence, vocabulary))
    if not forms:
        return None
    kind, words = chance.choice(forms)
    if chance.random() < 0.04:  # it is a stiff thing to say, and no more than this much of the pairs
        kind, words = "it is not true that", f"It is not true that {_lowered(sentence)}"
    return Edit(kind, "", "", words)


def _denials(sentence: str, vocabulary: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    found = _AUXILIARY.search(sentence)
    if found and not _ELSEWHERE.search(sentence[: found.start()]) and not _has_verb(sentence[: found.start()]):
        first, *others = found.group().split()
        rest = "".join(f" {other}" for other in others)
        before, after = sentence[: found.start()], sentence[found.end() :]
        yield "not after the auxiliary", f"{before}{'cannot' if first == 'can' else f'{first} not'}{rest}{after}"
        yield "contracted not", f"{before}{_contracted(first)}{rest}{after}"
        yield "never", f"{before}{first} never{rest}{after}"
        if first in ("is", "are"):
            yield "no longer", f"{before}{first} no longer{rest}{after}"
    elif past := _PAST.search(sentence):
        if past.group("next") not in ("by",) and (base := infinitive(past.group("verb"), vocabulary)):
            before, after = sentence[: past.start("verb")], sentence[past.end("verb") :]
            for form in ("did not", "didn't", "never", "failed to"):
                yield form, f"{before}{form} {past.group('verb') if form == 'never' else base}{after}"
    elif present := _PRESENT.search(sentence):
        before, after = sentence[: present.start("verb")], sentence[present.end("verb") :]
        yield "does not", f"{before}does not {PRESENTS[present.group('verb')]}{after}"
        yield "no longer", f"{before}no longer {present.group('verb')}{after}"


def _has_verb(before: str) -> bool:
    """Whether a participle or a verb stands in what should be the subject alone."""
    return re.search(r"\b(?:has|have|had|did|does|do|would|should|[a-z]{3,}ed|said|says)\b", before) is not None


def _contracted(auxiliary: str) -> str:
    return {"can": "can't", "will": "won't"}.get(auxiliary, f"{auxiliary}n't")


def _lowered(sentence: str) -> str:
    """The sentence as it stands after other words: its first word small where it is no name."""
    first = sentence.split()[0]
    common = first in ("He", "She", "It", "They", "The", "This", "These", "In", "A", "An", "His", "Her", "Its", "Their")
    return sentence[0].lower() + sentence[1:] if common and first not in FIRST_NAMES else sentence


def affirmed(sentence: str, vocabulary: Mapping[str, int]) -> Edit | None:
    """The sentence without its only negation; None where it has none, more, or one of a part of it alone."""
    places = list(_NEGATED_AUXILIARY.finditer(sentence))
    if len(places) != 1 or len(NEGATION.findall(sentence)) != 1 or _POLARITY.search(sentence):
        return None
    found = places[0]
    if _SUBORDINATE.search(sentence[: found.start()]):
        return None
    before, verb, after = sentence[: found.start()], found.group("verb"), sentence[found.end() :]
    if verb not in ("do", "did", "does"):
        return Edit("negation taken out", found.group(), verb, f"{before}{verb}{after}")
    following = re.match(r" ([a-z]+)\b", after)
    if following is None or not (form := _finite(following.group(1), verb, vocabulary)):
        return None
    return Edit("negation taken out", found.group(), form, f"{before}{form}{after[following.end() :]}")


def _finite(base: str, auxiliary: str, vocabulary: Mapping[str, int]) -> str | None:
    """The form of a verb that needs no auxiliary; None where no text has it."""
    if auxiliary == "do":
        return base
    if auxiliary == "does":
        forms = [present for present, other in PRESENTS.items() if other == base] or [f"{base}s", f"{base}es"]
    else:
        forms = [past for past, other in IRREGULAR_PASTS.items() if other == base] or [
            f"{base}ed",
            f"{base}d",
            f"{base[:-1]}ied",
        ]
    return max((form for form in forms if vocabulary.get(form)), key=lambda form: vocabulary[form], default=None)


def infinitive(past: str, vocabulary: Mapping[str, int]) -> str | None:
    """The infinitive of a past form; None where the vocabulary has none that fits."""
    if past in IRREGULAR_PASTS:
        return IRREGULAR_PASTS[past]
    stem = past.removesuffix("ed")
    forms = [stem, f"{stem}e"]
    if stem.endswith("i"):
        forms.append(f"{stem[:-1]}y")
    if len(stem) > 2 and stem[-1] == stem[-2]:
        forms.append(stem[:-1])
    return max((form for form in forms if vocabulary.get(form)), key=lambda form: vocabulary[form], default=None)
