"""Extracts claims by rules: sentences that state something checkable, split into short self-contained pieces.

Needs no language model. The rules for splitting and for pronouns know English only; a response in another language gives whole
sentences.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator

from localfact import text
from localfact.claims.rules.checkworthy import ENDED, DropReason, abstains, drop_reason, structural_reason
from localfact.claims.rules.clauses import split_clauses
from localfact.claims.rules.markdown import PlainText, plain_text
from localfact.claims.rules.subject import Subject, guess_topic
from localfact.records import Claim, Extraction, Response, Span

# How many sentences at the beginning are searched for the topic.
OPENING_SENTENCES = 3

_REFERENCE_HEADING = re.compile(
    r"[\s#*_\d.]*(?i:bibliography|citations|external links|further reading|references|sources)[\s*_:]*$"
)
# A connective or introduction at the beginning of a sentence.
_OPENING = re.compile(
    r"(?:(?i:additionally|also|but|consequently|finally|for example|for instance|furthermore|hence|however|in addition|"
    r"in conclusion|in fact|in summary|indeed|instead|interestingly|likewise|meanwhile|moreover|nevertheless|notably|overall|"
    r"similarly|specifically|therefore|thus|ultimately), |"
    r"[Ii]t(?: is|['’]s) (?:also )?(?:important to note|notable|worth noting) that |Note that )+"
)
_COMMA_IN_QUOTES = re.compile(r",(?=[\"”]$)")


class RuleExtractor:
    """Extracts claims by rules: no model, nothing random."""

    async def extract(self, response: Response) -> Extraction:
        """Returns the claims in the order of the text, and in `dropped` the number of other sentences by `DropReason`.

        Equal claims (after `text.normalise`) are merged into one with the spans of all of them.
        """
        return await asyncio.to_thread(_extraction, response)


def states_something(text: str) -> bool:
    """Whether the rules find a claim in a text."""
    return next(_claims(Response(id="", text=text), Counter()), None) is not None


def _extraction(response: Response) -> Extraction:
    dropped: Counter[str] = Counter()
    texts: dict[str, str] = {}
    spans: dict[str, list[Span]] = {}
    for claim, span in _claims(response, dropped):
        key = text.normalise(claim)
        texts.setdefault(key, claim)
        spans.setdefault(key, []).append(span)
    claims = (Claim(id=f"c{number}", text=texts[key], spans=tuple(spans[key])) for number, key in enumerate(texts, start=1))
    return Extraction(claims=tuple(claims), dropped=dict(dropped))


def _claims(response: Response, dropped: Counter[str]) -> Iterator[tuple[str, Span]]:
    """Yields every claim with its place, also repeated ones; counts the sentences that give none."""
    english = text.language(response.text) == "en"
    prose = _prose(response.text, dropped)
    if abstains([sentence.text for sentence in prose]):
        dropped[DropReason.ABSTENTION] += len(prose)
        return
    topic = response.topic or guess_topic(response.prompt, [sentence.text for sentence in prose[:OPENING_SENTENCES]])
    subject = Subject(topic, response.text)
    for sentence in prose:
        opening = _OPENING.match(sentence.text) if english else None
        start = opening.end() if opening else 0
        statement = sentence.text[start:]
        if reason := drop_reason(statement, topic=topic or "", english=english):
            dropped[reason] += 1
        elif not english:
            yield statement, sentence.span(0, len(statement))
        else:
            subject.read(statement)
            for clause in split_clauses(statement):
                claim = _finished(subject.resolve(clause.text), sentence.text)
                yield claim, sentence.span(start + clause.start, start + clause.end)


def _prose(response_text: str, dropped: Counter[str]) -> list[PlainText]:
    """Returns the sentences without markup; counts headings, table rows and everything under a heading of references."""
    prose = []
    in_references = False
    for span in text.sentences(response_text):
        sentence = response_text[span.start : span.end]
        reason = structural_reason(sentence)
        if reason is DropReason.HEADING:
            in_references = bool(_REFERENCE_HEADING.match(sentence))
        elif reason is None and in_references:
            reason = DropReason.REFERENCE
        if reason:
            dropped[reason] += 1
        else:
            prose.append(plain_text(response_text, span))
    return prose


def _finished(claim: str, sentence: str) -> str:
    """Returns the claim with a full stop, and with a capital letter unless its sentence begins without one (iPhone, pH)."""
    claim = _COMMA_IN_QUOTES.sub("", claim)
    if not sentence.startswith(claim.split(" ", maxsplit=1)[0]):
        claim = claim[:1].upper() + claim[1:]
    return claim if ENDED.search(claim) else f"{claim}."
