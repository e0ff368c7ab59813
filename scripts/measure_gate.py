"""What gating of pairs saves and what it loses, on labelled responses:

    python -m scripts.measure_gate [DATA.json ...] [--limit N]

The sample with its labelled claims, and each file named, or the first N responses of each.

A gate of 0.8 relates a claim to a passage of other claims only if that matches it at least 0.8 times as well as the worst of
its own does.
"""

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from localfact.api.evaluate import Job, prepare
from localfact.api.sample import sample_responses
from localfact.methods.options import Options
from localfact.methods.wiring import wire
from localfact.pipeline import Costs, Pipeline, unobserved
from localfact.records import Assessment, Distribution, Failure, Pair
from localfact.runs.progress import SILENT
from localfact.scoring import score, standard_scores
from localfact.stages import RelationModel
from localfact.vocabulary import RelationLabel

GATES = (None, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
METHOD = "builtin-fr2"
#: The labelled claims, not claims of our own.
LABELLED = Options(claims="given")


@dataclass
class Remembering:
    """A relation model that keeps what it said, and what it was asked since `asked` was last cleared."""

    model: RelationModel
    said: dict[Pair, Distribution | Failure]
    asked: set[Pair]

    @property
    def identity(self) -> str:
        """That of the model itself."""
        return self.model.identity

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """What the model says, each pair read once."""
        self.asked.update(pairs)
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.said]
        self.said.update(zip(new, await self.model.relate(new), strict=True))
        return [self.said[pair] for pair in pairs]


def measure(job: Job, pipeline: Pipeline, remembering: Remembering, gate: float | None) -> tuple[int, int, float]:
    """Pairs asked, how many were not neutral, and F1 against the labels."""
    remembering.asked.clear()
    settings = job.chosen.settings
    judge = job.chosen.method.assessor(
        settings.model_copy(update={"assessment": settings.assessment.model_copy(update={"gate": gate})}), None
    )
    road = replace(pipeline, relation_model=remembering, assessor=judge, explainer=None)  # which asks about further pairs

    async def everything() -> list[Assessment]:
        return [await road.assess(index, response, Costs(), SILENT.count) for index, response in enumerate(job.responses)]

    assessments = asyncio.run(everything())
    said = [remembering.said[pair] for pair in remembering.asked]
    decided = sum(isinstance(one, Distribution) and one.label is not RelationLabel.NEUTRAL for one in said)
    (f1,) = [result.value for result in score(assessments, standard_scores(assessments)) if result.name == "F1(gold)"]
    return len(remembering.asked), decided, f1 or 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="*", help="responses with labelled claims")
    parser.add_argument("--limit", type=int, help="responses of each")
    chosen = parser.parse_args()
    console = Console()
    for data in [None, *chosen.data]:
        job = prepare(data, method=METHOD, options=LABELLED, limit=chosen.limit)
        pipeline, _ = wire(job.chosen, AsyncExitStack(), observe=unobserved)
        remembering = Remembering(pipeline.relation_model, {}, set())
        table = Table(title=str(data or sample_responses().name), title_justify="left")
        for column in ("gate", "pairs asked", "saved", "non-neutral lost", "F1(gold)"):
            table.add_column(column, justify="right")
        whole = decided_whole = 0
        for gate in GATES:
            asked, decided, f1 = measure(job, pipeline, remembering, gate)
            whole, decided_whole = whole or asked, decided_whole or decided
            lost = 1 - decided / decided_whole if decided_whole else 0.0
            table.add_row(str(gate), f"{asked:,}", f"{1 - asked / whole:.1%}", f"{lost:.1%}", f"{f1:.3f}")
        console.print(table)


if __name__ == "__main__":
    main()
