"""What decides a run's results, settled: frozen, a class a stage, known before anything is loaded. `plain` of it is run.yaml.

An option that decides results as it stands is a field here because its group of options is a base class (`options.py`). A field
that a strategy has no use for is left unset, and then stands nowhere.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import SerializeAsAny

from localfact.assess.priormap import PriorMap
from localfact.corpus.passages import PassageKind
from localfact.evidence.admission import Admission
from localfact.llm.engine import EngineIdentity
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
from localfact.records import Probability, Record


class ExtractionSettings(Record):
    """What decides the claims and their pre-verification, besides the language model.

    Attributes:
        claims: whether claims that come with a response are taken. extractor: a name of extraction.EXTRACTORS.
    """

    claims: Literal["given", "extract"]
    extractor: str


class AtomizerSettings(AnswerOptions, ExtractionSettings):
    """FactReasoner's atomizer and reviser."""


class ChunkSettings(ChunkOptions, ExtractionSettings):
    """FastFact's extraction, with the way in which confidence is read settled."""

    confidence: Confidence


class EvidenceSettings(Record):
    """What decides which passages a claim gets. Who searches the web decides nothing that is not recorded in the corpus.

    Attributes:
        embedder: identity; None for BM25 alone.
        corpus: what tells it from others: its content hash under scope "corpus", its id under scope "query".
        content: under scope "query", offline: the content hash, for a claim that was never searched for gets the whole corpus.
        results: of a search so many are used. reranker: identity.
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
    merge_near_duplicates: bool


class AssessmentSettings(Record):
    """What decides the verdicts; each assessor has a class of its own."""

    @property
    def reads_affinity(self) -> bool:
        """Whether it asks how well claims match other claims' passages."""
        return False


class FastFactSettings(VerifierOptions, GateOptions, AssessmentSettings):
    """FastFact's gate and verifier."""


class FactReasonerSettings(GraphOptions, AssessmentSettings):
    """FactReasoner's graph (see assess/factreasoner.py). `relations` is the identity of the relation model."""

    version: Literal[1, 2, 3]
    gate: float | None
    relations: str
    tables: Tables
    passage_prior: Probability

    @property
    def reads_affinity(self) -> bool:
        """Only the gate of pairs asks it."""
        return self.gate is not None


class LocalFactSettings(GateOptions, FactReasonerSettings):
    """The gate before the graph; `prior_map` is the map itself, for its content decides, not its path."""

    prior_map: PriorMap | None = None


class DataSettings(Record):
    """Which responses: the file's hash, and how many of its rows at most."""

    sha256: str
    limit: int | None


class Settings(Record):
    """Everything that decides a run's results.

    Attributes:
        data: None where nothing is read from a file. model, prompts: the language model and the hashes of what it is told;
            unset for a method that asks none.
    """

    method: str
    data: DataSettings | None = None
    seed: int
    extraction: SerializeAsAny[ExtractionSettings]
    evidence: EvidenceSettings
    assessment: SerializeAsAny[AssessmentSettings]
    model: EngineIdentity | None = None
    prompts: Mapping[str, str] | None = None

    def plain(self) -> dict[str, Any]:
        """As plain values, without what is unset: what run.yaml says."""
        return {name: set_fields(getattr(self, name)) for name in type(self).model_fields if name in self.model_fields_set}


def set_fields(value: Any) -> Any:
    """A value as plain ones; of the settings of a stage only what is set, of every other record all of it."""
    if not isinstance(value, Record):
        return value
    whole = value.model_dump(mode="json")
    if not isinstance(value, ExtractionSettings | EvidenceSettings | AssessmentSettings):
        return whole
    return {name: whole[name] for name in type(value).model_fields if name in value.model_fields_set}


#: The parts of settings, and what stood in them when run.yaml had no parts.
PARTS: Mapping[str, tuple[str, ...]] = {
    "extraction": ("claims", "extractor", "extraction_tokens", "stride", "confidence", "keep_duplicates"),
    "evidence": (
        *("embedder", "corpus", "passages", "k", "admission", "reranker", "scope", "results", "content", "queries"),
        "merge_near_duplicates",
    ),
    "assessment": (
        *("version", "gate", "relations", "tables", "passage_prior", "hosts", "solver", "theta", "verification_tokens"),
        "prior_map",
    ),
}


def upgraded(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run.yaml in today's form; the first version of localfact wrote them without parts."""
    if any(part in plain for part in PARTS):
        return dict(plain)
    moved = {name for names in PARTS.values() for name in names}
    parts = {part: {name: plain[name] for name in names if name in plain} for part, names in PARTS.items()}
    return {name: value for name, value in plain.items() if name not in moved} | parts


def without_parts(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The settings in the form of the first version, whose hash names a run folder still."""
    inner = {name: value for part in PARTS for name, value in plain.get(part, {}).items()}
    return {name: value for name, value in plain.items() if name not in PARTS} | inner
