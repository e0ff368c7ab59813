"""A second relation model, slower and better than the first, asked about the few passages that would decide a claim.

A first model that reads every claim with every passage has to be quick; which of its answers matter is known afterwards.
"""

from collections import defaultdict
from collections.abc import Sequence

from localfact.records import Claim, Distribution, Pair
from localfact.stages import RelationModel, Relations, Review
from localfact.vocabulary import RelationLabel

#: Passages of a claim at most that the second model is asked about.
MOST_ASKED = 2


class SecondOpinion:
    """A Reviewer: asks the second model where the first is surest that a passage entails or contradicts a claim."""

    def __init__(self, model: RelationModel) -> None:
        self.model = model

    async def review(self, claims: Sequence[Claim], relations: Relations) -> Review:
        """The relations with the second model's answers in place of the first's; where it has none, the first's stays.

        Counted is how many it gave (`second_opinions`), how many had another label (`_other`), where it failed (`_failed`).
        """
        asked = deciding(claims, relations)
        said = dict(zip(asked, await self.model.relate(asked), strict=True)) if asked else {}
        given = {pair: one for pair, one in said.items() if isinstance(one, Distribution)}
        first = {pair: relations[pair] for pair in given}
        other = sum(isinstance(one, Distribution) and one.label is not given[pair].label for pair, one in first.items())
        counts = {"": len(given), "_other": other, "_failed": len(said) - len(given)}
        return Review({**relations, **given}, {f"second_opinions{name}": count for name, count in counts.items() if count})


def deciding(claims: Sequence[Claim], relations: Relations) -> list[Pair]:
    """For each claim the pairs that speak for it or against it, the surest first, at most MOST_ASKED; each pair once."""
    texts = {claim.text for claim in claims}
    speaking: dict[str, list[tuple[float, Pair]]] = defaultdict(list)
    for pair, said in relations.items():
        if pair.hypothesis in texts and isinstance(said, Distribution) and said.label is not RelationLabel.NEUTRAL:
            speaking[pair.hypothesis].append((said.probability, pair))
    return [
        pair
        for text in dict.fromkeys(claim.text for claim in claims)
        for _, pair in sorted(speaking[text], key=lambda one: (-one[0], one[1]))[:MOST_ASKED]
    ]
