"""Which part of a run reads which option, written once: what refuses an option that would change nothing is derived from it.

A new option has a line in USES (a test holds that); `uses.py` says which parts a method has.
"""

from collections.abc import Mapping
from enum import Enum

from localfact.methods.options import GraphOptions, ModelOptions, WebOptions


class RunPart(Enum):
    """A part of a run that not every run has: what an option of it is about, and how to get it where no method decides that."""

    MODEL = "a language model", "Name one with --model or --endpoint"
    ASKED_CLAIMS = "claims that a language model extracts", ""
    CHUNKS = "FastFact's extraction in chunks", ""
    GATE = "the gate that lets sure claims pass without evidence", ""
    ANSWERS = "answers that a language model writes about a claim", ""
    RELATIONS = "relations of claims and passages", ""
    CALIBRATION = "a language model's relations, or its True and False", ""
    RELATION_MAP = "a language model's relations", ""
    GRAPH = "FactReasoner's graph", ""
    PRIORS = "priors from what the extractor thinks of its claims", ""
    EMBEDDER = "vectors of texts", "Word overlap is what uses them: --relations lexical"
    CORPUS = "pages of a corpus", "Name one with --corpus, or search the web with --provider"
    SEARCHES = "searches of each claim's own", "`localfact corpus fetch` makes them; --k says how many passages a claim gets"
    FETCHING = "pages fetched from the web", "Search it with --provider, for whole pages"
    SEARXNG = "a SearXNG of your own", "Ask it with --provider searxng"

    def __init__(self, about: str, cure: str) -> None:
        self.about, self.cure = about, cure


#: Each field of `Options` and what reads it; None for what every run does.
USES: Mapping[str, RunPart | None] = {
    **dict.fromkeys(
        (
            "seed",
            "claims",
            "extractor",
            "merge_duplicates",
            "citations",
            "key_facts",
            "corpus",
            "evidence",
            "queries",
            "queries_per_claim",
            "k",
        )
    ),
    **dict.fromkeys(ModelOptions.model_fields, RunPart.MODEL),
    **dict.fromkeys(("extraction_tokens", "context_sentences"), RunPart.ASKED_CLAIMS),
    "revise": RunPart.MODEL,
    **dict.fromkeys(("stride", "confidence"), RunPart.CHUNKS),
    "theta": RunPart.GATE,
    "verification_tokens": RunPart.ANSWERS,
    **dict.fromkeys(("relations", "second_opinion", "relations_cache", "coherence"), RunPart.RELATIONS),
    "calibrated": RunPart.CALIBRATION,
    "relation_map": RunPart.RELATION_MAP,
    **dict.fromkeys(GraphOptions.model_fields, RunPart.GRAPH),
    "probability": RunPart.RELATION_MAP,
    "prior_map": RunPart.PRIORS,
    "verdict_thresholds": RunPart.GRAPH,
    "embedder": RunPart.EMBEDDER,
    **dict.fromkeys(("scope", "block_hosts", "only_hosts", "before", "reranker"), RunPart.CORPUS),
    "results": RunPart.SEARCHES,
    **dict.fromkeys(WebOptions.model_fields, RunPart.FETCHING),
    "providers": None,
    "searxng_url": RunPart.SEARXNG,
}
