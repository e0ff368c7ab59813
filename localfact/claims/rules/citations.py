"""Removes links and citation marks from a response: what they cite is no part of what is said."""

import re

from localfact.claims.rules.english import MONTH
from localfact.claims.rules.markdown import PlainText

_ADDRESS = r"(?:[^()\s<>\[\]]|\([^()\s]{0,100}\)){1,600}"
TARGET = rf"\(<?(?:{_ADDRESS})?>?(?: \"[^\"\n]{{0,200}}\")?\)"
IMAGE = re.compile(rf"!\[[^\]\n]{{0,300}}\]{TARGET}")
_NUMBER_LINK = rf"\[{{1,2}}\^?\d{{1,4}}\]{{1,2}}{TARGET}"
_LINK_TEXT = r"\[(?P<shown>[^\[\]\n]{1,300})\]"
_LINK = re.compile(rf"{_LINK_TEXT}(?:{TARGET}|\[\w{{0,20}}\](?!\())")
_LINK_IN_BRACKETS = (
    rf"(?:\[(?:\[\^?\d{{1,4}}\]{TARGET}[,;]? ?){{1,10}}\]|"
    rf"\((?:(?:see|source|via)?:? ?\[[^\[\]\n]{{1,200}}\]{TARGET}[,;]? ?){{1,10}}\))"
)
# Words of links that name a source, not a thing.
_SITE = r"(?:\w{2}\.)?wikipedia|britannica|imdb|[\w.-]{1,60}\.(?:com|org|net|edu|gov)"
_SOURCE_NAME = rf"(?i:source|link|ref(?:erence)?|citation|here|pdf|{_SITE})"
_SOURCE_LINK = rf"\[{_SOURCE_NAME}(?:\+\d+)?\](?:{TARGET}|\[\w{{1,20}}\])(?=\W*(?:\n|$|\[))"
URL = r"(?>(?:https?://|www\.)[^\s<>\"”\])}]{1,600}(?<![.,;:!?'*]))"
#: Signs that stand behind the letter that they belong to, in texts of PDFs for example.
ACCENTS = r"\u0300-\u036f"
SURNAME = rf"[A-Z\u00c0-\u00de][\w{ACCENTS}'’-]+"
_NO_AUTHOR = (
    rf"(?!(?i:{MONTH}|spring|summer|autumn|fall|winter|olympics|season|since|until|from|in|by|early|late|mid|circa|born|died|released|"
    r"published|est|established|founded|version|part|vol|aged?|year|class|series|episode|approx|about|around|before|after|during|"
    r"between)\b)"
)
_MORE_AUTHORS = rf",? (?:et al\.?|(?:and|&) (?:{SURNAME}|others|colleagues)|(?:[A-Z]\.,? ?)+)|, {SURNAME}(?=,? (?:and|&))"
AUTHORS = rf"{_NO_AUTHOR}{SURNAME}(?:{_MORE_AUTHORS}){{0,4}}"
_PAGES = r"(?:, ?(?:pp?\.|pages?|ch\.|sec\.|§|para\.) ?[\w–-]{1,15})?"
AUTHOR_YEAR = (
    r"(?:(?:see(?: also)?|e\.g\.,?|cf\.|as cited in),? )?"
    rf"{AUTHORS},? (?:\d{{4}}[a-z]?(?:[,/] ?\d{{4}}[a-z]?)?|n\.d\.|in press|forthcoming)(?:: ?\d[\d–-]*)?{_PAGES}"
)
# "A film (Arrival, 2016)" is no citation.
NO_WORK = "".join(rf"(?<!{work} )" for work in ("film", "movie", "album", "novel", "book", "song", "series", "play"))
_MARK = "|".join(
    (
        # Not the root of LaTeX, a place of an array, an interval from 0.
        r"\[{1,2}\^?(?!0)\d{1,4}(?:\s?[,;–-]\s?\^?\d{1,4}){0,20}\]{1,2}(?:[–-]\[\d{1,4}\])?(?![({=])",
        r"\[\d{1,4}(?:[,:] ?|\s)(?:(?:pp?\.|pages?|ch\.|chap\.|sec\.|fig\.|§) ?)?[\w–-]{1,15}\](?!\()",
        r"\[\d{1,4}[†:][^\[\]\n]{0,60}\]",
        r"【[^【】\n]{1,100}】",
        r"\ue200[^\ue201]{0,200}\ue201|[\ue200-\ue206]",
        r":?contentReference\[oaicite:\d+\]\{index=\d+\}",
        r"\[?oai_citation:[^\]\n]{1,150}\](?:\([^()\s]*\))?",
        r"\\(?:cite|footnote)[a-z]{0,2}\{[^{}]{1,200}\}",
        r"\[@[^\[\]\n]{1,100}\]",
        r"\[(?i:(?:citation|clarification|page|better source) needed|(?:foot)?note \d+|nb? \d+|cite[^\[\]\n]{0,40})\]",
        r"\[(?i:ref(?:erence|\.)? ?\d+|sources?(?:[: ]+[\d, ]+)?|(?:doc(?:ument)?|web|passage|context)[:. ]?\d+(?:[-:]\d+)?)\]",
        r"\[[a-z]\](?![a-z(])",
        r"\{\{[^{}\n]{1,200}\}\}",
        r"\[\^\d{1,3}\^\]",
        # Behind a blank it ends its sentence; a set does so behind what leads to it ("is the set {4}").
        r"(?<=[\w.])\{\d{1,3}\}(?=[\s.,]|$)",
        r"(?<=\w )(?<!\bof )(?<!\bin )(?<!\bis )(?<!\bare )(?<!\bto )(?<!\bset )\{\d{1,3}\}(?=\.?(?:\s|$))",
        r"\((?:(?:[Ii]bid|[Oo]p\. cit|[Ll]oc\. cit)\.?[^()]{0,20}|(?i:en\.)?(?:Wikipedia|Britannica|IMDb))\)",
        r"\[(?:[\w-]{1,40}\.){1,3}(?:com|org|net|edu|gov|de|fr|uk|io)(?:/[^\[\]\s]{0,200})?\](?!\()",
        r"(?<=\d{4})\^\d{1,2}\b(?!\.\d)",
        r"[(\[](?:(?i:sources?|via|ref(?:erence)?s?|cited in): ?|ISBN|doi|DOI|arXiv)[^()\[\]\n]{1,120}[)\]](?!\()",
        rf"{NO_WORK}[(\[]{AUTHOR_YEAR}(?:; ?{AUTHOR_YEAR}){{0,9}}[)\]]",
        r"(?<=\w )\(\d{1,2}(?:, ?\d{1,2}){0,5}\)(?=[.!?](?:\s|$))",
        r"(?:(?<=[\w)])|(?<=[\w)] ))[†‡]+(?=[\s.,;]|$)",
        r"\ue200?(?:cite)?turn\d+(?:search|view|news|fetch)\d+",
    )
)
# Words that lead to a source, where nothing follows them.
_LEAD = (
    r"(?:,? (?:according to|available (?:at|from|on|online at)|as per|"
    r"as (?:shown|described|discussed|noted|stated|reported|cited|seen) (?:in|by|on|at)|"
    r"see(?: also| more at)?|cf\.|sources?:|via|at|from|on|here:|link:|more at|visit|refs?\.?|citing))?"
)
_END = r"(?=\s*(?:[.,;:!?)]|\n|$))"
# One look at the first character spares most places.
_CITED = rf"(?:(?=[\[(【†‡{{^\\:\ue200-\ue206ct])(?:{_LINK_IN_BRACKETS}|{_NUMBER_LINK}|{_SOURCE_LINK}|{_MARK}))"
_BRACKETED_URL = rf"[(<\[]\s*{URL}\s*[)>\]]"
_IN_FRONT = r"(?:(?<=[.!?\n] )|(?<=\n)|\A)(?:According to|As (?:per|stated (?:in|by)|reported (?:in|by))|From|Per|Via)\s*"
_CITATION = re.compile(rf"{_IN_FRONT}{_CITED},\s*|{_LEAD}\s*{_CITED}{_END}|[ \t]*{_CITED}")
_ANY_CITED = re.compile(_CITED)
# "Her page is https://..." says which it is.
_LINKED = re.compile(
    rf"{_IN_FRONT}{URL},\s*|{_LEAD}:?[ \t]*{_BRACKETED_URL}|"
    rf"(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bis )(?<!\bare )(?<!\bwas ){_LEAD}:?[ \t]*{URL}"
)
_LEFT_OVER = re.compile(r"[ \t]*(?:\(\s*(?:(?i:see|sources?|cf\.|and|via)[:,]?)?\s*[,;.]*\s*\)|\[\s*[,;]*\s*\])")
_DOUBLE_END = re.compile(r"(?<=[.!?])[ \t]*\.(?=\s|$)(?<!\.\.)")
_SPACE_BEFORE = re.compile(r"(?<=[\w\"”’)])[ \t]+(?=[.,;](?:\s|$))")


def hide_citations(whole: PlainText) -> PlainText:
    """Returns a text without links and citation marks; the words of a link that is part of its sentence stay."""
    found = whole.replace(IMAGE, lambda _: "")
    if _ANY_CITED.search(found.text):
        found = found.replace(_CITATION, lambda _: "")
    found = found.replace(_LINK, lambda link: link["shown"])
    if "://" in found.text or "www." in found.text:
        found = found.replace(_LINKED, lambda _: "")
    if found.text == whole.text:
        return whole
    for left in (_LEFT_OVER, _SPACE_BEFORE, _DOUBLE_END):
        found = found.replace(left, lambda _: "")
    return found
