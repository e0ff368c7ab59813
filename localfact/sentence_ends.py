"""Where the sentences of a block end: by sentencex, but for the boundaries that it is known to set wrongly."""

# Why sentencex: the F1 of inner boundaries on texts whose sentences annotators kept (FActScore's biographies, Factcheck-GPT's
# answers) is 0.994 and 0.976, with blingfire 0.996 and 0.967, pysbd 0.992 and 0.958, syntok 0.980 and 0.972; it is small, and
# the quickest by far. The repairs below were made on hard cases of our own: 35 of 43 come out right without them, 40 with them.

import re
from collections.abc import Iterator

import sentencex

# The longest abbreviation in the repairs of boundaries.
LONGEST_ABBREVIATION = 12

# Words that the library takes for abbreviations: a month before a capital and a small word end their sentence, and so does what
# ends a name ("Apple Inc.") before a word that begins a sentence.
_NO_ABBREVIATION = re.compile(
    r"\b(?:May|Jan|Mar|Sept|Oct|Nov|Dec|may|no|art|ill|me|mar|sun|sat|gen|op|pa|rev|ind|etc|al)(?=\.[\"'”’)\]]* +[^\W\d_a-z])|"
    # "Acme Corp. Engineers built it"
    r"\b(?:Inc|Corp|Ltd|Rd|Ave|Blvd)(?=\. +(?!(?:Studios|Holdings|Industries|Systems|Records|Series)\b)[A-Z][a-z]+s "
    r"(?!(?:is|was|has)\b)[a-z])|"
    r"\b(?:[Vv]itamin|[Tt]ype|[Cc]lass|[Gg]rade|[Gg]roup|[Pp]lan|[Hh]epatitis|[Ss]chedule|[Aa]ppendix) [A-Z](?=\. +[A-Z])|"
    r"\b(?:Inc|Co|Corp|Ltd|Jr|Sr|Ave|Rd|Univ|Dept|Tex|Pa|Cal|Ill|Ind|Me)(?=\.[\"'”’)\]]* +"
    r"(?:A|After|Although|As|At|Before|But|By|During|From|He|Her|His|However|If|In|It|Its|On|She|Since|Some|The|Their|There|"
    r"These|They|This|To|Under|We|When|While|With)\b)"
)
# Emphasis hides an abbreviation ("**Ph.D.**") from the library.
_EMPHASIS = re.compile("[*_]")
_CLOSING_MARKS = re.compile(r"[\"'”’»)\]*_`]+(?=\s|$)")
_ABBREVIATION_BEFORE_NUMBER = re.compile(r"\b(?:approx|ca|vol|est|fig|no|pp?|ch|sec|op|art|nr)\.$", re.IGNORECASE)
# Titles that the library does not know.
_TITLE = re.compile(r"\b(?:Ms|Pt|Ft|Ste|Atty|Assoc|Asst|Mts)\.$")
# "J.D." before a surname; places and eras end sentences as often.
_INITIALS = re.compile(r"(?<![\w.])(?!U\.[SKN]|D\.C|E\.U|B\.C|A\.[DM]|P\.M|L\.A|N\.Y|M\.D)(?:[A-Z]\.){2,3}$")
_BEGINS_SENTENCE = re.compile(
    r"\s*(?:An?|After|Although|As|At|Before|But|By|During|For|From|He|Her|His|However|I|If|In|It|Its|On|One|She|Since|Some|The|Their|"
    r"There|These|They|This|To|Under|We|When|While|With)\b"
)
_INITIAL = re.compile(r"(?<![^\W\d_])[^\W\d_]\.$")


def sentence_ends(window: str, code: str) -> Iterator[int]:
    """Yields the offsets at which the library ends sentences, closing marks included, less those that are known to be wrong.

    Args:
        window: a text that is short, as the library's time grows with the square of one outside ASCII.
        code: of its language, two letters.
    """
    plain = _NO_ABBREVIATION.sub(lambda word: "x" * len(word[0]), _EMPHASIS.sub(" ", window))
    start = 0
    for boundary in sentencex.get_sentence_boundaries(code, plain):
        cut = boundary["end_index"]
        end = start + len(plain[start:cut].rstrip())
        left, right = plain[max(0, end - LONGEST_ABBREVIATION) : end], plain[cut : cut + 1]
        start = cut
        if right.isdigit() and _ABBREVIATION_BEFORE_NUMBER.search(left):
            continue
        if right.isupper() and (_TITLE.search(left) or (_INITIALS.search(left) and not _BEGINS_SENTENCE.match(plain, end))):
            continue
        if code != "en" and (initial := _INITIAL.search(left)) and initial.group().isupper():
            continue
        closing = _CLOSING_MARKS.match(window, end)
        yield closing.end() if closing else end
