"""Whether a run compares the claims of a text with one another, by what, and how many pairs that takes."""

from localfact.coherence.choosing import PARTNERS, choose_pairs
from localfact.coherence.relating import ModelClaimRelator
from localfact.methods.relations import RelationKind
from localfact.methods.settings import FactReasonerSettings, Settings
from localfact.records import Response

#: The most predictions that a claim costs, on average: its partners, in both directions.
MOST_OF_A_CLAIM = 2 * PARTNERS


def compares_claims(settings: Settings) -> bool:
    """Whether claims of a response are related to one another: for their coherence, or for the graph."""
    assessment = settings.assessment
    return settings.coherence or (isinstance(assessment, FactReasonerSettings) and assessment.claim_relations)


def claim_relator(settings: Settings, kind: RelationKind | None) -> ModelClaimRelator | None:
    """What relates claims to one another, where the settings want that; a language model is believed more than a small one."""
    return ModelClaimRelator(slots_only=not kind.prompts) if kind is not None and compares_claims(settings) else None


def count_claim_pairs(response: Response) -> int:
    """How many pairs of the claims that came with a response would be compared."""
    return len(choose_pairs(response.claims or (), response.text).pairs)
