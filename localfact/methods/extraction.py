"""From a method and the user's options to plain settings: all that decides the results, with nothing loaded.

They name the run folder and stand in run.yaml; `wiring.py` turns them into a pipeline.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from localfact.assess.factreasoner import FactReasoner
from localfact.assess.priormap import read_prior_map
from localfact.corpus.corpus import corpus_identity, read_description, recorded_id
from localfact.errors import InputError
from localfact.evidence.admission import Admission, admission_of
from localfact.evidence.reranker import reranker_identity
from localfact.llm.engine import EngineIdentity
from localfact.methods.options import Options, Scope
from localfact.methods.registry import (
    LEXICAL,
    LLM,
    METHODS,
    FactReasonerMethod,
    FastFactMethod,
    LocalFactMethod,
    Method,
    relation_card,
    relations_of,
)
from localfact.models.cards import load_card
from localfact.models.embedder import NO_EMBEDDER
from localfact.prompts import Task, prompt_hashes
from localfact.relations.crossencoder import cross_encoder_identity
from localfact.relations.lexical.model import lexical_identity
from localfact.relations.windows import READING

Settings = Mapping[str, Any]

#: How many pages FastFact takes for a claim (section 4.2).
RESULTS_OF_A_SEARCH = 5
#: Length of the random id of a corpus that is not there yet.
ID_BYTES = 8


def resolve(method: Method, options: Options, identity: EngineIdentity | None = None) -> dict[str, Any]:
    """Everything about the method that decides results, as plain values. Opens the corpus's description, loads no model.

    Args:
        method: from METHODS. options: what departs from its defaults.
        identity: of the language model, where the options name one (`engines.engine_facts`).

    Raises:
        InputError: an option that the method cannot use, or an unknown relation model.
        MissingError: an unknown embedder, or no corpus where the options name one.
    """
    if options.names_model and identity is None:
        raise AssertionError("a method that asks a language model is resolved with that model's identity")
    embedder = None if options.embedder == NO_EMBEDDER else load_card(options.embedder).identity
    evidence = evidence_settings(method, options)
    settings: dict[str, Any] = {
        "method": method.name,
        "claims": options.claims or "given",
        "embedder": embedder,
        **evidence,
        "queries": options.queries,
        "merge_near_duplicates": method.merge_near_duplicates,
        "seed": options.seed,
        **extractor_settings(method, options, identity),
    }
    if isinstance(method, FactReasonerMethod):
        settings |= factreasoner_settings(method, options, embedder)
    if isinstance(method, FastFactMethod | LocalFactMethod):
        settings |= {"theta": options.theta}
    if options.prior_map is not None:
        settings |= {"prior_map": prior_map_of(method, options.prior_map)}
    if isinstance(method, FastFactMethod):
        settings |= {"verification_tokens": options.verification_tokens}
    if isinstance(method, FactReasonerMethod):
        factreasoner(settings)  # refuses what it cannot use, before anything is loaded or written
    if identity is not None:
        settings |= {"model": identity.model_dump(mode="json"), "prompts": prompt_hashes(*tasks_of(settings))}
    return settings


def evidence_settings(method: Method, options: Options) -> dict[str, Any]:
    """What decides which passages a claim gets. Who searches the web decides nothing that is not recorded in the corpus.

    Raises:
        InputError: options that do not go together, or a date that is none. MissingError: no corpus, no such reranker.
    """
    k = options.k or method.k
    settings: dict[str, Any] = {
        "corpus": None,
        "passages": "snippets" if options.evidence == "snippet" else method.passages,
        "k": k,
    }
    admission = admission_of(options.block_hosts, options.only_hosts, options.before)
    if admission != Admission():
        settings["admission"] = admission.model_dump(mode="json")
    if options.reranker is not None:
        settings["reranker"] = reranker_identity(load_card(options.reranker))
    if options.corpus is None:
        return settings
    if scope_of(options) == "corpus":
        return settings | {"corpus": corpus_identity(options.corpus), "scope": "corpus"}
    results = options.results or (RESULTS_OF_A_SEARCH if method.passages == "chunks" else k)
    settings |= {"corpus": recorded_id(options.corpus), "scope": "query", "results": results}
    if options.live:
        # A corpus that is not there yet gets this id, and keeps it while it grows.
        return settings | {"corpus": settings["corpus"] or secrets.token_hex(ID_BYTES)}
    # A claim that was never searched for gets the whole corpus, so all of it decides.
    return settings | {"content": corpus_identity(options.corpus)}


def scope_of(options: Options) -> Scope:
    """Whether a claim gets the pages of its own search, or those of the whole corpus: the latter where no search is recorded.

    Raises:
        InputError: the whole of a corpus that is still being added to. MissingError: there is no corpus.
    """
    if options.live:
        if options.scope == "corpus":
            raise InputError(
                "--scope corpus searches a finished corpus: fetch it first (`localfact corpus fetch`), then evaluate without "
                "--provider."
            )
        return "query"
    if options.scope == "corpus" or options.corpus is None:
        return "corpus"
    searched = bool(read_description(options.corpus).searches)
    if options.scope == "query" and not searched:
        raise InputError(
            f"--scope query needs searches, and none is recorded in {options.corpus}: `localfact corpus fetch` makes them. "
            "Leave --scope out to search the whole corpus."
        )
    return "query" if searched else "corpus"


def extractor_settings(method: Method, options: Options, identity: EngineIdentity | None) -> dict[str, Any]:
    """What decides the claims and their pre-verification, besides the language model."""
    if identity is None:
        return {"extractor": "rules"}
    shared = {"extractor": method.extractor, "extraction_tokens": options.extraction_tokens}
    if method.extractor != "chunked":
        return shared
    default = method.confidence if isinstance(method, LocalFactMethod) else "token"
    return shared | {
        "stride": options.stride,
        "confidence": options.confidence or default,
        "keep_duplicates": options.keep_duplicates,
    }


def extraction_settings(options: Options, identity: EngineIdentity) -> dict[str, Any]:
    """What decides the claims of FastFact's extraction by itself, for a pass over a file."""
    return {
        **extractor_settings(METHODS["fastfact"], options, identity),
        "model": identity.model_dump(mode="json"),
        "prompts": prompt_hashes("extraction"),
        "claims": "extract",
        "seed": options.seed,
    }


