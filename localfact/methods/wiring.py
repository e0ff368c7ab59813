"""From settings to a pipeline: with `sources.py` the only file that names concrete strategies. `wire` loads what they name."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from localfact.assess.fastfact import FastFact
from localfact.assess.localfact import LocalFact
from localfact.assess.priormap import PriorMap
from localfact.claims.atomizer import Atomizer
from localfact.claims.chunked import ChunkedExtractor
from localfact.claims.chunks import chunks_of
from localfact.claims.given import GivenClaims
from localfact.claims.preverified import PreVerifiedClaims
from localfact.claims.reviser import RevisedClaims, Reviser
from localfact.claims.rules.extractor import RuleExtractor
from localfact.evidence.queries import LLMQueries
from localfact.llm.engine import Engine
from localfact.methods.engine import EngineFacts, Start, engine_facts, open_engine, start_engine
from localfact.methods.evidence import Source, open_source, retriever
from localfact.methods.extraction import Settings, factreasoner
from localfact.methods.options import Options
from localfact.methods.registry import (
    BUILTIN_NLI,
    LEXICAL,
    LLM,
    FactReasonerMethod,
    FastFactMethod,
    Method,
    relation_card,
    relations_of,
)
from localfact.models.cards import load_card, weights_folder
from localfact.models.embedder import NO_EMBEDDER, Embedder, named_embedder
from localfact.pipeline import Close, Pipeline, unobserved
from localfact.records import Response
from localfact.relations.cache import KeptRelations
from localfact.relations.crossencoder import CrossEncoderRelationModel, cross_encoder_identity
from localfact.relations.lexical.model import LexicalRelationModel, lexical_identity
from localfact.relations.llm import LLMRelationModel, llm_identity
from localfact.stages import Assessor, ClaimExtractor, RelationModel


def wire(
    method: Method,
    options: Options,
    settings: Settings,
    facts: EngineFacts | None = None,
    start: Start = start_engine,
) -> Pipeline:
    """Loads what the settings name and puts the strategies together; a language model last, for it takes longest.

    Args:
        method, options: as for `resolve`. settings: from it. facts: of the language model, where they are known already.
        start: what loads the language model.

    Raises:
        MissingError: weights or a corpus that are not there. CorpusError: a damaged corpus, or one of another embedder.
        EngineError: the language model cannot start.
    """
    embedder = named_embedder(options.embedder)
    source = open_source(options, embedder, settings)
    try:
        return wired(method, options, settings, source, embedder, partial(open_engine, options, facts, start))
    except BaseException:
        source.finish(False, unobserved)
        raise


def wired(
    method: Method,
    options: Options,
    settings: Settings,
    source: Source,
    embedder: Embedder | None,
    open_model: Callable[[], Engine],
) -> Pipeline:
    """As `wire`, with the passages' source open."""
    related = relation_model(relations_of(method, options), embedder) if isinstance(method, FactReasonerMethod) else None
    engine = open_model() if options.names_model else None
    if isinstance(method, FactReasonerMethod) and related is None and engine is not None:
        related = LLMRelationModel(engine, seed=settings["seed"])
    queries = LLMQueries(engine, seed=settings["seed"]) if settings["queries"] == LLM and engine is not None else None
    pipeline = Pipeline(
        extractor(engine, settings),
        retriever(source, embedder, queries, settings),
        related,
        assessor(engine, settings),
    )
    return replace(pipeline, close=closing(engine, related, source), notes=source.notes, finish=source.finish)


def closing(engine: Engine | None, related: RelationModel | None, source: Source | None = None) -> Close:
    """Ends what the strategies hold open: connections to the web, the threads of models of ours, the engine."""

    async def close() -> None:
        if source is not None and source.collector is not None:
            await source.collector.aclose()
        if source is not None and source.corpus is not None:
            source.corpus.close()
        if source is not None and source.reranker is not None:
            await asyncio.to_thread(source.reranker.close)
        if isinstance(related, CrossEncoderRelationModel):
            await asyncio.to_thread(related.close)
        if engine is not None:
            await engine.aclose()

    return close


def keeping(pipeline: Pipeline, settings: Settings, options: Options, file: Path) -> Pipeline:
    """The pipeline with what its relation model predicts kept in a file: that of the options, or the given one.

    Word overlap is kept only where the options name a file: it is predicted again as quickly as it is read.
    """
    lexical = str(settings.get("relations")).startswith(LEXICAL)
    if pipeline.relation_model is None or (lexical and options.kept_relations is None):
        return pipeline
    kept = KeptRelations(pipeline.relation_model, options.kept_relations or file)

    async def close() -> None:
        try:
            await pipeline.close()
        finally:
            await asyncio.to_thread(kept.close)

    return replace(pipeline, relation_model=kept, close=close)


