"""The chats of the stages: one function for each task, from its data to messages.

What never changes (instructions, definitions, examples) comes first, then what many calls share, for the prefix cache.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from localfact.llm.engine import Message
from localfact.prompts.boundary import Boundary
from localfact.prompts.fields import FIELDS, Task
from localfact.prompts.loading import has_parts, render
from localfact.records import Passage
from localfact.text import readable

#: The tasks of the judges that the papers compare with.
Judge = Literal["factscore", "factverify", "veriscore", "deepseek", "factool", "safe"]

#: What these judges' answers are read by: a label in brackets, and the name of FacTool's field.
_AROUND = r"(?:[^\w\[\]]|_){0,20}+"
_JUDGED = r"(?:(?:not[ _-]|un)?supported|contradicted|undecided|inconclusive|unverifiable)"
_BRACKETED_LABEL = re.compile(rf"\[(?P<label>{_AROUND}{_JUDGED}{_AROUND})\]", re.IGNORECASE)
_FIELD = re.compile(r"factuality(?=[\"'”]?\s{0,20}:)", re.IGNORECASE)


def extraction_chat(
    question: str | None, topic: str | None, before: str, chunk: str, after: str, *, boundary: Boundary
) -> tuple[Message, ...]:
    """Asks for the claims of a chunk, each with one of six labels (FastFact, section 4.1).

    Args:
        question: what the response answers; None where that is unknown.
        topic: what the text is about; None where that is unknown.
        before: the text before the chunk, to resolve pronouns; "" for none.
        chunk: the text to extract claims from.
        after: the text after it.
        boundary: encloses all of these.
    """
    around = _drop_empty(question=question, topic=topic, before=before, after=after)
    return _chat("extraction", boundary, asked={**around, "text": chunk})


def atomization_chat(
    question: str | None, topic: str | None, before: str, chunk: str, after: str, *, boundary: Boundary
) -> tuple[Message, ...]:
    """Asks for the atomic units of a chunk, one numbered line each (FactReasoner, section 3.3); see `extraction_chat`."""
    around = _drop_empty(question=question, topic=topic, before=before, after=after)
    return _chat("atomization", boundary, asked={**around, "text": chunk})


def decomposition_chat(text: str, examples: Sequence[Mapping[str, Any]], *, boundary: Boundary) -> tuple[Message, ...]:
    """Asks for the facts of a sentence, one numbered line each, as FActScore does: without context, with chosen examples.

    `examples`: each a text and its claims, as in `examples_of("decomposition")`.
    """
    return _chat("decomposition", boundary, asked={"text": text, "examples": examples})


def relevance_chat(question: str, response: str, claim: str, *, boundary: Boundary) -> tuple[Message, ...]:
    """Asks whether a claim is relevant to the question, yes or no (SAFE); one prefix serves all claims of a response."""
    return _chat("relevance", boundary, asked={"question": question, "text": response, "claim": claim})


def failure_chat(response: str, claims: Sequence[str], number: int, *, boundary: Boundary) -> tuple[Message, ...]:
    """Asks what is wrong with the claim of that number, from 1 (FastFact, C.2); one prefix serves all of a response."""
    return _chat("failure", boundary, asked={"text": response, "claims": claims, "number": number})


def failures_chat(response: str, claims: Sequence[str], *, boundary: Boundary) -> tuple[Message, ...]:
    """Asks what is wrong with each claim, one numbered line each with a reason and a label between signs (FastFact, C.2)."""
    return _chat("failures", boundary, asked={"text": response, "claims": claims})


def missing_chat(response: str, claims: Sequence[str], *, boundary: Boundary) -> tuple[Message, ...]:
    """Asks for the statements that no claim has, one a line with the reason between signs (FastFact, appendix C.2)."""
    return _chat("missing", boundary, asked={"text": response, "claims": claims})


def next_query_chat(
    claim: str, searches: Sequence[tuple[str, Sequence[Passage]]], *, boundary: Boundary
) -> tuple[Message, ...]:
    """Asks for the next query about a claim, after these: each with the passages that it found (SAFE)."""
    shown = [{"query": query, "passages": _passages(found)} for query, found in searches]
    return _chat("next_query", boundary, asked={"claim": claim, "searches": shown})


def revision_chat(
    question: str | None, topic: str | None, response: str, claim: str, *, boundary: Boundary
) -> tuple[Message, ...]:
    """Asks for a claim in words that need no context (FactReasoner, section 3.3, Reviser); the answer is one line.

    The response comes first and the claim last: one prefix serves all claims of a response.
    """
    return _chat("revision", boundary, asked={**_drop_empty(question=question, topic=topic), "text": response, "claim": claim})


def correction_chat(title: str, text: str, claim: str, *, boundary: Boundary) -> tuple[Message, ...]:
    """Asks which words of a claim are wrong by a text, and what belongs in their place: one line, "wrong => right"."""
    return _chat("correction", boundary, asked={**_drop_empty(title=title), "text": text, "claim": claim})


def query_chat(
    question: str | None, topic: str | None, claim: str, count: int = 1, *, boundary: Boundary
) -> tuple[Message, ...]:
    """Asks for 1 to 3 search queries about a claim (FactReasoner, section 3.3, Retriever); the answer has a line for each."""
    return _chat("query", boundary, asked={**_drop_empty(question=question, topic=topic), "claim": claim}, count=count)


def verification_chat(claim: str, passages: Sequence[Passage], *, boundary: Boundary) -> tuple[Message, ...]:
    """Asks what the passages, best first, say about a claim: reasoning, then one of five labels (FastFact, section 4.3).

    The claim comes before its evidence: claims rarely share all their evidence, so the cache loses nothing, and the model knows
    what to look for while it reads the passages.
    """
    return _chat("verification", boundary, asked={"claim": claim, "evidence": _passages(passages)})


def judging_chat(task: Judge, claim: str, passages: Sequence[Passage], *, boundary: Boundary) -> tuple[Message, ...]:
    """Asks one of the judges that the papers compare with about a claim and its passages, best first.

    A label between brackets in a passage is put in parentheses, and so is the name of FacTool's field, as these judges' answers
    are read by them.
    """
    own = f"{task}.jinja" in boundary.own
    evidence = [
        {
            **{name: _labelless(str(value)) for name, value in passage.items()},
            # Ours have the host behind the title.
            "title": _labelless(f"{passage['title']} ({passage['host']})" if passage["host"] and not own else passage["title"]),
        }
        for passage in _passages(passages)
    ]
    return _chat(task, boundary, asked={"claim": _labelless(claim), "evidence": evidence})


def _passages(passages: Sequence[Passage]) -> list[dict[str, str]]:
    """The fields of passages that a template may name."""
    return [
        {
            "number": str(number),
            "title": passage.title,
            "text": passage.text,
            "host": passage.host or "",
            "link": next(iter(passage.links), ""),
        }
        for number, passage in enumerate(passages, start=1)
    ]


def _labelless(text: str) -> str:
    return _FIELD.sub("(factuality)", _BRACKETED_LABEL.sub(r"(\g<label>)", text))


def relation_chat(premise: str, hypothesis: str, context: str = "", *, boundary: Boundary) -> tuple[Message, ...]:
    """Asks how a hypothesis relates to a premise; the answer is the bare word entailment, contradiction or neutral.

    The premise comes first: one prefix serves all claims that are asked about a passage. The context is for templates of a
    user's own alone (FactReasoner, Table 32): ours shows none, as each response would have another prefix.
    """
    asked = {"premise": premise, "hypothesis": hypothesis, "context": context}
    (turn,) = _chat("relation", boundary, asked=asked)
    return (turn._replace(group=premise),)


def generation_chat(prompt: str, *, two_paragraphs: bool = False) -> tuple[Message, ...]:
    """Asks for a response to be judged: the prompt unchanged, with an instruction about length where that is wanted."""
    values = {"prompt": readable(prompt), "two_paragraphs": int(two_paragraphs)}
    return (Message("user", render("generation", Boundary(), **values)),)


def _drop_empty(**fields: str | None) -> dict[str, str]:
    """The fields that are not empty."""
    return {name: value for name, value in fields.items() if value and value.strip()}


def _chat(task: Task, boundary: Boundary, *, asked: Mapping[str, Any], **wanted: int) -> tuple[Message, ...]:
    # A single user message: the chat templates of several models (Gemma, older Mistral) refuse a system message, and others
    # add a date or a tool list to it; every model understands a user message, and examples in it are not read as turns.
    values = lay_out(task, {**asked, **wanted})
    if not has_parts(task, boundary):
        return (Message("user", render(task, boundary, **values)),)
    question = render(task, boundary, part="asked", **values)
    return (Message("user", f"{_preamble(task, boundary, **wanted)}\n\n{question}"),)


@cache
def _preamble(task: Task, boundary: Boundary, **wanted: int) -> str:
    return render(task, boundary, part="preamble", **wanted)


def lay_out(task: Task, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a task's template: each field by itself, and all of them as `asked`; those that are not given are empty."""
    from localfact.prompts.language import Fields

    empty = {name: [] if field.parts else "" for name, field in FIELDS[task].items()}
    # Examples are ours or the user's: nothing in them is untrusted.
    material = {name: value if name == "examples" else _as_material(value) for name, value in given.items()}
    asked = Fields({**empty, **material})
    return {**asked, "asked": asked}


def _as_material(value: Any) -> Any:
    """The value with every text in it marked as untrusted."""
    from localfact.prompts.language import Fields, Material

    if isinstance(value, str):
        return Material(value)
    if isinstance(value, Mapping):
        return Fields({name: _as_material(one) for name, one in value.items()})
    return [_as_material(one) for one in value] if isinstance(value, Sequence) else value
