"""Parses what a judge writes of claims: what is wrong with each, or what is missing (FastFact, appendix L).

Two forms are read: a line each with the label between signs, as our prompts ask for, and the blocks of the paper's: a heading
with a number, then a reasoning and a judgment. Nothing is guessed: a judgment that names two labels has none.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from localfact import text
from localfact.claims.lines import LONGEST_CLAIM, plain
from localfact.thoughts import thoughts
from localfact.vocabulary import ClaimFailure, MissingKind

#: A claim that repeats another, where the judge does not say in which of the two ways.
REPEATED = "repeated"
#: Why a claim has no label.
NO_LABEL = "no label that can be read for a claim"
#: What a judge writes -> what it means.
WRITTEN: Mapping[str, ClaimFailure] = {one.value.split()[0]: one for one in ClaimFailure}
WRITTEN_MISSING: Mapping[str, MissingKind] = {
    "removed": MissingKind.REMOVED,
    "missed": MissingKind.MISSED,
    "unextracted": MissingKind.MISSED,
}
_ACCEPTABLE = ClaimFailure.ACCEPTABLE.value
_SUBCATEGORIES: Mapping[str, ClaimFailure] = {
    r"\bsubjectiv": ClaimFailure.SUBJECTIVE,
    r"\btautolog": ClaimFailure.TAUTOLOGY,
    r"\bambigu": ClaimFailure.AMBIGUOUS,
    r"\bintra\W?sentence": ClaimFailure.INTRA_SENTENCE,
    r"\binter\W?sentence": ClaimFailure.INTER_SENTENCE,
}
_DECIDES = re.compile("|".join((*_SUBCATEGORIES, r"\bacceptable", *WRITTEN_MISSING)))
_LINE = re.compile(
    rf"^[\s*\-\[]{{0,4}}(?P<number>\d{{1,4}})\b.{{0,2000}}#{{1,5}}\s{{0,3}}(?P<label>{'|'.join(WRITTEN)})\b", re.IGNORECASE
)
_MISSING_LINE = re.compile(
    r"^[\s*\-\d.)]{0,8}(?P<statement>\S.{0,2000}?)\s{0,9}#{1,5}\s{0,3}(?P<kind>removed|missed)\b", re.IGNORECASE
)
# Of a block: its heading, perhaps with the claim; its parts; and what begins another example, which ends all blocks.
_BLOCK = re.compile(r"(?:missing )?sub-?claim #?(?P<number>\d{1,4})(?P<claim>$|[:.)].*)", re.IGNORECASE)
_PART = re.compile(r"(?P<name>reasoning|judge?ment|content of (?:the )?missing (?:sub-?)?claim)\b(?P<rest>.*)", re.IGNORECASE)
_OVER = re.compile(r"\s*(?:={5,}|#{1,5} ?given text\b)", re.IGNORECASE)
# Headings that do not begin a line.
_INSIDE = re.compile(
    r"(?<=\S)[ \t](?=#{1,5} ?(?:reasoning|judge?ment|content of)\b"
    r"|(?:missing )?sub-?claim \d{1,4} #{1,5} ?reasoning\b)",
    re.IGNORECASE,
)
_SIGNS = " \t#*`>"


@dataclass
class _Block:
    """A block of an answer: its number, and the lines of its parts."""

    number: int
    parts: dict[str, list[str]] = field(default_factory=lambda: {"reasoning": [], "judgment": [], "content": []})


def read_failures(answer: str, claims: int) -> list[ClaimFailure | str]:
    """The label of each of so many claims, by the numbers of an answer's blocks or lines.

    Returns:
        For each claim its label; REPEATED where the judge names no way of repeating; NO_LABEL where it has none.
    """
    said = answer[thoughts(answer).end :]
    found: dict[int, ClaimFailure | str] = {}
    if blocks := _blocks(said):
        for block in blocks:
            found.setdefault(block.number, _read_judgment(block.parts["judgment"]))
    else:
        lines = (_LINE.match(line) for line in said.splitlines())
        found = {int(read["number"]): WRITTEN[read["label"].lower()] for read in lines if read is not None}
    return [found.get(number, NO_LABEL) for number in range(1, claims + 1)]


def read_missing(answer: str, claims: Sequence[str]) -> list[tuple[str, MissingKind]]:
    """The statements of an answer with their kinds, each once, without those that are claims already."""
    said = answer[thoughts(answer).end :]
    stated: list[tuple[str, MissingKind]] = []
    if blocks := _blocks(said):
        for block in blocks:
            kinds = {kind for word, kind in WRITTEN_MISSING.items() if word in _first(block.parts["judgment"])}
            statement = " ".join(" ".join(block.parts["content"]).split())
            if len(kinds) == 1 and 0 < len(statement) <= LONGEST_CLAIM:
                stated.append((plain(statement), kinds.pop()))
    else:
        lines = (_MISSING_LINE.match(line) for line in said.splitlines())
        stated = [(" ".join(one["statement"].split()), MissingKind(one["kind"].lower())) for one in lines if one is not None]
    known = {text.normalise(claim) for claim in claims}
    found: dict[str, tuple[str, MissingKind]] = {}
    for statement, kind in stated:
        if (key := text.normalise(statement)) not in known:
            found.setdefault(key, (statement, kind))
    return list(found.values())


def _blocks(answer: str) -> list[_Block]:
    """The blocks of an answer that have a part; what the model goes on with behind them, another example, is left out."""
    lines = [line for line in _INSIDE.sub("\n", answer).splitlines() if line.strip(_SIGNS)]
    found: list[_Block] = []
    into: list[str] | None = None
    for line, below in pairwise([*lines, ""]):
        bare = line.strip(_SIGNS)
        heading, part = _BLOCK.fullmatch(bare), _PART.match(bare)
        if found and _OVER.match(line):
            break
        if heading is not None and (not heading["claim"].strip(" :.)*") or _PART.match(below.strip(_SIGNS))):
            found.append(_Block(int(heading["number"])))
            into = None
        elif found and part is not None and _is_heading(line, part["rest"]):
            into = found[-1].parts[_part(part["name"])]
            into.append(part["rest"].strip(_SIGNS + ":"))
        elif into is not None:
            into.append(line.strip(" \t`"))
    return [block for block in found if any(block.parts.values())]


def _is_heading(line: str, rest: str) -> bool:
    """Whether a line that begins with a part's name is its heading: by signs before it, or a colon or nothing behind it."""
    return line.lstrip()[0] in "#*" or not rest or rest.lstrip(_SIGNS).startswith(":")


def _part(name: str) -> str:
    word = name.lower().split()[0]
    return "judgment" if word.startswith("judg") else word


def _first(judgment: Sequence[str]) -> str:
    """The judgment itself, in small letters: the first line of its part, and the second where the first only begins it."""
    lines = [line.strip(" *_-").lower() for line in judgment if line.strip(" *_-")]
    return " ".join(lines[: 1 if lines and _DECIDES.search(lines[0]) else 2])


def _read_judgment(judgment: Sequence[str]) -> ClaimFailure | str:
    """What a judgment of the paper's form says of a claim: "Acceptable", or "Problematic: CATEGORY - SUBCATEGORY"."""
    said = _first(judgment)
    if said.startswith(_ACCEPTABLE):
        return ClaimFailure.ACCEPTABLE if "problematic" not in said else NO_LABEL
    named = {failure for word, failure in _SUBCATEGORIES.items() if re.search(word, said)}
    if len(named) == 1:
        return named.pop()
    return REPEATED if not named and "redundan" in said else NO_LABEL
