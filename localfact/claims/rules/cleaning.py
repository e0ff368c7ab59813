"""Takes out of a response what is no prose, before its sentences are found; every character left keeps its offset.

Code, lists of references, tags of HTML, links and citation marks are no statements, and the sentence that has them is one.
"""

import html
import re
from collections import Counter

from localfact.claims.rules.blocks import hide_blocks
from localfact.claims.rules.citations import hide_citations
from localfact.claims.rules.lists import names_something
from localfact.claims.rules.markdown import PlainText, whole_text

# A backslash and an n, as data that was escaped once too often has them; "\nu" is a letter of LaTeX.
_ESCAPED_BREAK = re.compile(r"(?:\\r)?\\n(?![a-z])")
# A mark of Markdown that was told to be none; round and square brackets may be LaTeX's.
_ESCAPED_MARK = re.compile(r"\\(?=[!#*+.<>_`~|-])|\\(?=\[\^?\d{1,3}\\?\])|(?<=\[\d)\\(?=\])|(?<=\[\d\d)\\(?=\])")
_LATEX_STYLE = re.compile(r"\\(?:textbf|textit|emph|underline)\{(?P<shown>[^{}\n]{1,300})\}")
_ATTRIBUTES = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]{0,1000}\"|'[^'<>]{0,1000}'|[^\s<>\"']{1,300}))"
_TAG = re.compile(rf"<(?P<slash>/?)(?P<name>[A-Za-z][\w-]{{0,20}}){_ATTRIBUTES}{{0,20}}\s*/?>|<\|\w{{1,30}}\|>")
_CLOSED = re.compile(r"</([A-Za-z][\w-]{0,20})\s*>")
_BLOCK = re.compile(
    r"article|aside|blockquote|body|br|center|dd|div|dl|dt|figure|footer|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|table|tbody|"
    r"tfoot|thead|ul"
)
_INLINE = re.compile(
    r"a|abbr|b|big|cite|code|del|details|em|font|head|html|i|img|ins|kbd|mark|q|ref|s|small|span|strike|strong|sub|summary|sup|title|"
    r"tt|u|var|video|wbr"
)
# Whatever is between these is no prose.
_HIDDEN = re.compile(
    r"<!--.{0,20000}?-->|<(?P<name>script|style|svg|math|pre)\b[^<>]{0,1000}(?<!/)>.{0,20000}?</(?P=name)\s*>|"
    r"<ref\b[^<>]{0,300}(?:/>|>[^<>]{0,1000}</ref\s*>)|\\begin\{(?P<block>verbatim|lstlisting|minted)\}.{0,20000}?\\end\{(?P=block)\}",
    re.IGNORECASE | re.DOTALL,
)
# A number that is cited: in brackets, or as a sentence may have it, too.
_CITE = re.compile(
    r"(?P<gap>[ \t]*)<cite\b[^<>]{0,300}>\s*(?:(?P<marked>[\[(][\[(\d\s,;–-]{1,20}[\])]{1,2})|"
    r"(?!\d{1,3},\d{3}\b)\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,6})\s*</cite\s*>"
    r"(?P<ended>(?=\s*(?:[.,;:!?)<]|\n|$|(?:and|but|or|which|while|who)\b)))?",
    re.IGNORECASE,
)
_WANTS_NUMBER = re.compile(r"(?:^|[\s(])(?:about|at|are|by|in|is|of|to|was|were)$", re.IGNORECASE)
_RAISED = re.compile(r"<sup\b[^<>]{0,200}>\s*(?:<a\b[^<>]{0,500}>)?(?P<raised>[^<>]{0,40})(?:</a>)?\s*</sup>", re.IGNORECASE)
_RAISED_DIGITS = re.compile("[⁰¹²³⁴-⁹]+")
_FROM_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_NUMBERS = re.compile(r"[\[(]?\d{1,3}(?:\s?[,–-]\s?\d{1,3})*[\])]?")
# Behind a power of ten, a unit or a letter small raised digits are an exponent: 10⁶, km², x².
RAISED_NUMBER = re.compile(r"(?:(?<!\d)10|(?<![^\W\d_])[^\W\d_]{1,2}|(?i:miles|feet|met(?:er|re)s|inches|[kmc]m/s))$")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]{2,31}\d{0,2});")
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,300}~~ ?")
# A label in bold whose sentence follows without a colon.
_LABEL = re.compile(
    r"(?:^|(?<=[.!?] ))(?P<lead>[ \t]*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?)(?P<bold>\*\*|__)(?P<label>[A-Z][^*_\n:.]{1,60})(?P=bold)"
    r"(?P<gap>[ \t]+)(?=(?P<next>[A-Z]\w*))",
    re.MULTILINE,
)
_NEW_SENTENCE = re.compile(r"An?|As|At|Born|Her|His|In|Its?|On|She|He|The|Their|There|They|These|This")
# A table without bars at its edges, and the head of one in HTML.
_BARE_TABLE = re.compile(
    r"(?m)^[^\n|]{1,200}\|[^\n]*\n[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)+(?:\n[^\n|]{1,200}\|[^\n]*)*"
)
_LINE_BEGIN = re.compile(r"(?m)^[^\n]")
_HEAD_ROW = re.compile(r"<tr\b[^<>]{0,200}>(?:(?!</tr).){0,5000}<th\b(?:(?!</tr).){0,5000}</tr\s*>", re.IGNORECASE | re.DOTALL)
_MARKS = (("1", "2", "3"), ("a", "b", "c"), ("i", "ii", "iii"))
_ENDED_POINT = re.compile(r";(?= (?:and )?\(?(?:\d{1,2}|[a-h]|i{1,3}|iv|vi{0,3})\) )")
_ENUMERATED = re.compile(r"(?:(?<=\s)|^)\(?(?P<mark>\d{1,2}|[a-h]|i{1,3}|iv|vi{0,3})\) ", re.MULTILINE)


