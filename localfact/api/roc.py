"""How well relation models distinguish true from false: ROC curves on FACTOR's questions (FactReasoner, Figures 6-10).

Loads the relation models that have questions left, relates labelled completions, and writes predictions, areas and figures to a
folder. Mathematics: scoring/roc.py; drawing: report/plots.py.
"""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from localfact.errors import InputError
from localfact.inputs.factor import FACTOR, Question, read_questions
from localfact.methods.options import Options
from localfact.methods.relations import DEFAULT_RELATIONS, FoundRelationModel, find_relation_model
from localfact.methods.uses import keep_used, relation_parts
from localfact.records import Distribution, Failure, Pair, Record
from localfact.report.plots import render_figure, roc_figure
from localfact.runs.row_file import ERROR, RowFile
from localfact.runtime.files import file_digest, replace, write_errors
from localfact.runtime.interrupts import interruptible
from localfact.runtime.tasks import complete
from localfact.runtime.versions import versions
from localfact.scoring.roc import RocCurve, interval_method, roc_curve
from localfact.stages import RelationModel
from localfact.text import readable

#: Called after every batch with the relation model, the number of questions done, and their total.
Progress = Callable[[str, int, int], None]

#: Questions that are related at once; an interruption loses at most so many.
BATCH = 16
REPORT_FILE = "roc.json"
TITLES = {
    "contradiction": "Contradiction: false completions among true ones",
    "entailment": "Entailment: true completions among false ones",
}


class RelationRoc(Record):
    """The curves of one relation model.

    Attributes:
        relations: its name as asked for.
        identity: name and revision.
        contradiction: P(contradiction) of the false completions (positives) against that of the true ones.
        entailment: P(entailment) of the true completions (positives) against that of the false ones. None: no curve; `warnings`
            say why.
        failed: hypotheses that the model could not relate; they are in no curve.
        premises_cut: premises that were longer than its window, of which the end was read.
    """

    relations: str
    identity: str
    contradiction: RocCurve | None
    entailment: RocCurve | None
    failed: int
    premises_cut: int
    warnings: tuple[str, ...] = ()


class RocReport(Record):
    """The curves of several relation models on the same questions.

    Attributes:
        questions: how many were asked.
        unusable: a sentence for each unusable row.
        interval: how the intervals of the areas were made.
        figures: the files drawn, one PNG and one SVG a relation.
    """

    data: str
    questions: int
    unusable: tuple[str, ...]
    models: tuple[RelationRoc, ...]
    interval: str
    figures: tuple[str, ...] = ()


@runtime_checkable
class Windowed(Protocol):
    """A relation model with a window of limited size."""

    async def fits(self, pair: Pair) -> bool:
        """Whether the pair is read in one window."""
        ...


def relation_roc(
    data: str | Path,
    out: str | Path,
    *,
    relations: Sequence[str] = (DEFAULT_RELATIONS,),
    options: Options | None = None,
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = lambda name, done, total: None,
) -> RocReport:
    """Relates each question's premise to its completions, and draws both curves of every relation model.

    Args:
        data: FACTOR's CSV, plain or gzip.
        limit: only the first so many rows.
        out: a folder for predictions (one file a model, with which an interrupted call is resumed), numbers and figures.
        relations: names of relation models, used one after the other; all must be on this machine. One that has answered
            everything is not loaded again.
        options: what they need; the seed is part of a language model's prompts.
        seed: of the intervals only.
        force: discards stored predictions.

    Raises:
        InputError: no usable row, or no such relation model. MissingError: weights that are not on this machine.
        RunFolderError: `out` holds predictions of other data. WriteError: it cannot be written.
    """
    path, folder, options = Path(data), Path(out), options or Options()
    rows = [*islice(read_questions(path), limit)]
    questions = [row for row in rows if isinstance(row, Question)]
    unusable = tuple(row for row in rows if isinstance(row, str))
    if not questions:
        raise InputError(f"{path} has no row that can be used{f' ({unusable[0]})' if unusable else ''}. It should be {FACTOR}.")
    options = keep_used(options, relation_parts(relations), f"curves of {', '.join(relations)}")
    found = {name: find_relation_model(options.model_copy(update={"relations": name})) for name in relations}
    models = []
    for name, model in found.items():
        settings = {"pass": "roc", "data": {"sha256": file_digest(path), "limit": limit}, "relations": model.identity}
        with RowFile(folder / f"{file_name(name)}.jsonl", settings, versions=versions(), force=force) as file:
            kept = predict_questions(questions, model, file, partial(progress, name))
        models.append(measure_roc(name, model.identity, kept, seed))
    report = RocReport(
        data=str(path),
        questions=len(questions),
        unusable=unusable,
        models=tuple(models),
        interval=interval_method(seed),
    )
    return write_roc(report, folder)


