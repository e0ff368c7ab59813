"""Claims from an answer that a model wrote as JSON, though it was not asked to. Read by pattern: such JSON is often broken."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from localfact.claims.label_words import ANNOUNCEMENT, label_in
from localfact.records import Span
from localfact.vocabulary import PreVerificationLabel

_STRING = r'"(?:[^"\\]|\\.)*"'
_BEGINS = re.compile(r"\s*(?:```\w*\s*)?[\[{]")
_OBJECT = re.compile(r"\{[^{}]*\}")
_PAIR = re.compile(rf"(?P<key>{_STRING})\s*:\s*(?P<value>{_STRING})")
_LISTED = re.compile(rf"(?P<before>[\[,]\s*)(?P<value>{_STRING})(?=\s*[,\]])")
_CLAIM_KEY = re.compile(r"(?:atomic[ _]?)?(?:claim|fact|statement|unit|text)(?:[ _]?\d+)?|\d+", re.IGNORECASE)
_LABEL_KEY = re.compile(rf"{ANNOUNCEMENT}|classification|rating", re.IGNORECASE)


class JsonClaim(NamedTuple):
    """A claim and its place in the answer; its label, None if unreadable, and the place where the label stands or belongs."""

    text: str
    span: Span
    label: PreVerificationLabel | None
    label_span: Span


def json_claims(answer: str, start: int) -> list[JsonClaim]:
    """The claims in answer[start:] if it is JSON: a list of objects or strings, or an object with numbered keys; else []."""
    if not _BEGINS.match(answer, start):
        return []
    objects = [claim for found in _OBJECT.finditer(answer, start) for claim in _of_object(answer, *found.span())]
    return objects or [_unlabelled_claim(found) for found in _LISTED.finditer(answer, start) if _string(found["value"])]


def _of_object(answer: str, start: int, end: int) -> Iterator[JsonClaim]:
    pairs = [(_string(found["key"]), found) for found in _PAIR.finditer(answer, start, end)]
    claims = [found for key, found in pairs if _CLAIM_KEY.fullmatch(key)]
    labels = [found for key, found in pairs if _LABEL_KEY.fullmatch(key)]
    if len(claims) == len(labels) == 1:
        yield _labelled_claim(claims[0], labels[0])
    else:
        yield from map(_unlabelled_claim, claims)


def _labelled_claim(claim: re.Match[str], label: re.Match[str]) -> JsonClaim:
    span, place = _inside(claim), _inside(label)
    word = label_in(label["value"][1:-1], place.start)
    where = Span(start=word.start, end=word.end) if word else Span(start=place.start, end=place.start)
    return JsonClaim(_string(claim["value"]), span, word.label if word else None, where)


def _unlabelled_claim(claim: re.Match[str]) -> JsonClaim:
    span = _inside(claim)
    return JsonClaim(_string(claim["value"]), span, None, Span(start=span.end, end=span.end))


def _inside(found: re.Match[str]) -> Span:
    """The place of a value without its quotation marks."""
    return Span(start=found.start("value") + 1, end=found.end("value") - 1)


def _string(written: str) -> str:
    try:
        return str(json.loads(written, strict=False)).strip()
    except ValueError:
        return written[1:-1]
