"""Reads a verifier's answer: its reasoning, and the label that it decided for, if that can be read without guessing.

The answer is untrusted text: it may quote a web page that names labels. Only the place where the prompt wants the decision
counts, so a quotation in the reasoning decides nothing (FastFact, section 4.3).
"""

import re
from typing import NamedTuple

from localfact.text import readable
from localfact.thoughts import find_thoughts
from localfact.vocabulary import VerdictLabel

#: The five labels as the verifier is asked to write them (FastFact, section 4.3) -> verdicts.
VERDICT_OF = {
    "supported": VerdictLabel.SUPPORTED,
    "refuted": VerdictLabel.CONTRADICTED,
    "conflicting evidence": VerdictLabel.CONFLICTING,
    "not enough evidence": VerdictLabel.NOT_ENOUGH_EVIDENCE,
    "unverifiable": VerdictLabel.UNVERIFIABLE,
}
#: What the prompt wants before the label, at the beginning of a line.
DECISION = "Decision: ###"

_THOUGHT_BEGINS, _THOUGHT_ENDS = "<think>", "</think>"
# A line that announces the decision, perhaps with Markdown before and in it; no quoted line (">", a quotation mark).
_DECISION_LINE = re.compile(
    r"^[ \t*_#-]*(?:final[ \t]+)?decision[ \t*_]*(?:[:：]|(?=##)|$)(?P<rest>.*)$", re.IGNORECASE | re.MULTILINE
)
# Behind a decision: the claim of an example that the model goes on to invent, a marker of the boundary, another speaker's turn.
_NEXT_CLAIM = re.compile(
    r"^[ \t*#]*(?:now judge\b|claim[ \t*]*:|(?:user|human)[ \t]*:|<<(?:end )?\w+ [^>\n]{1,40}>>|<\|\w+\|>)",
    re.IGNORECASE | re.MULTILINE,
)
# Possessive, and only at the beginning of a run of signs, so that no answer makes the search slow.
_HASHED = re.compile(r"(?<!#)#{2,}+([^#\n]+)#{2,}")
_MARKUP = " \t\r\n*_`#.\"'“”"
_JOINTS = re.compile(r"[\s_\-‐‑–]+")


class VerifierAnswer(NamedTuple):
    """A parsed answer.

    Attributes:
        label: None where no label can be read.
        reasoning: the text before the decision, without white space at its end; all of an answer without a decision.
    """

    label: VerdictLabel | None
    reasoning: str


def read_answer(text: str, *, finished: bool = True) -> VerifierAnswer:
    """Parses a verifier's answer.

    The last line that begins with "Decision" decides, by the one label between hashes on it, or on the line below where it is
    empty; a bare label counts there only where it ends the answer. Without such a line, a last line that is nothing but a label
    between hashes decides, if every label between hashes agrees with it. Everything up to the end of its thoughts is reasoning.

    Args:
        text: the whole answer.
        finished: False for an answer that was cut: it has no decision, whatever it seems to say, and its reasoning ends at its
            first decision line (what follows that is a quotation, or an example that the model went on to invent).
    """
    answer = readable(text)
    end = max((span.end for span in find_thoughts(answer)), default=0)
    thought, said = answer[:end], answer[end:]
    decisions = list(_DECISION_LINE.finditer(said))
    if decisions and (runs_on := _NEXT_CLAIM.search(said, decisions[0].end())):
        said = said[: runs_on.start()]
        decisions = [line for line in decisions if line.end() <= len(said)]
    if not finished:
        return VerifierAnswer(None, (thought + (said[: decisions[0].start()] if decisions else said)).rstrip())
    if decisions:
        return VerifierAnswer(_read_decision(said, decisions[-1]), (thought + said[: decisions[-1].start()]).rstrip())
    label, reasoning = _read_undeclared(said)
    return VerifierAnswer(label, (thought + reasoning).rstrip())


def answer_up_to_label(reasoning: str) -> str:
    """Builds the beginning of an answer, after which the model only has to choose the label.

    Args:
        reasoning: of an answer that named no label; may be empty.

    Returns:
        The reasoning, with an open "<think>" closed, and the words that stand before a label.
    """
    if _THOUGHT_BEGINS in reasoning.rpartition(_THOUGHT_ENDS)[2]:
        reasoning += f"\n{_THOUGHT_ENDS}"
    return f"{reasoning}\n{DECISION}" if reasoning else DECISION


def _read_decision(text: str, line: re.Match[str]) -> VerdictLabel | None:
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


def _read_undeclared(text: str) -> VerifierAnswer:
    """The label of an answer without a decision line."""
    body, _, last = text.rstrip().rpartition("\n")
    alone = _HASHED.fullmatch(last.strip(" \t*_`."))
    hashed = {_verdict(written) for written in _HASHED.findall(text)}
    if alone is None or len(hashed) != 1 or None in hashed:
        return VerifierAnswer(None, text)
    return VerifierAnswer(hashed.pop(), body)


def _verdict(written: str) -> VerdictLabel | None:
    """The verdict for a written label, in any case and with any separators; None where it is none of the five."""
    return VERDICT_OF.get(_JOINTS.sub(" ", written.strip(_MARKUP).casefold()).strip())