def clean(response_text: str, dropped: Counter[str]) -> PlainText:
    """Returns a response without what is no prose; counts blocks of code and entries of references in `dropped`."""
    whole = whole_text(response_text).replace(_ESCAPED_BREAK, lambda _: "\n")
    if "\\" in whole.text:
        whole = whole.replace(_LATEX_STYLE, lambda styled: styled["shown"])
    if "<" in whole.text or "\\begin" in whole.text:
        whole = whole.replace(
            _HIDDEN, lambda hidden: "\n" if hidden["block"] or (hidden["name"] or "").lower() == "pre" else ""
        )
        whole = whole.replace(_CITE, lambda cite: "" if _is_mark(cite) else None)
        whole = whole.replace(_HEAD_ROW, lambda row: f"{row[0]}\n|{'---|' * row[0].lower().count('<th')}")
        whole = whole.replace(_RAISED, lambda found: _lower(found["raised"], found.string[: found.start()]))
        closed = {name.lower() for name in _CLOSED.findall(whole.text)}
        whole = whole.replace(_TAG, lambda tag: _instead_of(tag, closed))
    tables = [table.span() for table in _BARE_TABLE.finditer(whole.text)]
    if tables:
        whole = whole.replace(_LINE_BEGIN, lambda found: _put_bar(found, tables))
    whole = whole.replace(_STRUCK_OUT, lambda _: "").replace(_LABEL, _mark_label)
    whole = whole.replace(_RAISED_DIGITS, _lower_digits)
    whole = whole.replace(_ENTITY, lambda entity: html.unescape(entity[0]).replace("\xa0", " "))
    blocks = hide_blocks(whole, dropped)
    if "\\" in blocks.text:
        blocks = blocks.replace(_ESCAPED_MARK, lambda _: "")
    return _hide_enumeration(hide_citations(blocks))


def _put_bar(first: re.Match[str], tables: list[tuple[int, int]]) -> str | None:
    """Returns the first character of a table's line with a bar before it; None outside of tables."""
    return f"| {first[0]}" if any(start <= first.start() < end for start, end in tables) else None


def _mark_label(label: re.Match[str]) -> str | None:
    """Returns a label in bold with the colon that it lacks; None for a subject in bold, which its verb or name follows."""
    if names_something(label["label"]) and not _NEW_SENTENCE.fullmatch(label["next"]):
        return None
    within = label.start() and label.string[label.start() - 1] != "\n"
    return f"{chr(10) if within else ''}{label['lead']}{label['bold']}{label['label']}{label['bold']}:{label['gap']}"


def _is_mark(cite: re.Match[str]) -> bool:
    """Whether a number in a tag that cites is the number of a source, behind what it is cited for; else it is said itself."""
    before = cite.string[max(0, cite.start() - 12) : cite.start()]
    glued = not cite["gap"] and before[-1:].strip() != ""
    if cite["marked"] or glued or before.endswith((".", "!", "?", ",", ";")):
        return True
    return cite["ended"] is not None and _WANTS_NUMBER.search(before) is None


def _instead_of(tag: re.Match[str], closed: set[str]) -> str | None:
    """Returns what stands for a tag: a line's break, an item's marker, nothing; None for what is no tag ("a<b and c>d")."""
    if tag["name"] is None:
        return ""
    name = tag["name"].lower()
    if name == "li" and not tag["slash"]:
        return "\n- "
    if re.fullmatch("h[1-6]", name) and not tag["slash"]:
        return "\n# "
    if name in ("td", "th"):
        return "|" if tag["slash"] else ""
    if name == "tr":
        return "" if tag["slash"] else "\n|"
    if _BLOCK.fullmatch(name):
        return "\n"
    return "" if _INLINE.fullmatch(name) else "\n" if name in closed else None


def _lower(raised: str, before: str) -> str:
    """Returns raised text as a citation mark, an exponent, or what it says ("19th")."""
    if RAISED_NUMBER.search(before[-12:]) and raised.strip("-−").isdigit():
        return f"^{raised}"
    return f"[{raised.strip(' []()')}]" if _NUMBERS.fullmatch(raised.strip()) else raised


def _lower_digits(digits: re.Match[str]) -> str | None:
    before = digits.string[max(0, digits.start() - 12) : digits.start()]
    if RAISED_NUMBER.search(before) or before.endswith(("⁻", "-", "−")):
        return None
    return f"[{digits[0].translate(_FROM_RAISED)}]"


def _hide_enumeration(whole: PlainText) -> PlainText:
    """Removes the marks of an enumeration within a line: "(1) was born in Lyon, (2) moved"."""
    hidden: list[tuple[int, int]] = []
    for line in re.finditer(r"[^\n]+", whole.text):
        marks = list(_ENUMERATED.finditer(whole.text, *line.span()))
        if len(marks) > 1 and any(first[:2] == tuple(mark["mark"] for mark in marks[:2]) for first in _MARKS):
            # At the beginning of the line, it is the marker of an item.
            hidden += [mark.span() for mark in marks if whole.text[line.start() : mark.start()].strip()]
    within = {place - len(", ") for place, _ in hidden} | {place - len(", and ") for place, _ in hidden}
    whole = whole.replace(_ENDED_POINT, lambda ended: "," if ended.start() in within else None)
    return whole.without(hidden)
