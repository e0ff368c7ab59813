"""Lines of key facts, as pages have them beside their text: "Founded: 1624" is read as what it says of the page's subject."""

import re
from dataclasses import replace

from localfact.records import Span
from localfact.relations.values.clauses import ReadClause, read_clauses
from localfact.relations.values.vocabulary import is_verb

#: Longer ones are sentences with a colon.
MOST_VALUE = 80
_LINE = re.compile(r"(?P<label>[A-Z][\w'’-]*(?: [\w'’-]+){0,3})\s?(?::|\|)\s(?P<value>[^\s.!?;:|][^!?;:|]*)")
_PARTICIPLE = re.compile(r"\b(?:by|in|at|on|into|from)$")


def read_key_fact(line: str) -> tuple[ReadClause, ...] | None:
    """The clauses of a line of key facts, with places as in the line; None for any other sentence."""
    found = _LINE.fullmatch(line)
    if found is None or len(found["value"]) > MOST_VALUE:
        return None
    label, value = found["label"].lower(), found["value"]
    if not is_verb(label.split()[0]):
        lead = f"Its {label} is "
    elif _PARTICIPLE.search(label):
        lead = f"It was {label} "
    else:
        lead = f"It {'' if label == 'died' else 'was '}{label} in "
    moved = found.start("value") - len(lead)
    return tuple(_place(clause, moved) for clause in read_clauses(lead + value))


def _place(clause: ReadClause, moved: int) -> ReadClause:
    values = [replace(value, span=_move(value.span, moved)) for value in clause.values]
    names = [bound._replace(name=replace(bound.name, span=_move(bound.name.span, moved))) for bound in clause.names]
    return replace(clause, values=tuple(values), names=tuple(names))


def _move(span: Span, by: int) -> Span:
    return Span(start=max(0, span.start + by), end=max(0, span.end + by))
