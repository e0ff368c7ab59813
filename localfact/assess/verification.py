"""Reads a verifier's answer: its reasoning, and the label it decided for, if that can be read without guessing.

The answer is untrusted text: it may quote a web page that names labels itself. Only the place where the prompt wants the
decision counts, so a quotation in the reasoning decides nothing (FastFact, section 4.3).
"""

import re
from typing import NamedTuple

from localfact.text import readable
from localfact.vocabulary import VerdictLabel

#: The five labels as the verifier is asked to write them (FastFact, section 4.3), and what each is as a verdict.
VERDICT_OF = {
    "supported": VerdictLabel.SUPPORTED,
    "refuted": VerdictLabel.CONTRADICTED,
    "conflicting evidence": VerdictLabel.CONFLICTING,
    "not enough evidence": VerdictLabel.NOT_ENOUGH_EVIDENCE,
    "unverifiable": VerdictLabel.UNVERIFIABLE,
}
#: What stands before the label where the prompt wants it, on a line of its own.
DECISION = "Decision: ###"

_THOUGHT_BEGINS, _THOUGHT_ENDS = "<think>", "</think>"
# A line that announces the decision, perhaps with Markdown before and in it. A quoted line (">", a quotation mark) does not.
_DECISION_LINE = re.compile(
    r"^[ \t*_#-]*(?:final[ \t]+)?decision[ \t*_]*(?:[:：]|(?=##)|$)(?P<rest>.*)$", re.IGNORECASE | re.MULTILINE
)
# A run of signs is taken whole and only at its beginning, so that no answer makes the search slow.
_HASHED = re.compile(r"(?<!#)#{2,}+([^#\n]+)#{2,}")
_MARKUP = " \t\r\n*_`#.\"'“”"
_JOINTS = re.compile(r"[\s_\-‐‑–]+")


class VerifierAnswer(NamedTuple):
    """What was read.

    Attributes:
        label: None where no label can be read.
        reasoning: what stands before the decision, without white space at its end; all of an answer that has no decision.
    """

    label: VerdictLabel | None
    reasoning: str


def read_answer(text: str, *, finished: bool = True) -> VerifierAnswer:
    """Reads a verifier's answer.

    The last line that begins with "Decision" decides, by the one label between hashes on it, or on the line below where it is
    empty itself; a bare label is read there only where it ends the answer. Without such a line, a last line that is nothing but
    a label between hashes decides, if every label between hashes agrees with it. Everything up to "</think>" is reasoning.

    Args:
        text: the whole answer.
        finished: False for an answer that was cut: it has come to no decision, whatever it seems to say, and its reasoning
            ends at its first decision line (what follows that is a quotation, or an example that the model went on to invent).
    """
    before, ends, said = readable(text).rpartition(_THOUGHT_ENDS)
    thought = before + ends
    if _THOUGHT_BEGINS in said:
        return VerifierAnswer(None, (thought + said).rstrip())
    decisions = list(_DECISION_LINE.finditer(said))
    if not finished:
        return VerifierAnswer(None, (thought + (said[: decisions[0].start()] if decisions else said)).rstrip())
    if decisions:
        return VerifierAnswer(_decided(said, decisions[-1]), (thought + said[: decisions[-1].start()]).rstrip())
    label, reasoning = _undeclared(said)
    return VerifierAnswer(label, (thought + reasoning).rstrip())


def answer_up_to_label(reasoning: str) -> str:
    """The answer up to where its label belongs: what a model is given to go on with when it named none itself."""
    if _THOUGHT_BEGINS in reasoning.rpartition(_THOUGHT_ENDS)[2]:
        reasoning += f"\n{_THOUGHT_ENDS}"
    return f"{reasoning}\n{DECISION}" if reasoning else DECISION


def _decided(text: str, line: re.Match[str]) -> VerdictLabel | None:
    """The label of a decision line."""
    value, end = line["rest"], line.end()
    if not value.strip(_MARKUP):
        below = text[end:].lstrip()
        value = below.partition("\n")[0]
        end = len(text) - len(below) + len(value)
    hashed = {_verdict(written) for written in _HASHED.findall(value)}
    if hashed:
        return hashed.pop() if len(hashed) == 1 else None
    return None if text[end:].strip(_MARKUP) else _verdict(value)


def _undeclared(text: str) -> VerifierAnswer:
    """The label of an answer without a decision line."""
    body, _, last = text.rstrip().rpartition("\n")
    alone = _HASHED.fullmatch(last.strip(" \t*_`."))
    hashed = {_verdict(written) for written in _HASHED.findall(text)}
    if alone is None or len(hashed) != 1 or None in hashed:
        return VerifierAnswer(None, text)
    return VerifierAnswer(hashed.pop(), body)


def _verdict(written: str) -> VerdictLabel | None:
    """The verdict that a written label means, in any case, its words joined by anything; None for what is none of the five."""
    return VERDICT_OF.get(_JOINTS.sub(" ", written.strip(_MARKUP).casefold()).strip())
