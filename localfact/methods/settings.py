"""The settings that decide a run's results: frozen, one class a stage, known before anything is loaded. `plain` makes run.yaml.

An option that decides results unchanged is a field here because its group of options is a base class (`options.py`). A field
that a strategy does not use is left unset, and is then written nowhere.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import SerializeAsAny, SerializerFunctionWrapHandler, model_serializer

from localfact.assess.posteriors import Rules
from localfact.assess.priormap import PriorMap
from localfact.corpus.passages import PassageKind
from localfact.evidence.admission import Admission
from localfact.llm.engine import EngineIdentity
from localfact.llm.layers.policy import AskingPolicy
from localfact.methods.options import (
    AnswerOptions,
    ChunkOptions,
    Confidence,
    GateOptions,
    GraphOptions,
    Scope,
    Tables,
    VerifierOptions,
)
from localfact.prompts import Judge
from localfact.records import Probability, Record


class ExtractionSettings(Record):
    """What decides the claims and their pre-verification, besides the language model.

    Attributes:
        claims: whether claims that come with a response are used. extractor: a name in extraction.EXTRACTORS.
    """

    claims: Literal["given", "extract"]
    extractor: str


class SmallLanguageModelSettings(ExtractionSettings):
    """The small language model that takes sentences apart: its identity, and that of the relation model that checks it."""

    writer: str
    checked_by: str


class AtomizerSettings(AnswerOptions, ExtractionSettings):
    """FactReasoner's atomizer and reviser."""


class ChunkSettings(ChunkOptions, ExtractionSettings):
    """FastFact's extraction, with `confidence` resolved to one of its values."""

    confidence: Confidence


class EvidenceSettings(Record):
    """What decides which passages a claim gets. Searching the web decides nothing that is not recorded in the corpus.

    Attributes:
        embedder: identity; None for BM25 alone.
        corpus: the corpus's identity: its content hash under scope "corpus", its id under scope "query".
        content: under scope "query", offline: the content hash, as claims without a recorded search get the whole corpus.
        results: how many results of a search are used. reranker: identity. queries_per_claim: unset where it is 1.
        steps: the most searches for a claim one after the other; unset where it is 1.
    """

    embedder: str | None
    corpus: str | None
    passages: PassageKind
    k: int
    admission: Admission = Admission()
    reranker: str | None = None
    scope: Scope | None = None
    results: int = 0
    content: str | None = None
    queries: Literal["claim", "llm"]
    queries_per_claim: int = 1
    steps: int = 1
    merge_near_duplicates: bool


class AssessmentSettings(Record):
    """What decides the verdicts; each assessor has a class of its own."""

    @property
    def reads_affinity(self) -> bool:
        """Whether affinities of claims to other claims' passages are needed."""
        return False


class FastFactSettings(VerifierOptions, GateOptions, AssessmentSettings):
    """FastFact's gate and verifier."""


class JudgeSettings(VerifierOptions, AssessmentSettings):
    """A judge that the papers compare with: the name of its style (`assess/judges/styles.py`)."""

    judge: Judge


class FactReasonerSettings(GraphOptions, AssessmentSettings):
    """FactReasoner's graph (see assess/factreasoner.py).

    Attributes:
        relations, second_opinion: the identities of the relation models; the second is unset where none is asked again.
        rules: unset where they are as published.
    """

    version: Literal[1, 2, 3]
    rules: Rules = "published"
    gate: float | None
    relations: str
    tables: Tables
    passage_prior: Probability
    second_opinion: str | None = None

    @property
    def reads_affinity(self) -> bool:
        """Only the gate of pairs needs them."""
        return self.gate is not None


class LocalFactSettings(GateOptions, FactReasonerSettings):
    """The gate before the graph; `prior_map` is the map itself, as its content decides, not its path."""

    prior_map: PriorMap | None = None


class DataSettings(Record):
    """Which responses: the file's hash, the most rows of it, and which share of those ("3/8"), unset for all."""

    sha256: str
    limit: int | None
    shard: str | None = None

    @model_serializer(mode="wrap")
    def _without_what_is_unset(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Runs of all responses are called what they were called before there were shards."""
        found: dict[str, Any] = plain(self)
        return {name: value for name, value in found.items() if name != "shard" or value is not None}


class Settings(Record):
    """Everything that decides a run's results.

    Attributes:
        data: None where nothing is read from a file. model, prompts, asking: the language model, the hashes of its prompts, and
            how it is asked; unset for a method that asks none.
    """

    method: str
    data: DataSettings | None = None
    seed: int
    extraction: SerializeAsAny[ExtractionSettings]
    evidence: EvidenceSettings
    assessment: SerializeAsAny[AssessmentSettings]
    model: EngineIdentity | None = None
    prompts: Mapping[str, str] | None = None
    asking: AskingPolicy | None = None

    def plain(self) -> dict[str, Any]:
        """The settings as plain values, without unset fields: the content of run.yaml."""
        return {name: set_fields(getattr(self, name)) for name in type(self).model_fields if name in self.model_fields_set}


def set_fields(value: Any) -> Any:
    """A value as plain values; of a stage's settings only the set fields, of every other record all."""
    if not isinstance(value, Record):
        return value
    whole = value.model_dump(mode="json")
    if not isinstance(value, ExtractionSettings | EvidenceSettings | AssessmentSettings):
        return whole
    return {name: whole[name] for name in type(value).model_fields if name in value.model_fields_set}


def windowless(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without the window of the language model, which another machine may have another of."""
    model = plain.get("model")
    if not isinstance(model, Mapping):
        return dict(plain)
    return {**plain, "model": {name: value for name, value in model.items() if name != "window"}}
