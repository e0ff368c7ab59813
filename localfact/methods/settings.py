"""The settings that decide a run's results: frozen, one class a stage, known before anything is loaded.

They are what run.yaml holds. A class that has a group of options (`options.py`) as its base has those options as fields: they
decide results just as the user typed them.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import Field, SerializeAsAny

from localfact.assess.factreasoner import Factors
from localfact.assess.judges.calibration import TruthMap
from localfact.assess.posteriors import Rules
from localfact.assess.priormap import PriorMap
from localfact.assess.thresholds import VerdictThresholds
from localfact.claims.merging import Merging
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
from localfact.relations.calibration import RelationMap

Value = TypeVar("Value")


def unwritten(default: Value) -> Value:
    """The default of a field that run.yaml leaves out where it has that value.

    A run's folder is named by a hash of the settings in run.yaml: so a new field renames no run that makes no use of it.
    """
    return Field(default=default, exclude_if=lambda value: value == default)


class ExtractionSettings(Record):
    """What decides the claims and their pre-verification, besides the language model.

    Attributes:
        claims: whether claims that come with a response are used.
        extractor: a name in extraction.EXTRACTORS.
        merging: which equal claims become one.
        revise: whether claims that come with a response are revised.
    """

    claims: Literal["given", "extract"]
    extractor: str
    merging: Merging = unwritten("response")
    revise: Literal["given"] | None = unwritten(None)


class SmallLanguageModelSettings(ExtractionSettings):
    """The small language model that takes sentences apart: its identity, and that of the relation model that checks it."""

    writer: str
    checked_by: str


class PromptedSettings(AnswerOptions, ExtractionSettings):
    """Extractors that ask a language model for claims."""

    context_sentences: str = unwritten("3,1")

    @property
    def around(self) -> tuple[int, int]:
        """How many sentences before and after a chunk are shown with it."""
        before, after = self.context_sentences.split(",")
        return int(before), int(after)


class ChunkSettings(ChunkOptions, PromptedSettings):
    """FastFact's extraction, with `confidence` resolved to one of its values."""

    confidence: Confidence
    context_sentences: str = unwritten("3,1")


class EvidenceSettings(Record):
    """What decides which passages a claim gets. How the web was searched is not among it: what was found is in the corpus.

    Attributes:
        embedder: identity; None for BM25 alone.
        corpus: the corpus's identity: its content hash under scope "corpus", its id under scope "query".
        content: under scope "query", offline: the content hash, as claims without a recorded search get the whole corpus.
        results: how many results of a search are used; 0 where nothing is searched for.
        reranker: identity.
        steps: the most searches for a claim one after the other.
    """

    embedder: str | None
    corpus: str | None
    passages: PassageKind
    k: int
    admission: Admission = unwritten(Admission())
    reranker: str | None = unwritten(None)
    scope: Scope | None = unwritten(None)
    results: int = unwritten(0)
    content: str | None = unwritten(None)
    queries: Literal["claim", "llm"]
    queries_per_claim: int = unwritten(1)
    steps: int = unwritten(1)
    merge_near_duplicates: bool


class AssessmentSettings(Record):
    """What decides the verdicts; each assessor has a class of its own."""

    @property
    def reads_affinity(self) -> bool:
        """Whether affinities of claims to other claims' passages are needed."""
        return False


class FastFactSettings(VerifierOptions, GateOptions, AssessmentSettings):
    """FastFact's gate, with `theta` resolved, and verifier."""

    theta: Probability


class JudgeSettings(VerifierOptions, AssessmentSettings):
    """A judge that the papers compare with.

    Attributes:
        judge: the name of its style (`assess/judges/styles.py`).
        truth_map: calibrates the probability of True: a map, or the name of the pairs that it is to be fitted on when the run
            begins; None leaves it as it comes.
    """

    judge: Judge
    truth_map: TruthMap | str | None = unwritten(None)


class FactReasonerSettings(GraphOptions, AssessmentSettings):
    """FactReasoner's graph (see assess/factreasoner.py).

    Attributes:
        relations: the identity of the relation model.
        second_opinion: of the one that is asked again; None for none.
        relation_map: calibrates a language model's relations: a map, or the name of the pairs that it is to be fitted on when
            the run begins; None for relations as they come.
        undecided_within: of one half; None for what `rules` have.
        premise_titles: whether the title of a page stands above its text in a premise.
        thresholds: of verdicts: their content, not the path; None where every verdict stands.
    """

    version: Literal[1, 2, 3]
    rules: Rules = unwritten("published")
    gate: float | None
    relations: str
    tables: Tables
    passage_prior: Probability
    second_opinion: str | None = unwritten(None)
    factors: Factors = unwritten("hard")
    relation_map: RelationMap | str | None = unwritten(None)
    premise_titles: bool = unwritten(False)
    undecided_within: float | None = unwritten(None)
    thresholds: VerdictThresholds | None = unwritten(None)
    claim_relations: bool = unwritten(False)

    @property
    def reads_affinity(self) -> bool:
        """Only the gate of pairs needs them."""
        return self.gate is not None


class LocalFactSettings(GateOptions, FactReasonerSettings):
    """The gate, with `theta` resolved, before the graph; `prior_map` is the map itself: its content decides, not its path."""

    theta: Probability
    prior_map: PriorMap | None = unwritten(None)


class CitationSettings(Record):
    """What decides how citations are checked: the version of that, and the relation model of a method that has none."""

    version: int
    relations: str | None = unwritten(None)


class RecallSettings(CitationSettings):
    """The same of how a response is asked for key facts, and for how many."""

    facts: int


class DataSettings(Record):
    """Which responses: the file's hash, the most rows of it, and which share of those ("3/8"); None for all."""

    sha256: str
    limit: int | None
    shard: str | None = unwritten(None)


class Settings(Record):
    """Everything that decides a run's results.

    Attributes:
        coherence: whether claims are compared with one another.
        data: None where nothing is read from a file. model, prompts, asking: the language model, the hashes of its prompts, and
            how it is asked; None where none is asked. citations, recall: None where they are not checked.
    """

    method: str
    data: DataSettings | None = unwritten(None)
    seed: int
    extraction: SerializeAsAny[ExtractionSettings]
    evidence: EvidenceSettings
    assessment: SerializeAsAny[AssessmentSettings]
    coherence: bool = unwritten(False)
    model: EngineIdentity | None = unwritten(None)
    prompts: Mapping[str, str] | None = unwritten(None)
    asking: AskingPolicy | None = unwritten(None)
    citations: CitationSettings | None = unwritten(None)
    recall: RecallSettings | None = unwritten(None)

    def plain(self) -> dict[str, Any]:
        """The settings as plain values: the content of run.yaml."""
        return self.model_dump(mode="json")


def windowless(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without the language model's window: the only one of them that may differ between machines of one run."""
    model = plain.get("model")
    if not isinstance(model, Mapping):
        return dict(plain)
    return {**plain, "model": {name: value for name, value in model.items() if name != "window"}}