def extractor(engine: Engine | None, settings: Settings) -> ClaimExtractor:
    """Claims by rules, by FactReasoner's atomizer and reviser, or by FastFact's extraction; given ones first unless told."""
    if settings["extractor"] == "chunked" and engine is not None:
        return llm_extractor(engine, settings)
    found: ClaimExtractor = RuleExtractor()
    if settings["extractor"] == "atomizer" and engine is not None:
        seed, longest = settings["seed"], settings["extraction_tokens"]
        found = RevisedClaims(Atomizer(engine, max_tokens=longest, seed=seed), Reviser(engine, max_tokens=longest, seed=seed))
    return GivenClaims(found) if settings["claims"] == "given" else found


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


def assessor(engine: Engine | None, settings: Settings) -> Assessor:
    """Who decides: FastFact's verifier, FactReasoner's graph, or the graph behind FastFact's gate."""
    if "verification_tokens" in settings:
        if engine is None:
            raise AssertionError("FastFact is wired with a language model")
        return FastFact(engine, theta=settings["theta"], max_tokens=settings["verification_tokens"], seed=settings["seed"])
    reasoner = factreasoner(settings)
    if "theta" not in settings:
        return reasoner
    prior_map = PriorMap.model_validate(settings["prior_map"]) if "prior_map" in settings else None
    return LocalFact(reasoner, theta=settings["theta"], prior_map=prior_map)


def relation_model(name: str, embedder: Embedder | None) -> RelationModel | None:
    """A relation model by name; None for the language model, whose engine is opened by itself.

    Raises:
        InputError: an unknown relation model. MissingError: weights that are not on this machine.
    """
    card = relation_card(name)
    if card is not None:
        return CrossEncoderRelationModel(card)
    return LexicalRelationModel(embedder) if name == LEXICAL else None


@dataclass(frozen=True)
class FoundRelationModel:
    """A relation model that is on this machine and not loaded yet; `open` loads it and says how to close it."""

    identity: str
    open: Callable[[], tuple[RelationModel, Close]]


def find_relation_model(options: Options) -> FoundRelationModel:
    """The relation model that `open_relation_model` would open.

    Raises:
        InputError: an unknown relation model, or the language model without a --model. MissingError: weights that are not here.
    """
    name = options.relations or BUILTIN_NLI
    if name == LLM:
        facts = engine_facts(options)
        return FoundRelationModel(llm_identity(facts.identity, options.seed), partial(open_relation_model, options, facts))
    card = relation_card(name)
    loaded = card or (load_card(options.embedder) if options.embedder != NO_EMBEDDER else None)
    if loaded is not None:
        weights_folder(loaded)
    identity = cross_encoder_identity(card) if card is not None else lexical_identity(loaded.identity if loaded else None)
    return FoundRelationModel(identity, partial(open_relation_model, options))


def open_relation_model(options: Options, facts: EngineFacts | None = None) -> tuple[RelationModel, Close]:
    """The relation model that the options name, by itself, the one that ships unless told; and how to close it.

    Args:
        options: name it. facts: of the language model, where they are known already.

    Raises:
        InputError: an unknown relation model, or the language model without a --model. MissingError: weights that are not here.
    """
    name = options.relations or BUILTIN_NLI
    if name == LLM:
        engine = open_engine(options, facts)
        return LLMRelationModel(engine, seed=options.seed), engine.aclose
    model = relation_model(name, named_embedder(options.embedder) if name == LEXICAL else None)
    if model is None:
        raise AssertionError(f"{name} is neither a card nor word overlap")
    return model, closing(None, model)


def plan_of(method: Method, settings: Settings, responses: Sequence[Response]) -> dict[str, Any]:
    """What the method would ask of its models for these responses, as far as that is known before any answer."""
    given = [response for response in responses if response.claims is not None and settings["claims"] == "given"]
    plan: dict[str, Any] = {"language_model_calls": 0}
    if isinstance(method, FactReasonerMethod):
        judge = assessor(None, settings)
        pairs = [judge.pairs(response.claims or (), response.evidence) for response in given if response.evidence is not None]
        plan = {"pairs_given": sum(map(len, pairs)), **plan}
    if "model" not in settings:
        return plan
    with_claims = {response.id for response in given}
    stride = settings.get("stride", "max")
    chunks = [chunks_of(response.text, stride) for response in responses if response.id not in with_claims]
    calls = [f"{sum(map(len, chunks))} to extract"]
    if settings["extractor"] == "atomizer":
        calls.append("one a claim extracted to revise it")
    if isinstance(method, FactReasonerMethod) and str(settings["relations"]).startswith(f"{LLM}+"):
        calls.append("one a pair to relate")
    if isinstance(method, FastFactMethod):
        calls.append("one a claim that is not settled")
    claims = sum(len(response.claims or ()) for response in given)
    if claims and settings["extractor"] == "chunked":
        calls.append(f"two for each of {claims} given claims, to pre-verify them")
    return plan | {"language_model_calls": ", ".join(calls)}
