"""What a run would ask of a language model, reckoned before anything is known: calls, tokens, hours. Rough, and called so."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from localfact.claims.chunks import Stride, chunks_of
from localfact.llm.placing.rates import SAID, TokenWork, hours_of
from localfact.methods.comparing import MOST_OF_A_CLAIM, compares_claims
from localfact.methods.extraction import EXTRACTORS, asks_extracted_labels, asks_given_labels
from localfact.methods.registry import relation_names
from localfact.methods.relations import LLM
from localfact.methods.settings import ChunkSettings, ExtractionSettings
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
    relates = LLM in relation_names(chosen.method, chosen.options)
    relating = writing = 0.0
    for response in responses:
        sizes = sizes_of(chosen, response)
        for term in terms_of(chosen.method.cost):
            if set(term) & {"m", "k"}:
                relating += value_of_term(term, sizes) if relates else 0.0
            else:
                writing += value_of_term(term, sizes)
        relating += MOST_OF_A_CLAIM * sizes["M"] if relates and compares_claims(chosen.settings) else 0.0
        writing += _otherwise(chosen, sizes, given=gives_claims(chosen, response))
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
        "how": f"{SAID}; given claims cost no extraction, else there is one for {CLAIM_WORDS} words; tokens by kinds of calls",
    }


def gives_claims(chosen: Configuration, response: Response) -> bool:
    """Whether the claims of a response are taken as it gives them."""
    return chosen.settings.extraction.claims == "given" and response.claims is not None


def stride_of(settings: ExtractionSettings) -> Stride:
    """How many sentences are extracted from at a time; "max" for an extractor without chunks."""
    return settings.stride if isinstance(settings, ChunkSettings) else "max"


def asks_labels(chosen: Configuration) -> bool:
    """Whether each extracted claim is asked for its label once more, for probabilities that no grammar has narrowed."""
    settings, facts = chosen.settings.extraction, chosen.facts
    if not isinstance(settings, ChunkSettings):
        return False
    return asks_extracted_labels(settings.confidence, guided=facts is not None and facts.policy.guided)


def _otherwise(chosen: Configuration, sizes: Mapping[str, float], *, given: bool) -> float:
    """How many more calls for claims a response takes than the method's formula says, which has its own extractor's."""
    settings = chosen.settings.extraction
    kind, own = EXTRACTORS[settings.extractor], EXTRACTORS[chosen.method.extractor]
    said = value_of(own.cost, sizes) + (sizes["M"] if chosen.method.confidence == "distribution" else 0)
    if given:
        return sizes["M"] * (asks_given_labels(settings) + (settings.revise is not None)) - said
    return value_of(kind.cost, sizes) + sizes["M"] * asks_labels(chosen) - said


def value_of(formula: str, sizes: Mapping[str, float]) -> float:
    """The value of a whole formula."""
    return sum(value_of_term(term, sizes) for term in terms_of(formula))


def sizes_of(chosen: Configuration, response: Response) -> Mapping[str, float]:
    """A mapping: letter of a cost formula -> its value for one response."""
    settings = chosen.settings.extraction
    given = response.claims if gives_claims(chosen, response) else None
    claims = len(given) if given is not None else word_count(response.text) / CLAIM_WORDS
    chunks = 0 if given is not None else len(chunks_of(response.text, stride_of(settings)))
    whole = 0 if given is not None else len(sentences(response.text))
    k = chosen.settings.evidence.k
    found = len(response.evidence.passages) if response.evidence is not None else claims * k
    # N/w is the number of chunks: w makes it that.
    return {
        "N": whole,
        "w": whole / chunks if chunks else 1,
        "M": claims,
        "m": found,
        "k": k,
        "p": 1.0,
        "q": chosen.method.search_steps,
    }


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


def value_of_term(term: str, sizes: Mapping[str, float]) -> float:
    """The value of a product like "pMm", "N/w", "m^2" or "(3 + q)M"."""
    inner = re.fullmatch(r"\((.*)\)(.*)", term)
    if inner:
        return value_of(inner[1], sizes) * (value_of_term(inner[2], sizes) if inner[2] else 1)
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
