"""What a run would ask of a language model, reckoned before anything is known: calls, tokens, hours. Rough, and called so."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from localfact.claims.chunks import chunks_of
from localfact.llm.placing.rates import SAID, TokenWork, hours_of
from localfact.methods.settings import ChunkSettings
from localfact.methods.wiring import Configuration
from localfact.models.cards import load_card
from localfact.records import Response
from localfact.text import sentences, word_count

#: Words of a response for each claim that is extracted.
CLAIM_WORDS = 12
#: Tokens that a call has to read because no cache has them, and to write: of one that relates two texts, and of any other.
RELATING, WRITING = TokenWork(170), TokenWork(1_500, 200)
_PART = re.compile(r"\d+|[A-Za-z]|\^\d|[()/+]")


def reckon(chosen: Configuration, responses: Sequence[Response]) -> dict[str, Any]:
    """Calls, tokens, hours and GPUs of a run, by the method's cost formula; empty where no language model is asked.

    Every claim is taken to need evidence, and every passage to be another one.
    """
    facts = chosen.facts
    if facts is None or facts.settings is None or not facts.machine.get("device"):
        return {}
    relating = writing = 0.0
    for response in responses:
        sizes = sizes_of(chosen, response)
        for term in terms_of(chosen.method.cost):
            calls = evaluate(term, sizes)
            if set(term) & {"m", "k"}:
                relating += calls
            else:
                writing += calls
    work = TokenWork(relating * RELATING.read + writing * WRITING.read, relating * RELATING.written + writing * WRITING.written)
    parameters = load_card(chosen.options.model or "").parameters or 1.0
    gpus = 0 if facts.machine["device"] == "cpu" else int(facts.machine["tensor_parallel"]) * facts.replicas
    return {
        "formula": chosen.method.cost,
        "calls": round(relating + writing),
        "tokens_read": round(work.read),
        "tokens_written": round(work.written),
        "gpus": gpus,
        "hours": round(hours_of(work, parameters, facts.machine), 2),
        "how": f"{SAID}; a claim for {CLAIM_WORDS} words where none are given, tokens by kinds of calls",
    }


def sizes_of(chosen: Configuration, response: Response) -> Mapping[str, float]:
    """A mapping: letter of a cost formula -> its value for one response."""
    settings = chosen.settings.extraction
    given = response.claims if settings.claims == "given" else None
    claims = len(given) if given is not None else word_count(response.text) / CLAIM_WORDS
    stride = settings.stride if isinstance(settings, ChunkSettings) else "max"
    chunks = 0 if given is not None else len(chunks_of(response.text, stride))
    whole = 0 if given is not None else len(sentences(response.text))
    k = chosen.settings.evidence.k
    found = len(response.evidence.passages) if response.evidence is not None else claims * k
    # N/w is the number of chunks: w makes it that.
    return {"N": whole, "w": whole / chunks if chunks else 1, "M": claims, "m": found, "k": k, "p": 1.0, "q": 1.0}


def terms_of(formula: str) -> Iterator[str]:
    """The terms of a sum, parentheses kept whole."""
    depth, term = 0, ""
    for sign in formula:
        depth += (sign == "(") - (sign == ")")
        if sign == "+" and not depth:
            yield term.strip()
            term = ""
        else:
            term += sign
    yield term.strip()


def evaluate(term: str, sizes: Mapping[str, float]) -> float:
    """The value of a product like "pMm", "N/w", "m^2" or "(3 + q)M"."""
    inner = re.fullmatch(r"\((.*)\)(.*)", term)
    if inner:
        return sum(evaluate(one, sizes) for one in terms_of(inner[1])) * (evaluate(inner[2], sizes) if inner[2] else 1)
    value, last, divides = 1.0, 1.0, False
    for part in _PART.findall(term):
        if part == "/":
            divides = True
        elif part.startswith("^"):
            value *= last ** (int(part[1:]) - 1)
        else:
            last = float(part) if part.isdigit() else sizes[part]
            value, divides = (value / last if divides else value * last), False
    return value
