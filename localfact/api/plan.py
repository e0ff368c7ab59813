"""What an evaluation would do, before anything is run: `localfact eval --plan`."""

from collections.abc import Sequence
from typing import Any

from localfact.api.evaluate import Job, usual_concurrency
from localfact.api.reckoning import asks_labels, gives_claims, reckon, stride_of
from localfact.claims.chunks import chunks_of
from localfact.methods.citations import count_citations
from localfact.methods.comparing import MOST_OF_A_CLAIM, compares_claims, count_claim_pairs
from localfact.methods.extraction import CHUNKED, EXTRACTORS
from localfact.methods.registry import relation_names
from localfact.methods.relations import LLM, relation_kind
from localfact.methods.wiring import Configuration
from localfact.records import Response
from localfact.text import word_count

#: The most responses that cannot be used of which it is said why.
UNUSABLE_SHOWN = 20


def plan(job: Job) -> dict[str, Any]:
    """What a job would do, as plain values; nothing is run and no model is loaded.

    `pairs_given` counts the relations of the responses that bring both claims and passages; those of the others depend on what
    will be extracted and retrieved (at most kn, nm and nm + m^2 for FR1, FR2 and FR3). `language_model_calls` is what is known
    before any answer: FastFact's N/w extractions, and at most one call a claim. `reckoned` has all calls, tokens and
    hours by the method's formula, roughly. None of it needs weights; only the folder's name follows from them.
    """
    chosen = job.chosen
    mine = [job.responses[index] for index in job.indices]
    shown = [response for response in mine if response.problem is not None][:UNUSABLE_SHOWN]
    usable = [response for response in mine if response.problem is None]
    given = [response for response in usable if gives_claims(chosen, response)]
    extracted = [response for response in usable if not gives_claims(chosen, response)]
    return {
        "method": chosen.method.name,
        "responses": len(mine),
        "responses_unusable": len(mine) - len(usable),
        "unusable": {response.id: response.problem for response in shown},
        "warnings": list(job.warnings),
        "words": sum(word_count(response.text) for response in usable),
        "claims_given": sum(len(response.claims or ()) for response in given),
        "responses_to_extract": len(extracted),
        "passages_given": sum(len(response.evidence.passages) for response in usable if response.evidence),
        **pairs_of(chosen, given),
        **claim_pairs_of(chosen, given),
        **citations_of(chosen, usable),
        **({} if chosen.settings.recall is None else {"key_fact_pairs_at_most": chosen.settings.recall.facts * len(usable)}),
        "language_model_calls": tell_calls(chosen, given, extracted) if chosen.facts is not None else 0,
        "reckoned": reckon(chosen, usable),
        "responses_at_once": usual_concurrency(chosen),
        "machine": dict(chosen.facts.machine) if chosen.facts is not None else {},
        "run": str(job.out) if chosen.facts is None or chosen.facts.is_here else "named once the weights are here",
        "settings": chosen.settings.plain(),
    }


def pairs_of(chosen: Configuration, given: Sequence[Response]) -> dict[str, int]:
    """How many pairs would be related for the responses that bring both; empty for a method that relates none."""
    if chosen.method.relations is None:
        return {}
    judge = chosen.method.assessor(chosen.settings, None)
    pairs = [judge.pairs(response.claims or (), response.evidence) for response in given if response.evidence is not None]
    return {"pairs_given": sum(map(len, pairs))}


def claim_pairs_of(chosen: Configuration, given: Sequence[Response]) -> dict[str, int]:
    """How many pairs of given claims would be compared; empty where none is."""
    if not compares_claims(chosen.settings):
        return {}
    return {"claim_pairs_given": sum(map(count_claim_pairs, given))}


def citations_of(chosen: Configuration, usable: Sequence[Response]) -> dict[str, int]:
    """The sentences, citations and pairs at most of all responses, before any source is read; empty where not asked."""
    if chosen.settings.citations is None:
        return {}
    found = [count_citations(response) for response in usable]
    return {f"citation_{name}": sum(one[name] for one in found) for name in ("sentences", "marks", "pairs_at_most")}


def tell_calls(chosen: Configuration, given: Sequence[Response], extracted: Sequence[Response]) -> str:
    """The calls of the language model, in words, as far as they are known before any answer."""
    settings = chosen.settings.extraction
    kind, related = EXTRACTORS[settings.extractor], relation_names(chosen.method, chosen.options)
    calls: list[str] = []
    if kind.asks_model:
        chunks = sum(len(chunks_of(response.text, stride_of(settings))) for response in extracted)
        calls.append(f"{chunks} to extract")
    if asks_labels(chosen):
        calls.append("one a claim extracted, for the probabilities of its labels")
    calls += [*kind.calls, *(relation_kind(related[0]).calls if related else ())]
    if LLM in related[1:]:
        calls.append("up to two a claim for a second opinion")
    if compares_claims(chosen.settings) and LLM in related[:1]:
        calls.append(f"up to {MOST_OF_A_CLAIM} a claim to compare it with others of the text")
    if chosen.settings.recall is not None and LLM in related[:1]:
        calls.append(f"up to {chosen.settings.recall.facts} a response to look for key facts")
    calls += chosen.method.calls
    claims = sum(len(response.claims or ()) for response in given)
    if claims and settings.revise:
        calls.append(f"one for each of {claims} given claims, to revise them")
    if claims and settings.extractor == CHUNKED:
        calls.append(f"two for each of {claims} given claims, to pre-verify them")
    return ", ".join(calls)
