"""A second relation model, slower and better than the first, asked about the few passages that may decide a claim.

A first model that reads every claim with every passage has to be quick; it chooses what the second one reads.
"""

from collections.abc import Sequence

from localfact.records import Claim, Distribution, Pair
from localfact.stages import RelationModel, Relations, Review

#: Passages of a claim at most that the second model is asked about.
MOST_ASKED = 2


class SecondOpinion:
    """A Reviewer: asks the second model where the first is least sure that a passage says nothing of a claim."""

    def __init__(self, model: RelationModel) -> None:
        self.model = model

    async def review(self, claims: Sequence[Claim], relations: Relations) -> Review:
        """The relations with the second model's answers in place of the first's; where it has none, the first's stays.

        Counted is how many it gave (`second_opinions`), how many had another label (`_other`), where it failed (`_failed`).
        """
        asked = choose_pairs(claims, relations)
        said = dict(zip(asked, await self.model.relate(asked), strict=True)) if asked else {}
        given = {pair: one for pair, one in said.items() if isinstance(one, Distribution)}
        first = {pair: relations[pair] for pair in given}
        other = sum(isinstance(one, Distribution) and one.label is not given[pair].label for pair, one in first.items())
        counts = {"": len(given), "_other": other, "_failed": len(said) - len(given)}
        return Review({**relations, **given}, {f"second_opinions{name}": count for name, count in counts.items() if count})


def choose_pairs(claims: Sequence[Claim], relations: Relations) -> list[Pair]:
    """For each claim the pairs that are least likely to be neutral, in that order, at most MOST_ASKED; each pair once.

    Neutral ones are asked, too, where a claim has no others: most of what a quick model misses is there
    (docs/internals/small-models.md, "Asked a second time").
    """
    read: dict[str, list[tuple[float, Pair]]] = {claim.text: [] for claim in claims}
    for pair, said in relations.items():
        if pair.hypothesis in read and isinstance(said, Distribution):
            read[pair.hypothesis].append((said.neutral, pair))
    return [pair for pairs in read.values() for _, pair in sorted(pairs)[:MOST_ASKED]]
