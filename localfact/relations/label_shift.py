"""What is known of a pair before it is read: a passage that was found for another claim says something of this one less often.

Probabilities that hold where the three relations have certain shares hold for other shares once each is multiplied by the ratio
of the two, and they are made to sum to one again (label shift; Saerens et al. 2002).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from localfact.records import Claim, Distribution, Evidence, Pair
from localfact.relations.calibration import FOUND_SHARES, LABELS, OTHER_SHARES, RelationMap, Shares
from localfact.stages import Relations


@dataclass(frozen=True)
class LabelShift:
    """A Recalibrator: weighs the relations of a claim to passages that were found for other claims alone by their own shares.

    Attributes:
        shares: of entailment, contradiction and neutral among claims and their own hits; calibrated predictions are for these.
        other_shares: the same among claims and passages that are no hits of theirs.
    """

    shares: Shares = FOUND_SHARES
    other_shares: Shares = OTHER_SHARES

    def recalibrate(self, relations: Relations, claims: Sequence[Claim], evidence: Evidence) -> Relations:
        """All relations; calibrated ones of a claim and a passage that is no hit of it are shifted to `other_shares`.

        Predictions that were not calibrated, failures and pairs of passages stay as they are.
        """
        texts = {passage.id: passage.text for passage in evidence.passages}
        own = {Pair(texts[hit.passage_id], claim.text) for claim in claims for hit in evidence.hits.get(claim.id, ())}
        others = {Pair(text, claim.text) for claim in claims for text in texts.values()} - own
        return {
            pair: self._shift(said) if pair in others and isinstance(said, Distribution) and said.raw is not None else said
            for pair, said in relations.items()
        }

    def _shift(self, said: Distribution) -> Distribution:
        weights = [
            getattr(said, label) * other / share
            for label, share, other in zip(LABELS, self.shares, self.other_shares, strict=True)
        ]
        total = sum(weights)
        return said.model_copy(update={label: weight / total for label, weight in zip(LABELS, weights, strict=True)})


def label_shift_of(relation_map: RelationMap | str | None) -> LabelShift | None:
    """The shift that goes with a map, or with one that is yet to be fitted on the reference pairs; None where none does."""
    if not isinstance(relation_map, RelationMap):
        return None if relation_map is None else LabelShift()
    return None if relation_map.other_shares is None else LabelShift(relation_map.shares, relation_map.other_shares)
