"""What the teacher says of the pairs: asked for in portions, kept by hash without text, calibrated when it is read.

The teacher is asked as `--relations llm` asks it. Kept are the logarithms of its probabilities as it said them, for any map.
"""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localfact.methods.options import Options
from localfact.records import Distribution, Pair
from localfact.relations.calibration import BALANCED, RelationMap, log_shares, probabilities_of
from scripts.relation_answers import asked
from scripts.teaching.pairs import Lesson, Lessons, lessons

TEACHER = "qwen2.5-coder-1.5b"
#: A line a pair: its key and the three logarithms, of entailment, contradiction, neutral; as LABELS_FILE, sorted and packed.
COMMITTED = Path(__file__).with_name("labels.tsv.gz")
MAP = Path(__file__).resolve().parents[2] / f"models/relation-maps/{TEACHER}.json"
#: In the work folder: the pairs with their text, and labels that were made there; parts of the pairs.
LESSONS_FILE, LABELS_FILE, TRAINING, DEVELOPMENT = "lessons.jsonl", "labels.tsv", "training", "development"

#: Key of a pair -> the logarithms of what the teacher said, in the order of the calibration's labels.
Labels = Mapping[str, tuple[float, float, float]]


def kept_lessons(data: Path, work: Path) -> Lessons:
    """The pairs, from the work folder; made there first, which takes minutes."""
    file = work / LESSONS_FILE
    if not file.exists():
        work.mkdir(parents=True, exist_ok=True)
        rows = [
            json.dumps([one.key, part, one.kind, one.set, one.topic, one.label, *one.pair])
            for part, group in zip((TRAINING, DEVELOPMENT), lessons(data), strict=True)
            for one in group
        ]
        file.with_suffix(".part").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        file.with_suffix(".part").replace(file)
    parts: dict[str, list[Lesson]] = {TRAINING: [], DEVELOPMENT: []}
    for line in file.read_text(encoding="utf-8").split("\n")[:-1]:
        _, part, kind, name, topic, label, premise, claim = json.loads(line)
        parts[part].append(Lesson(kind, name, topic, Pair(premise, claim), label))
    return Lessons(parts[TRAINING], parts[DEVELOPMENT])


def in_order(every: Lessons, first: int) -> list[Lesson]:
    """The pairs as they are labelled: those of the learning curve's first point, those to look at, the others."""
    return [*every.training[:first], *every.development, *every.training[first:]]


def read_labels(work: Path) -> Labels:
    """The labels that are committed, and those of the work folder."""
    lines = gzip.decompress(COMMITTED.read_bytes()).decode().split("\n") if COMMITTED.exists() else []
    if (work / LABELS_FILE).exists():
        lines += (work / LABELS_FILE).read_text(encoding="utf-8").split("\n")
    rows = (line.split("\t") for line in lines if line)
    return {key: (float(first), float(second), float(third)) for key, first, second, third in rows}


def label(pairs: Iterable[Lesson], work: Path, portion: int) -> int:
    """Has the teacher label the first so many of the pairs that have no label; returns how many it labelled.

    What it answered before an interruption is in a cache in the folder. A pair that it fails at gets no label.
    """
    known = read_labels(work)
    due = list({one.key: one for one in pairs if one.key not in known}.values())[:portion]
    if not due:
        return 0
    due.sort(key=lambda one: one.pair)  # claims about one premise together: it is computed once
    answers = asked(Options(relations="llm", model=TEACHER), [one.pair for one in due], work)
    said = [(one.key, answer) for one in due if isinstance(answer := answers[one.pair], Distribution)]
    logarithms = log_shares(probabilities_of([answer for _, answer in said]))
    with (work / LABELS_FILE).open("a", encoding="utf-8") as file:
        for (key, _), row in zip(said, logarithms.tolist(), strict=True):
            file.write("\t".join([key, *(f"{value:.3f}" for value in row)]) + "\n")
    return len(said)


def calibrated(rows: Sequence[tuple[float, float, float]]) -> NDArray[np.float64]:
    """(n, 3) the probabilities of entailment, contradiction and neutral by the teacher's map, with each label as frequent."""
    by = RelationMap.model_validate_json(MAP.read_text(encoding="utf-8")).model_copy(update={"shares": BALANCED})
    return by.calibrate(np.exp(np.array(rows, dtype=np.float64).reshape(-1, 3)))
