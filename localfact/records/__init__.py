"""The records that the stages exchange: Response -> Claim -> Evidence -> relations -> Verdict -> Assessment.

Everything is frozen. What is written to disk is validated when it is read and carries `schema_version`; its JSON schema is
`Assessment.model_json_schema()`.
"""

from localfact.records.citations import (
    CheckedCitation,
    Citations,
    CitedClaim,
    CitedSentence,
    CitedSource,
)
from localfact.records.coherence import ClaimPlace, Coherence, Finder, SelfContradiction
from localfact.records.judged_claims import JudgedClaim
from localfact.records.judgements import (
    SCHEMA_VERSION,
    Assessment,
    AssessmentStatus,
    CountedPassage,
    Distribution,
    Failure,
    Judgement,
    Pair,
    Relation,
    RelationProbabilities,
    Verdict,
)
from localfact.records.recall import EvidenceRecall, FactSource, KeyFact
from localfact.records.responses import (
    Claim,
    Count,
    Evidence,
    Extraction,
    GivenSource,
    GivenSources,
    Hit,
    Passage,
    PreVerification,
    Probability,
    Record,
    Response,
    Sample,
    Span,
    passage_id,
)