def file_name(name: str) -> str:
    """The file name for a relation model's predictions; slashes of a path or a hub id are replaced."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "relations"


def predict_questions(
    questions: Sequence[Question], found: FoundRelationModel, file: RowFile, report: Callable[[int, int], None]
) -> list[dict[str, Any]]:
    """One row a question, in order: `labels` has P(entailment), P(contradiction), P(neutral) of each hypothesis, or None.

    Questions that the file has are not asked again, except those with a failure.
    """
    waiting = [question for question in questions if question.id not in file.done]
    there = len(questions) - len(waiting)
    report(there, len(questions))
    if waiting:
        complete(ask(waiting, found, file, lambda asked: report(there + asked, len(questions))))
    return file.complete([question.id for question in questions])


async def ask(waiting: Sequence[Question], found: FoundRelationModel, file: RowFile, asked: Callable[[int], None]) -> None:
    """Loads the model, relates the questions batch by batch, and stores each batch's rows."""
    async with AsyncExitStack() as opened:
        with interruptible():
            model = found.open(opened)
        for begin in range(0, len(waiting), BATCH):
            batch = waiting[begin : begin + BATCH]
            for row in await relate_questions(batch, model):
                file.append(row)
            asked(begin + len(batch))


async def relate_questions(batch: Sequence[Question], model: RelationModel) -> list[dict[str, Any]]:
    """The rows of some questions, by one call of the model."""
    premises = [await fitting_premise(question, model) for question in batch]
    pairs = [
        Pair(premise, hypothesis)
        for question, premise in zip(batch, premises, strict=True)
        for hypothesis in question.hypotheses
    ]
    predictions = iter(await model.relate(pairs))
    return [
        row_of(question, premise_cut=premise != question.premise, said=[next(predictions) for _ in question.hypotheses])
        for question, premise in zip(batch, premises, strict=True)
    ]


async def fitting_premise(question: Question, model: RelationModel) -> str:
    """The premise, or as many of its last words as fit the model's window with every hypothesis.

    The four hypotheses get the same premise, so that their scores can be compared. Where a hypothesis alone is too long,
    nothing is cut: the model decides what it reads.
    """
    if not isinstance(model, Windowed):
        return question.premise
    premise = question.premise
    starts = [0, *(word.start() for word in re.finditer(r"(?<=\s)\S", premise))]

    async def fits(start: int) -> bool:
        return all([await model.fits(Pair(premise[start:], hypothesis)) for hypothesis in question.hypotheses])

    if await fits(0) or not await fits(starts[-1]):
        return premise
    too_long, fitting = 0, len(starts) - 1
    while fitting - too_long > 1:
        middle = (too_long + fitting) // 2
        too_long, fitting = (too_long, middle) if await fits(starts[middle]) else (middle, fitting)
    return premise[starts[fitting] :]


def row_of(question: Question, *, premise_cut: bool, said: Sequence[Distribution | Failure]) -> dict[str, Any]:
    """The stored row of one question; with a failure among its hypotheses the question is asked again by the next call."""
    reasons = [one.reason for one in said if isinstance(one, Failure)]
    labels = [None if isinstance(one, Failure) else (one.entailment, one.contradiction, one.neutral) for one in said]
    return {"id": question.id, "premise_cut": premise_cut, "labels": labels} | ({ERROR: reasons[0]} if reasons else {})


def measure_roc(name: str, identity: str, rows: Sequence[dict[str, Any]], seed: int) -> RelationRoc:
    """Both curves from the stored predictions of one relation model."""
    asked = [(index, position, labels) for index, row in enumerate(rows) for position, labels in enumerate(row["labels"])]
    known = [one for one in asked if one[2] is not None]
    row = np.array([index for index, _, _ in known], dtype=np.int64)
    true = np.array([position == 0 for _, position, _ in known], dtype=np.bool_)
    scores = np.array([labels for _, _, labels in known], dtype=np.float64).reshape(-1, 3)
    reasons = [one[ERROR] for one in rows if ERROR in one]
    warnings = [f"{len(asked) - len(known)} hypotheses could not be related; the first: {reasons[0]}"] if reasons else []
    curves: dict[str, RocCurve | None] = {}
    for label, score, positive in (("entailment", scores[:, 0], true), ("contradiction", scores[:, 1], ~true)):
        try:
            curves[label] = roc_curve(score, positive, row, seed=seed)
        except InputError as error:
            curves[label] = None
            warnings.append(f"{label}: {error}")
    return RelationRoc(
        relations=name,
        identity=identity,
        failed=len(asked) - len(known),
        premises_cut=sum(one["premise_cut"] for one in rows),
        warnings=tuple(warnings),
        **curves,
    )


def write_roc(report: RocReport, folder: Path) -> RocReport:
    """Draws the figures and writes the numbers beside them; returns the report with the names of the figures."""
    figures: list[str] = []
    with write_errors(folder):
        for label, title in TITLES.items():
            curves = {one.relations: curve for one in report.models if (curve := getattr(one, label)) is not None}
            for suffix, content in render_figure(roc_figure(curves, title)).items() if curves else ():
                file = folder / f"{label}.{suffix}"
                replace(file, content)
                figures.append(str(file))
        drawn = report.model_copy(update={"figures": tuple(figures)})
        numbers = json.dumps(drawn.model_dump(mode="json"), ensure_ascii=False, indent=1)
        replace(folder / REPORT_FILE, readable(numbers).encode())
    return drawn
