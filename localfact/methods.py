"""The named methods: which strategy for which stage, and with which defaults. The only file that names concrete strategies.

`resolve` turns a method and options into plain settings, loading nothing: they decide the results, name the run folder
and stand in run.yaml. `wire` turns settings into a pipeline, loading what they name.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from localfact.assess.factreasoner import FactReasoner
from localfact.assess.fastfact import FastFact
from localfact.claims.chunked import ChunkedExtractor
from localfact.claims.chunks import chunks_of
from localfact.claims.given import GivenClaims
from localfact.claims.preverified import PreVerifiedClaims
from localfact.claims.rules import RuleExtractor
from localfact.embedding import NO_EMBEDDER, Embedder, named_embedder
from localfact.engines import EngineFacts, open_engine
from localfact.errors import InputError
from localfact.evidence.corpus import Corpus, corpus_identity
from localfact.evidence.given import GivenEvidence
from localfact.evidence.passages import PassageKind
from localfact.evidence.retriever import CorpusRetriever
from localfact.llm.engine import Engine, EngineIdentity
from localfact.modelcards import load_card
from localfact.options import Options, Tables
from localfact.pipeline import Pipeline
from localfact.prompts import prompt_hashes
from localfact.records import Response
from localfact.relations.lexical import LexicalRelationModel, lexical_identity
from localfact.stages import Assessor, ClaimExtractor, RelationModel, Retriever

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Method:
    """What every named method says of itself.

    Attributes:
        passages: the kind of passages it reads. k: how many are retrieved per claim.
        merge_near_duplicates: whether passages that are almost the same become one.
        needs_model: whether it asks a language model.
    """

    name: str
    description: str
    passages: PassageKind
    k: int
    merge_near_duplicates: bool
    needs_model: bool


@dataclass(frozen=True)
class FactReasonerMethod(Method):
    """A version of FactReasoner without a language model.

    Attributes:
        version: 1, 2 or 3. relations: the relation model it uses unless told. tables, passage_prior: its other defaults.
        gate: a claim is related to another claim's passage only if that matches it at least this fraction as well as the worst
            of its own; None relates all.
    """

    version: Literal[1, 2, 3] = 2
    relations: str = "lexical"
    tables: Tables = "balanced"
    passage_prior: float = 0.99
    gate: float | None = 0.8


@dataclass(frozen=True)
class FastFactMethod(Method):
    """FastFact (sections 4.1-4.4): its options are the user's, with the paper's values as defaults (see Options)."""


def builtin(name: str, description: str, version: Literal[1, 2, 3]) -> FactReasonerMethod:
    """A version of FactReasoner that needs no language model, with our own defaults."""
    return FactReasonerMethod(
        name,
        f"no language model; {description}",
        passages="pages",
        k=5,
        merge_near_duplicates=True,
        needs_model=False,
        version=version,
    )


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        builtin("builtin-fr1", "each claim with its own passages", 1),
        builtin("builtin-fr2", "every claim with every passage", 2),
        builtin("builtin-fr3", "as builtin-fr2, and passages with one another", 3),
        FastFactMethod(
            "fastfact",
            "FastFact: claims and pre-verification in one call, evidence and a verifier for what that leaves open",
            passages="chunks",
            k=10,
            merge_near_duplicates=False,
            needs_model=True,
        ),
    )
}
DEFAULT_METHOD = "builtin-fr2"
DEFAULT_METHOD_WITH_MODEL = "fastfact"

RELATION_MODELS = ("lexical",)


def find_method(name: str) -> Method:
    """The method of that name.

    Raises:
        InputError: there is none; the nearest name is suggested.
    """
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(name, METHODS, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(METHODS)}."
    raise InputError(f"There is no method '{name}'. {hint} `localfact methods` describes them.")


def method_for(name: str | None, options: Options) -> Method:
    """The named method, or the default: fastfact where a language model is named, else builtin-fr2.

    Raises:
        InputError: no such method, one that needs a model without one, or one that uses none with one.
    """
    method = find_method(name or (DEFAULT_METHOD_WITH_MODEL if options.names_model else DEFAULT_METHOD))
    if method.needs_model and not options.names_model:
        raise InputError(f"The method {method.name} asks a language model: name one with --model (`localfact models list`).")
    if options.names_model and not method.needs_model:
        raise InputError(
            f"The method {method.name} uses no language model; leave --model out, or take --method {DEFAULT_METHOD_WITH_MODEL}."
        )
    return method


def known_relation_model(name: str) -> None:
    """Raises InputError when there is no relation model of that name."""
    if name not in RELATION_MODELS:
        raise InputError(f"There is no relation model '{name}'. There are: {', '.join(RELATION_MODELS)}.")


def resolve(method: Method, options: Options, identity: EngineIdentity | None = None) -> dict[str, Any]:
    """Everything about the method that decides results, as plain values. Opens the corpus's description, loads no model.

    Args:
        method: from METHODS. options: what departs from its defaults.
        identity: of the language model, for a method that asks one (`engines.engine_facts`).

    Raises:
        InputError: an unknown relation model or solver.
        MissingError: an unknown embedder, or no corpus where the options name one.
    """
    embedder = None if options.embedder == NO_EMBEDDER else load_card(options.embedder).identity
    common = {
        "method": method.name,
        "claims": options.claims or "given",
        "corpus": corpus_identity(options.corpus) if options.corpus else None,
        "embedder": embedder,
        "passages": method.passages,
        "k": options.k or method.k,
        "merge_near_duplicates": method.merge_near_duplicates,
        "seed": options.seed,
    }
    if isinstance(method, FactReasonerMethod):
        return common | factreasoner_settings(method, options, embedder)
    if identity is None:
        raise AssertionError("a method that asks a language model is resolved with that model's identity")
    return common | fastfact_settings(options, identity)


def factreasoner_settings(method: FactReasonerMethod, options: Options, embedder: str | None) -> dict[str, Any]:
    """What decides the results of a version of FactReasoner."""
    known_relation_model(options.relations or method.relations)
    settings = {
        "extractor": "rules",
        "gate": method.gate,
        "relations": lexical_identity(embedder),
        "tables": options.tables or method.tables,
        "passage_prior": method.passage_prior if options.passage_prior is None else options.passage_prior,
        "hosts": dict(sorted(options.hosts.items())),
        "solver": options.solver,
        "seed": options.seed,
    }
    factreasoner(method, settings)  # refuses what it cannot use, before anything is loaded or written
    return settings


def extractor_settings(options: Options, identity: EngineIdentity) -> dict[str, Any]:
    """What decides the claims and their pre-verification."""
    return {
        "extractor": "chunked",
        "model": identity.model_dump(mode="json"),
        "prompts": prompt_hashes(),
        "stride": options.stride,
        "confidence": options.confidence,
        "keep_duplicates": options.keep_duplicates,
        "extraction_tokens": options.extraction_tokens,
    }


def fastfact_settings(options: Options, identity: EngineIdentity) -> dict[str, Any]:
    """What decides the results of FastFact."""
    return extractor_settings(options, identity) | {
        "theta": options.theta,
        "verification_tokens": options.verification_tokens,
    }


def wire(method: Method, options: Options, settings: Settings, facts: EngineFacts | None = None) -> Pipeline:
    """Loads what the settings name and puts the strategies together; `facts` as `engines.open_engine`.

    Raises:
        MissingError: weights or a corpus that are not there. CorpusError: a damaged corpus, or one of another embedder.
        EngineError: the language model cannot start.
    """
    embedder = named_embedder(options.embedder)
    found = retriever(options, settings, embedder)
    if isinstance(method, FactReasonerMethod):
        extractor: ClaimExtractor = RuleExtractor()
        if settings["claims"] == "given":
            extractor = GivenClaims(extractor)
        return Pipeline(extractor, found, LexicalRelationModel(embedder), factreasoner(method, settings))
    engine = open_engine(options, facts)
    return Pipeline(llm_extractor(engine, settings), found, None, fastfact(engine, settings), close=engine.aclose)


def llm_extractor(engine: Engine, settings: Settings) -> ClaimExtractor:
    """Claims with their pre-verification by the language model; given claims are only pre-verified."""
    extractor = ChunkedExtractor(
        engine,
        stride=settings["stride"],
        max_tokens=settings["extraction_tokens"],
        confidence=settings["confidence"],
        keep_duplicates=settings["keep_duplicates"],
        seed=settings["seed"],
    )
    return PreVerifiedClaims(engine, extractor, seed=settings["seed"]) if settings["claims"] == "given" else extractor


def fastfact(engine: Engine, settings: Settings) -> Assessor:
    """FastFact's gate and verifier."""
    return FastFact(engine, theta=settings["theta"], max_tokens=settings["verification_tokens"], seed=settings["seed"])


