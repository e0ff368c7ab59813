"""The shapes of the answers that the prompts ask for, as grammars (`llm.engine.Grammar`): the words are free.

For models that are too small to keep a format by themselves. The parsers read such answers like any others.
"""

import math
import re
from collections.abc import Iterable

from localfact.llm.engine import Grammar
from localfact.text import words
from localfact.vocabulary import PreVerificationLabel

#: The most characters of a claim: so few that one cannot look like an endless repetition, at which answers are cut
#: (`llm/cores/vllm.py`).
LONGEST = 200
#: The most characters that one more token would have had.
LAST_TOKEN = 20
#: An answer has at most one claim for so many words of the text, rounded up to a power of two, so that few grammars are made...
WORDS_A_CLAIM = 5
#: ...and never more than this.
MOST = 128
#: The most characters that a correction puts in the place of others.
LONGEST_NEW = 80
#: The most characters that a revision puts in.
NAMES = 200
NOTHING = r"No verifiable claim\."

_SIGN = re.compile(r"[\\.^$*+?{}\[\]|()]")

# With one # at most (C#). Plain classes with counts: an alternative inside a count makes a token cost 170 ms in xgrammar.
_LATER = r"(?:#[^\n#]{1,80})?"
_CLAIM = rf"[^\n#]{{1,{LONGEST}}}{_LATER}"


def is_cut(claim: str) -> bool:
    """Whether a claim of an answer that had to keep to a grammar ends where the grammar does, not where its sentence would."""
    return len(claim) > LONGEST - LAST_TOKEN and claim[-1].isalnum()


def extraction_grammar(text: str, *, claims: bool) -> Grammar:
    """A line for each claim of the text, with one of the six labels.

    Args:
        text: what the claims are taken from; its length bounds their number.
        claims: whether the text surely states something: the answer "No verifiable claim." is then ruled out.
    """
    labels = _one_of(label.value.upper() for label in PreVerificationLabel)
    return _lines(f"- {_CLAIM} ###{labels}###", text, claims=claims)


def atomization_grammar(text: str, *, claims: bool) -> Grammar:
    """A numbered line for each claim of the text; arguments as `extraction_grammar`."""
    return _lines(rf"\[[1-9][0-9]{{0,2}}\] {_CLAIM}", text, claims=claims)


def longest_revision(claim: str) -> int:
    """The most characters of a claim's revision: its own, rounded up to hundreds, and the names that are put in."""
    return 100 * math.ceil(len(claim) / 100) + NAMES


def revision_grammar(claim: str) -> Grammar:
    """The revised claim behind # signs, which need not be closed: a model that must go on after its claim invents something."""
    return rf"###[^\n#]{{1,{longest_revision(claim)}}}{_LATER}(?:###|\n{{1,2}})?"


def query_grammar(count: int) -> Grammar:
    """So many lines of words."""
    return r"\n".join([r"[^\n]{4,200}"] * count)


def correction_grammar(wrong: Iterable[str]) -> Grammar:
    """One of these runs of words, an arrow, and what belongs in its place; or "nothing"."""
    return rf"(?:(?:{'|'.join(map(_literal, wrong))}) => [^\n=>]{{1,{LONGEST_NEW}}}|nothing)"


def verification_grammar(labels: Iterable[str], longest: int) -> Grammar:
    """Reasoning of at most `longest` characters, free but for # signs; then the decision for one of the labels.

    It may end without one, as a revision may: the label is asked for then.
    """
    return rf"[^#]{{1,{longest}}}(?:\nDecision: ###{_one_of(labels)}###)?"


def _lines(line: str, text: str, *, claims: bool) -> Grammar:
    most = min(MOST, 1 << max(2, (len(words(text)) // WORDS_A_CLAIM).bit_length()))
    lines = rf"{line}(?:\n{line}){{0,{most - 1}}}"
    return lines if claims else f"(?:{lines}|{NOTHING})"


def _one_of(labels: Iterable[str]) -> str:
    """Any of the labels: words, with spaces and hyphens between them."""
    return f"(?:{'|'.join(labels)})"


def _literal(text: str) -> Grammar:
    """The text itself: signs that mean something in a grammar are marked."""
    return _SIGN.sub(r"\\\g<0>", text)
