"""Finds the lines of a response that are no prose: blocks of code, and references, with or without a heading above them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from localfact.claims.rules.checkworthy import DropReason
from localfact.claims.rules.markdown import PlainText
from localfact.records import Span

_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_FENCED_LINE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})[^`~\n]+(?P=fence)\s*$")
# A whole answer may stand between fences that say it is Markdown.
_PROSE_INFO = frozenset({"markdown", "md"})
_INDENTED = re.compile(r" {4,}|\t")
# What code has at its beginning or end and prose has not.
_LOOKS_LIKE_CODE = re.compile(
    r"\s*(?:[\w.\[\]]+ ?[-+*/|]?=(?!=) ?\S|[\w.]+\(.*\);?$|(?:def|class|for|if|while) .*:$|(?:import|from) [\w.]+$|"
    r"(?:const|let|var) \w+ ?=|function \w*\(|return\b(?! (?:to|of|from|in)\b).{0,60}$|public (?:class|static|void|int)\b|"
    r"(?:SELECT|INSERT) \S|#(?:include\b|!\S)|\$ (?=[a-z./])|(?:>>>|//) ?\S)|.*[=()\[\]].*;$|.*[{}]$"
)
_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪●–—]|\(?\d{1,3}[.)]|\(?[A-Za-z]\))\s")

_HEADING = re.compile(r"\s*(?:#{1,6}\s|(?P<bold>\*\*|__)[^*_]+(?P=bold):?\s*$)")
_REFERENCE_HEADING = re.compile(
    r"[\s#*_\d.]*(?i:(?:selected |annotated |select )?bibliography|(?:selected )?citations|external links|"
    r"(?:(?:suggested|recommended) (?:further )?|(?:for )?further |additional )reading(?:,? see)?|(?:foot|end)?notes and "
    r"references|footnotes|literature(?: cited)?|list of references|"
    r"(?:key |selected |main )?(?:references|sources)(?: cited| list| used| consulted)?|cited (?:sources|works)|"
    r"reference list|sources(?: cited| and further reading)?|web ?sources|works cited|quellen|literatur(?:verzeichnis)?|"
    r"referencias|bibliografía|références|bibliographie|参考文献|参考资料)[\s*_:：]*$"
)
# Notes are prose as often as not.
_NOTES_HEADING = re.compile(r"[\s#*_\d.]*(?i:(?:foot|end)?notes)[\s*_:]*$")
#: What an entry of a bibliography has and prose hardly ever.
_ENTRY = re.compile(
    r"\(\d{4}[a-z]?(?:, \w+(?: \d{1,2})?)?\)\.|\(n\.d\.\)|https?://|www\.|\bdoi\b|\bISBN\b|\bISSN\b|arXiv|\[(?:Online|Internet)\]|"
    r"\b(?:University|[A-Z]\w+) Press\b|\bPublish(?:ers|ing)\b|\bJournal of\b|\b[Vv]ol\. ?\d|\bpp?\. ?\d|\b[Ee]ds?\.[,)]|"
    r"\b(?:Retrieved|Accessed)\b|\bet al\.|^\W*(?:\[\^?\d+\]\s*)?[A-Z][\w'’-]+, (?:[A-Z]\. ?)+|"
    r"^\W*(?:\[\^?\d+\]\s*)?(?:[A-Z]\. ?){1,3}[A-Z][\w'’-]+(?:,| and )|\b(?:Wikipedia|Encyclop(?:æ|ae|e)dia|Britannica)\b|"
    # "Fox, Bo: ...", "Fox, Bo. 1998", "Fox B. The mills.", "1998;332:1-5", "Bell Press; 1998", "(Lyon, 1998), 23"
    r"^\W*(?:\(?\[?\^?\d+[.)\]]*\s*)?[A-Z][\w'’-]+, [A-Z][\w'’-]+(?: [A-Z]\.?)?(?:[:.]|,? \(\d{4})|"
    r"^\W*(?:\(?\[?\^?\d+[.)\]]*\s*)?[A-Z][\w'’-]+ [A-Z]{1,3}(?:, [A-Z][\w'’-]+ [A-Z]{1,3})*(?:, et al)?\. [A-Z]|"
    r"\d{4} ?; ?\d|\w; \d{4}\.|\([A-Z][\w ]{1,30}(?:: [\w' ]{1,40})?, \d{4}\)(?:, \d|\.$)|\b[Ii]bid\b"
)
_UNDERLINE = re.compile(r"\s*(?:=|-){3,}\s*$")
# An entry that needs no heading: marker, surname, initials, year.
_PLAIN_ENTRY = re.compile(r"\s*(?:\d{1,3}[.)]|\[\d{1,3}\]|[-*+•])\s+[A-Z][\w'’-]+, (?:[A-Z]\. ?)+.{0,120}\(?\b\d{4}\b")
_MARKED = re.compile(r"\s*(?:[-*+•]\s+)?\[\^?(?P<mark>\d{1,3})\]:?\s*\S")
_CONTINUES = re.compile(r"(?: {2,}|\t)\S")
_DEFINITION = re.compile(r"\s*\[\^?[\w-]{1,20}\]:\s*\S")
_SOURCE_LINE = re.compile(r"\W*(?i:sources?|references?|citations?|quellen?|fuentes?)[*_]*\s*[:：][*_]*\s*(?P<said>\S.*)$")


def hide_blocks(whole: PlainText, dropped: Counter[str]) -> PlainText:
    """Returns a response without its code and its references; counts blocks of the one and entries of the other."""
    lines = [(found.start(), found.group()) for found in re.finditer(r"[^\n]*\n|[^\n]+", whole.text)]
    texts = [line.rstrip() for _, line in lines]
    code = set(_code_lines(texts, dropped))
    entries = set(_reference_lines([("" if place in code else line) for place, line in enumerate(texts)]))
    dropped.update({DropReason.REFERENCE: len(entries)} if entries else {})
    # Their breaks stay, as what is before and behind them is not one line.
    return whole.without([(lines[place][0], lines[place][0] + len(texts[place])) for place in sorted(code | entries)])


class LinesApart(NamedTuple):
    """Lines of a response, as it was written, that are no prose: of blocks of code, and of references."""

    code: Sequence[Span]
    references: Sequence[Span]


def lines_apart(text: str) -> LinesApart:
    """Finds those lines; a heading of references in Markdown is none of them."""
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    spans = [Span(start=start, end=start + len(line)) for start, line in zip(starts, lines, strict=False)]
    texts = [line.rstrip() for line in lines]
    code = set(_code_lines(texts, Counter()))
    references = _reference_lines([("" if place in code else line) for place, line in enumerate(texts)])
    return LinesApart([spans[place] for place in sorted(code)], [spans[place] for place in references])


def _code_lines(texts: Sequence[str], dropped: Counter[str]) -> Iterator[int]:
    closing: str | None = None
    previous_blank, in_list, in_code = True, False, False
    flush = next((place for place, line in enumerate(texts) if line), 0)
    indented = sum(bool(_INDENTED.match(line)) for line in texts)
    may_be_indented = 2 * indented < sum(bool(line) for line in texts)
    quoted: str | None = None
    for place, line in enumerate(texts):
        fence = _FENCE.match(line)
        if closing is not None:
            ends = fence is not None and fence["fence"].startswith(closing) and not fence["info"]
            closing = None if ends else closing
            yield place
            continue
        if fence and quoted and fence["fence"].startswith(quoted) and not fence["info"]:
            quoted = None
            yield place
            continue
        if fence and fence["info"].strip().lower() in _PROSE_INFO:
            quoted = fence["fence"]
            yield place
            continue
        if fence or _FENCED_LINE.match(line):
            closing = fence["fence"] if fence else None
            dropped.update([DropReason.CODE])
            previous_blank = in_code = in_list = False
            yield place
            continue
        if not line:
            previous_blank = True
            continue
        deep = bool(_INDENTED.match(line))
        shows = may_be_indented or (place != flush and bool(_LOOKS_LIKE_CODE.match(line)))
        starts = deep and previous_blank and not in_list and shows and not _ITEM.match(line)
        if starts or (in_code and deep):
            dropped.update([] if in_code else [DropReason.CODE])
            in_code = True
            yield place
        else:
            in_code = False
            # What is indented below an item belongs to it.
            in_list = bool(_ITEM.match(line)) or (in_list and line[0].isspace())
        previous_blank = False


def _reference_lines(texts: Sequence[str]) -> Iterator[int]:
    """Yields the places of entries: below a heading of references, and where an entry shows by itself that it is one."""
    below, by_markdown, previous_blank, defines = False, False, True, False
    trailing = _trailing_marked(texts)
    for place, line in enumerate(texts):
        if not line.strip():
            previous_blank = True
            continue
        heads = _REFERENCE_HEADING.match(line) or _NOTES_HEADING.match(line)
        following = next((text for text in texts[place + 1 :] if text.strip()), "") if heads else ""
        underlined = place + 1 < len(texts) and bool(_UNDERLINE.match(texts[place + 1]))
        if heads and (_REFERENCE_HEADING.match(line) or _ENTRY.search(following)):
            by_markdown = bool(_HEADING.match(line)) or underlined
            below = by_markdown or _is_entry(following)
            if below and not _HEADING.match(line):
                yield place
        elif (_HEADING.match(line) and not _ITEM.match(line)) or (underlined and below):
            below = False
        elif defines and not previous_blank and not _ITEM.match(line) and _CONTINUES.match(line):
            yield place
            previous_blank = False
            continue
        else:
            ends = previous_blank and not by_markdown and not _is_entry(line)
            below = below and not ends
            if below or place in trailing or _DEFINITION.match(line) or _PLAIN_ENTRY.match(line) or _cites_only(line):
                yield place
            defines = bool(_DEFINITION.match(line))
        previous_blank = False


def _is_entry(line: str) -> bool:
    return bool(_ITEM.match(line) or _MARKED.match(line) or _ENTRY.search(line))


def _cites_only(line: str) -> bool:
    source = _SOURCE_LINE.match(line)
    return bool(source and (_ENTRY.search(source["said"]) or re.match(r"[\[(]", source["said"])))


def _trailing_marked(texts: Sequence[str]) -> frozenset[int]:
    """Returns the places of lines at the end that begin with a citation mark which the text before them uses."""
    found: set[int] = set()
    for place in range(len(texts) - 1, -1, -1):
        marked = _MARKED.match(texts[place])
        if marked is None:
            if texts[place].strip():
                break
            continue
        used = any(f"[{marked['mark']}]" in line or f"[^{marked['mark']}]" in line for line in texts[:place])
        if not used and not _ENTRY.search(texts[place]):
            break
        found.add(place)
    return frozenset(found)