def factreasoner(method: FactReasonerMethod, settings: Settings) -> FactReasoner:
    """FactReasoner's assessor: it loads nothing, so a plan can ask it which pairs it would need."""
    return FactReasoner(
        version=method.version,
        tables=settings["tables"],
        passage_prior=settings["passage_prior"],
        host_priors=settings["hosts"],
        gate=settings["gate"],
        solver=settings["solver"],
        seed=settings["seed"],
    )


def plan_of(method: Method, settings: Settings, responses: Sequence[Response]) -> dict[str, Any]:
    """What the method would ask of its models for these responses, as far as that is known before any answer."""
    given = [response for response in responses if response.claims is not None and settings["claims"] == "given"]
    if isinstance(method, FactReasonerMethod):
        judge = factreasoner(method, settings)
        pairs = [judge.pairs(response.claims or (), response.evidence) for response in given if response.evidence is not None]
        return {"pairs_given": sum(map(len, pairs)), "language_model_calls": 0}
    with_claims = {response.id for response in given}
    chunks = [chunks_of(response.text, settings["stride"]) for response in responses if response.id not in with_claims]
    claims = sum(len(response.claims or ()) for response in given)
    calls = f"{sum(map(len, chunks))} to extract, then one a claim that is not settled"
    return {"language_model_calls": calls + (f"; {claims} claims are given: at most three each" if claims else "")}


def retriever(options: Options, settings: Settings, embedder: Embedder | None) -> Retriever:
    """The response's own passages where it brings some, else the corpus."""
    corpus = None
    if options.corpus is not None:
        corpus = CorpusRetriever(
            Corpus.open(options.corpus, embedder),
            kind=settings["passages"],
            k=settings["k"],
            merge_near_duplicates=settings["merge_near_duplicates"],
        )
    return GivenEvidence(corpus, embedder, k=settings["k"], merge_near_duplicates=settings["merge_near_duplicates"])


def relation_model(name: str, embedder_name: str) -> RelationModel:
    """A relation model by itself, for `localfact relate`.

    Raises:
        InputError: an unknown relation model. MissingError: an embedder that is not on this machine.
    """
    known_relation_model(name)
    return LexicalRelationModel(named_embedder(embedder_name))
