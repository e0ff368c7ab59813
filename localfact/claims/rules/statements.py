"""Reads a response as statements: its sentences that state something checkable, each with the claims that rules find in it.

Every extractor that takes a response apart sentence by sentence begins here. The rules for splitting and for pronouns know
English only; a response in another language gives whole sentences.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from localfact import text
from localfact.claims.rules.checkworthy import ENDED, DropReason, drop_reason
from localfact.claims.rules.clauses import split_clauses
from localfact.claims.rules.lists import sentence_of
from localfact.claims.rules.markdown import PlainText
from localfact.claims.rules.outline import Line, read_outline
from localfact.claims.rules.people import is_topic, may_be_person
from localfact.claims.rules.refusals import follows_refusal, refuses
from localfact.claims.rules.subject import Subject, dominant_pronoun, guess_topic, usable_topic
from localfact.claims.rules.tables import row_sentences
from localfact.records import Response, Span

# How many sentences at the beginning are searched for the topic.
OPENING_SENTENCES = 3

# A connective or introduction at the beginning of a sentence.
_OPENING = re.compile(
    r"(?:(?i:additionally|also|but|consequently|even so|finally|for example|for instance|furthermore|hence|however|in addition|"
    r"in conclusion|in fact|in short|in summary|indeed|instead|interestingly|likewise|meanwhile|moreover|nevertheless|"
    r"nonetheless|notably|overall|similarly|specifically|still|(?:having |with )?that (?:being )?said|"
    r"therefore|thus|ultimately), |"
    r"[Ii]t(?: is|['’]s) (?:also )?(?:important to note|notable|worth noting|known) that |Note that |"
    r"[Ww]hat (?:is|(?:I|we) (?:can|do)?) ?(?:certain|clear|confirm|know|known|say|tell you|well known) is that |"
    r"I (?:can (?:confirm|say|tell you)|do know) that |(?:As far as|From what) I know, )+"
)
# A caveat of whoever answers, in the sentence that states something behind it. A title ("My Fair Lady") is none.
_CAVEAT = re.compile(
    r"(?:Although|Even though|Though|While) (?:I|my)(?:['’](?:m|ve))? (?=[a-z])[^,;]{3,160}, |"
    r"(?:[A-Z][\w'’ ]{1,40}, ){0,2}(?:I|My)(?:['’]m|['’]ve)? (?=[a-z])[^,;.]{3,160}[,;] (?:but|however,?|yet) (?=\S)"
)
_FREQUENT = re.compile(r"\b(?i:an?|and|as|at|by|for|from|has|he|her|his|in|is|it|of|on|she|that|the|to|was|were|with)\b")
# The least share of those words in a text that is surely English.
LEAST_FREQUENT = 0.1
_COMMA_IN_QUOTES = re.compile(r",(?=[\"”]$)")


@dataclass(frozen=True)
class Statement:
    """A sentence that states something checkable.

    Attributes:
        text: without markup and without its connective; an item of a list or a cell of a table is completed to a sentence.
        span: its place in the response.
        claims: those that the rules cut from it, at least one, each with its place.
        topic: what the response is about, as far as that is known.
        english: whether the response is in English.
    """

    text: str
    span: Span
    claims: tuple[tuple[str, Span], ...]
    topic: str | None
    english: bool


def statements(response: Response, dropped: Counter[str]) -> Iterator[Statement]:
    """Yields the statements of a response in order; counts its other sentences in `dropped`, by reason."""
    english = _is_english(response.text)
    lines = list(read_outline(response.text, dropped))
    prose = [line.text.text for line in lines if not line.row]
    if len(prose) == len(lines) and _abstains([_complete(line, "It", english=english).text for line in lines], english=english):
        dropped[DropReason.ABSTENTION] += len(prose)
        return
    topic = usable_topic(response.topic) or guess_topic(response.prompt, prose[:OPENING_SENTENCES])
    read = "\n".join(line.text.text for line in lines)
    of_person = dominant_pronoun(read) in ("he", "she")
    subjects = _Subjects(topic, read, lines)
    for line, sentence in _sentences(lines, topic, dropped, english=english):
        begin = _begin_of_statement(sentence.text) if english else 0
        stated = sentence.part(begin)
        if reason := drop_reason(stated.text, topic=topic or "", english=english):
            dropped[reason] += 1
            continue
        if _CAVEAT.search(sentence.text, 0, begin + 1):  # it looks at one character behind itself
            dropped[DropReason.TALK] += 1
        whole = stated.span(0, len(stated.text))
        claims = [(stated.text, whole)]
        if english:
            subject = subjects.under(line.heading)
            if line.item:
                subject.begin_item()
            elif line.first:
                subject.begin_line()
            subject.read(stated.text)
            clauses = split_clauses(stated.text, of_person=of_person)
            claims = [
                (
                    finish_claim(subject.resolve(clause.text, clause.subject_at(stated.text)), sentence.text),
                    stated.span(clause.start, clause.end),
                )
                for clause in clauses
            ]
        yield Statement(stated.text, whole, tuple(claims), topic, english)


def _is_english(response_text: str) -> bool:
    """Whether the rules for English apply; a text with few of its frequent words is looked at more closely."""
    if text.language(response_text) != "en":
        return False
    sample = response_text[: text.LANGUAGE_SAMPLE]
    frequent = len(_FREQUENT.findall(sample)) >= LEAST_FREQUENT * text.word_count(sample)
    return frequent or text.foreign_language(response_text, ("en",)) is None


def _begin_of_statement(sentence: str) -> int:
    """Returns where a sentence states something, behind connectives and a caveat of whoever answers."""
    begin = 0
    while found := _OPENING.match(sentence, begin) or _CAVEAT.match(sentence, begin):
        begin = found.end()
    return begin if len(sentence) > begin else 0


def _abstains(prose: Sequence[str], *, english: bool) -> bool:
    """Whether the sentences of a response decline to answer: one at its beginning refuses, and nothing behind it is stated."""
    stated = [sentence[_begin_of_statement(sentence) :] if english else sentence for sentence in prose]
    return any(refuses(sentence) for sentence in prose[:OPENING_SENTENCES]) and all(
        follows_refusal(sentence) or drop_reason(sentence, english=english) is not None for sentence in stated
    )


def _complete(line: Line, subject: str | None, *, english: bool) -> PlainText:
    """Returns a line of prose as a sentence about the subject, or about what its heading names."""
    return sentence_of(line.text, line.heading or subject, item=line.item) if english and line.first else line.text


def _sentences(
    lines: Sequence[Line], topic: str | None, dropped: Counter[str], *, english: bool
) -> Iterator[tuple[Line, PlainText]]:
    """Yields every sentence with its line, those of lists and tables completed; counts the rows that give none."""
    for is_table, group in groupby(lines, key=lambda line: line.row):
        rows = list(group)
        if not is_table:
            for line in rows:
                yield line, _complete(line, topic, english=english)
            continue
        for line, found in zip(rows, row_sentences([row.text for row in rows], rows[0].heading or topic), strict=True):
            if not (english and found):
                dropped[DropReason.TABLE] += 1
            else:
                yield from ((line, sentence) for sentence in found)


class _Subjects:
    """Whom pronouns refer to: the thing that a heading names, under it, else the topic; nobody under somebody else's name."""

    def __init__(self, topic: str | None, response_text: str, lines: Sequence[Line]) -> None:
        self._whole = Subject(topic, response_text)
        self._headed: dict[str, Subject] = {}
        for heading in {line.heading for line in lines if line.heading}:
            under = " ".join(line.text.text for line in lines if line.heading == heading)
            # Where a topic is known, one word ("Construction") may be a side of it.
            thing = topic is None or (" " in heading and set(topic.split()).isdisjoint(heading.split()))
            if thing and dominant_pronoun(under) in ("it", "they"):
                self._headed[heading] = Subject(heading, under)
            elif may_be_person(heading) and not is_topic(heading, topic or ""):
                self._headed[heading] = Subject(None, under)

    def under(self, heading: str | None) -> Subject:
        return self._headed.get(heading or "", self._whole)


def finish_claim(claim: str, sentence: str) -> str:
    """Returns the claim with a full stop, and with a capital letter unless its sentence begins without one (iPhone, pH)."""
    claim = _COMMA_IN_QUOTES.sub("", claim)
    if not sentence.startswith(claim.split(" ", maxsplit=1)[0]):
        claim = claim[:1].upper() + claim[1:]
    return claim if ENDED.search(claim) else f"{claim}."
