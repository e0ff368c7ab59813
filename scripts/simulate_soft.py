"""Hard and soft relations on made-up responses whose truth is known, for relation models from weak to sure.

    python -m scripts.simulate_soft

A claim is true or false at even odds; a passage speaks of a claim with a probability, and then entails it where it is true and
contradicts it where it is false. The relation model sees that through Gaussian noise and says its exact posterior, so it is
calibrated; `strength` is the distance of its signals in standard deviations. FR2 with every claim beside every passage.
"""

import argparse
import asyncio
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from localfact.assess.factreasoner import FactReasoner
from localfact.records import Claim, Distribution, Evidence, Hit, Pair, Passage, Response, passage_id
from scripts.tables import markdown_table

STRENGTHS = (1.0, 2.0, 4.0)
RESPONSES, CLAIMS, PASSAGES = 40, 20, 30
#: The passages of a claim, found for it, and how often these speak of it; of other claims' passages few do.
OWN, SPEAKS, OTHERS = 5, 0.4, 0.02


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    rows = []
    for strength in STRENGTHS:
        for factors in ("hard", "soft"):
            reasoner = FactReasoner(2, tables="balanced", rules="own", factors=factors)
            found = [figures(reasoner, strength, seed) for seed in range(RESPONSES)]
            posteriors, truths = (np.concatenate(each) for each in list(zip(*found, strict=True))[:2])
            decided = np.abs(posteriors - 0.5) >= 0.05
            rows.append(
                [
                    f"{strength:g}",
                    factors,
                    f"{area(posteriors, truths):.3f}",
                    f"{((posteriors - truths) ** 2).mean():.3f}",
                    f"{decided.mean():.2f}",
                    f"{np.mean([width for *_, width, _ in found]):.1f}",
                    f"{np.mean([error for *_, error in found]):.4f}",
                ]
            )
    heads = ("strength", "factors", "area under the ROC", "Brier", "decided", "graph width", "solver's error")
    print(markdown_table(heads, rows))


def figures(reasoner: FactReasoner, strength: float, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_], int, float]:
    """Posteriors and truths of a response's claims, the width of its graph, and the error that the solver states."""
    drawn = np.random.default_rng(seed)
    truths = drawn.random(CLAIMS) < 0.5
    claims = [Claim(id=f"c{number}", text=f"claim {number}") for number in range(CLAIMS)]
    passages = [Passage(id=passage_id(f"passage {number}"), text=f"passage {number}") for number in range(PASSAGES)]
    hits = {
        claim.id: tuple(
            Hit(passage_id=passages[place].id, rank=rank, score=1 / rank)
            for rank, place in enumerate(drawn.choice(PASSAGES, OWN, replace=False), start=1)
        )
        for claim in claims
    }
    said = {
        Pair(passage.text, claim.text): predict(drawn, strength, truth=bool(truth), speaks=speaks)
        for claim, truth in zip(claims, truths, strict=True)
        for passage in passages
        for speaks in [SPEAKS if any(hit.passage_id == passage.id for hit in hits[claim.id]) else OTHERS]
    }
    evidence = Evidence(passages=tuple(passages), hits=hits)
    judgement = asyncio.run(reasoner.assess(Response(id="r", text=""), claims, evidence, said))
    posteriors = np.array([verdict.posterior for verdict in judgement.verdicts])
    return posteriors, truths, judgement.counts.get("graph_width", 0), max(errors(judgement.warnings), default=0.0)


def predict(drawn: np.random.Generator, strength: float, *, truth: bool, speaks: float) -> Distribution:
    """What a calibrated model says of one pair."""
    shares = np.array([speaks / 2, speaks / 2, 1 - speaks])
    relation = 2 if drawn.random() >= speaks else 0 if truth else 1
    signal = drawn.normal(size=3)
    signal[relation] += strength
    weights = shares * np.exp(strength * signal)
    entailment, contradiction, neutral = (weights / weights.sum()).tolist()
    return Distribution(entailment=entailment, contradiction=contradiction, neutral=neutral)


def errors(warnings: tuple[str, ...]) -> Iterator[float]:
    """The errors that the solver states, from its warnings."""
    for warning in warnings:
        _, told, rest = warning.partition("errors up to ")
        if told:
            yield float(rest.partition(",")[0])


def area(posteriors: NDArray[np.float64], truths: NDArray[np.bool_]) -> float:
    """The share of pairs of a true and a false claim in which the true one is the more probable; a tie counts half."""
    true, false = posteriors[truths][:, None], posteriors[~truths][None]
    return float((true > false).mean() + (true == false).mean() / 2)


if __name__ == "__main__":
    main()
