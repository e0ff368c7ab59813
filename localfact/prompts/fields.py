"""The fields that the template of each task has: what a user's own may name, and what it must show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from localfact.errors import InputError

Task = Literal[
    "extraction",
    "verification",
    "relation",
    "generation",
    "atomization",
    "revision",
    "query",
    "factscore",
    "factverify",
    "veriscore",
    "deepseek",
    "factool",
    "safe",
    "decomposition",
    "relevance",
    "next_query",
    "failure",
    "failures",
    "missing",
    "correction",
]
TASKS: tuple[Task, ...] = get_args(Task)


class TemplateError(InputError):
    """A template cannot be read, says what the language does not have, or names a field that there is not."""


@dataclass(frozen=True)
class Field:
    """A field of a template.

    Attributes:
        means: what stands in it.
        necessary: whether a template must show it.
        parts: of a list, the fields of each of its items; ("",) for a list of texts. Empty for a text or a number.
        number: whether it is a whole number.
    """

    means: str
    necessary: bool = False
    parts: tuple[str, ...] = ()
    number: bool = False


PASSAGE = ("number", "title", "text", "host", "link")

_QUESTION = Field("what the response answers")
_TOPIC = Field("what the text is about, where it is known")
_CHUNK = {
    "question": _QUESTION,
    "topic": _TOPIC,
    "before": Field("the text before the chunk; empty for the whole response"),
    "text": Field("the chunk that claims are taken from", necessary=True),
    "after": Field("the text after it"),
}
_RESPONSE = Field("the whole response", necessary=True)
_CLAIM = Field("the claim", necessary=True)
_CLAIMS = Field("all claims of the response", necessary=True, parts=("",))
_JUDGED = {"claim": _CLAIM, "evidence": Field("the passages, best first", necessary=True, parts=PASSAGE)}
FIELDS: Mapping[Task, Mapping[str, Field]] = {
    "extraction": _CHUNK,
    "atomization": _CHUNK,
    "revision": {"question": _QUESTION, "topic": _TOPIC, "text": _RESPONSE, "claim": _CLAIM},
    "decomposition": {
        "text": Field("the sentence that facts are taken from", necessary=True),
        "examples": Field("the examples most like it, of decomposition.yaml", parts=("text", "claims")),
    },
    "relation": {
        "premise": Field("the passage, or the first of two claims", necessary=True),
        "hypothesis": Field("the claim, or the second", necessary=True),
        "context": Field("the response that the hypothesis was taken from; empty outside a run"),
    },
    "verification": _JUDGED,
    "factscore": _JUDGED,
    "factverify": _JUDGED,
    "veriscore": _JUDGED,
    "deepseek": _JUDGED,
    "factool": _JUDGED,
    "safe": _JUDGED,
    "relevance": {"question": Field("what the response answers", necessary=True), "text": _RESPONSE, "claim": _CLAIM},
    "query": {
        "question": _QUESTION,
        "topic": _TOPIC,
        "claim": _CLAIM,
        "count": Field("how many queries are asked for, 1 to 3", number=True),
    },
    "next_query": {
        "claim": _CLAIM,
        "searches": Field("the searches so far, each with what it found", parts=("query", "passages")),
    },
    "failure": {
        "text": _RESPONSE,
        "claims": _CLAIMS,
        "number": Field("the place of the claim that is asked about, from 1", necessary=True, number=True),
    },
    "failures": {"text": _RESPONSE, "claims": _CLAIMS},
    "missing": {"text": _RESPONSE, "claims": _CLAIMS},
    "correction": {
        "title": Field("of the page that speaks against the claim"),
        "text": Field("what decides of it", necessary=True),
        "claim": _CLAIM,
    },
    "generation": {
        "prompt": Field("the prompt", necessary=True),
        "two_paragraphs": Field("1 where at most two paragraphs are asked for, else 0", number=True),
    },
}
#: Responses are generated from the prompt itself: there is no template of one's own for that.
FIXED: frozenset[Task] = frozenset({"generation"})