def factreasoner_settings(method: FactReasonerMethod, options: Options, embedder: str | None) -> dict[str, Any]:
    """What decides the results of FactReasoner's graph, besides the language model."""
    name = relations_of(method, options)
    card = relation_card(name)
    identity = lexical_identity(embedder) if name == LEXICAL else f"{LLM}+reading={READING}"
    return {
        "version": method.version,
        "gate": method.gate,
        "relations": cross_encoder_identity(card) if card else identity,
        "tables": options.tables or method.tables,
        "passage_prior": method.passage_prior if options.passage_prior is None else options.passage_prior,
        "hosts": dict(sorted(options.hosts.items())),
        "solver": options.solver,
    }


def prior_map_of(method: Method, file: Path) -> dict[str, Any]:
    """The content of a map of priors: that, not its path, decides results.

    Raises:
        InputError: it is none, or the method has no use for it.
    """
    if not isinstance(method, LocalFactMethod):
        raise InputError(f"The method {method.name} takes no prior from its extractor, so --prior-map would change nothing.")
    return read_prior_map(file).model_dump(mode="json")


def tasks_of(settings: Settings) -> list[Task]:
    """The prompts that a method with these settings sends."""
    of_extractor: Mapping[str, list[Task]] = {"chunked": ["extraction"], "atomizer": ["atomization", "revision"], "rules": []}
    tasks = of_extractor[settings["extractor"]]
    if settings["queries"] == LLM:
        tasks = [*tasks, "query"]
    if str(settings.get("relations", "")).startswith(f"{LLM}+"):
        tasks = [*tasks, "relation"]
    return [*tasks, "verification"] if "verification_tokens" in settings else tasks


def factreasoner(settings: Settings) -> FactReasoner:
    """FactReasoner's assessor: it loads nothing, so a plan can ask it which pairs it would need."""
    return FactReasoner(
        version=settings["version"],
        tables=settings["tables"],
        passage_prior=settings["passage_prior"],
        host_priors=settings["hosts"],
        gate=settings["gate"],
        solver=settings["solver"],
        seed=settings["seed"],
    )
