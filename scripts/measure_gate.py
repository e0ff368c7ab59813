"""What gating of pairs saves and what it loses, on labelled responses:

    python -m scripts.measure_gate [DATA.json ...]        (the sample with its labelled claims, and each file named)

A gate of 0.8 relates a claim to a passage of other claims only if that matches it at least 0.8 times as well as the worst of
its own does.
"""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from localfact.api.evaluate import Job, prepare, sample_responses
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
    """A relation model that keeps what it was asked and what it said."""

    model: RelationModel
    said: dict[Pair, Distribution | Failure]

    @property
    def identity(self) -> str:
        """That of the model itself."""
        return self.model.identity

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """What the model says, remembered."""
        predictions = await self.model.relate(pairs)
        self.said.update(zip(pairs, predictions, strict=True))
        return predictions


def measured(job: Job, pipeline: Pipeline, gate: float | None) -> tuple[int, int, float]:
    """Pairs asked, how many were not neutral, and F1 against the labels."""
    remembering = Remembering(pipeline.relation_model, {})
    settings = job.chosen.settings
    judge = job.chosen.method.assessor(
        settings.model_copy(update={"assessment": settings.assessment.model_copy(update={"gate": gate})}), None
    )
    road = replace(pipeline, relation_model=remembering, assessor=judge)

    async def everything() -> list[Assessment]:
        return [await road.assess(index, response, Costs(), SILENT.count) for index, response in enumerate(job.responses)]

    assessments = asyncio.run(everything())
    decided = sum(
        isinstance(said, Distribution) and said.label is not RelationLabel.NEUTRAL for said in remembering.said.values()
    )
    (f1,) = [result.value for result in score(assessments, standard_scores(assessments)) if result.name == "F1(gold)"]
    return len(remembering.said), decided, f1 or 0.0


def main() -> None:
    console = Console()
    for data in [None, *map(Path, sys.argv[1:])]:
        job = prepare(data, method=METHOD, options=LABELLED)
        pipeline, _ = wire(job.chosen, AsyncExitStack(), observe=unobserved)
        table = Table(title=str(data or sample_responses().name), title_justify="left")
        for column in ("gate", "pairs asked", "saved", "non-neutral lost", "F1(gold)"):
            table.add_column(column, justify="right")
        whole = decided_whole = 0
        for gate in GATES:
            asked, decided, f1 = measured(job, pipeline, gate)
            whole, decided_whole = whole or asked, decided_whole or decided
            lost = 1 - decided / decided_whole
            table.add_row(str(gate), f"{asked:,}", f"{1 - asked / whole:.1%}", f"{lost:.1%}", f"{f1:.3f}")
        console.print(table)


if __name__ == "__main__":
    main()
