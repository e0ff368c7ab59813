"""The scores of a run in the form that inspect_ai's scorer `precomputed_scores` reads: JSON lines, without inspect_ai itself.

A record's value is the precision alone, for that scorer's own metrics take the mean of numbers, and of dictionaries nothing;
whatever else there is stands in its metadata. A response without a score has NaN, which inspect_ai counts as unscored.
"""

import json
import math
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from localfact.integrations.explanation import describe_judge, explain
from localfact.records import Assessment
from localfact.runs.assessments import assessments_in_order
from localfact.runs.record import RunSettings, read_record
from localfact.scoring.tally import reason_unscored, tally
from localfact.text import readable
from localfact.vocabulary import VerdictLabel

#: What localfact made of the second answer under an id that stands in its data again: "id#2".
REPEATED = re.compile(r"(.+)#([2-9]|[1-9]\d+)\Z", re.DOTALL)


def inspect_lines(run: Path) -> Iterator[str]:
    """A line a response of a run, finished or not.

    Of a log's samples, id and epoch are the log's. Of other data the second answer under an id, "id#2", is of epoch 2.

    Raises:
        MissingError: there is no such run. InputError: a file of it is damaged.
    """
    judge = describe_judge(settings := read_record(run, outlines=False).settings)
    seen: set[str] = set()
    for assessment in assessments_in_order(run):
        name, epoch = sample_of(assessment, seen)
        seen.add(assessment.response_id)
        record = {"id": name, "epoch": epoch, **record_of(assessment, settings, judge)}
        yield readable(json.dumps({field: value for field, value in record.items() if value is not None}, ensure_ascii=False))


def sample_of(assessment: Assessment, seen: Collection[str]) -> tuple[str, int | None]:
    """The sample and the epoch of a response, of its log where it came from one; epoch None, which is any, for a first answer.

    Args:
        seen: the ids of the responses before it.
    """
    if (logged := assessment.sample) is not None:
        return logged.id, logged.epoch
    repeated = REPEATED.fullmatch(assessment.response_id)
    return (repeated[1], int(repeated[2])) if repeated and repeated[1] in seen else (assessment.response_id, None)


def record_of(assessment: Assessment, settings: RunSettings, judge: str) -> dict[str, Any]:
    """The fields of a score besides its sample."""
    reason = reason_unscored(assessment)
    return {
        "value": tally(assessment).precision if reason is None else math.nan,
        "answer": assessment.text,
        "explanation": explain(assessment, judge),
        "metadata": metadata_of(assessment, settings, judge) | ({} if reason is None else {"unscored_reason": reason}),
    }


def metadata_of(assessment: Assessment, settings: RunSettings, judge: str) -> dict[str, Any]:
    """The method, its reader, how many claims have which verdict, and the whole assessment."""
    return {
        "method": settings.method,
        "judged_by": judge,
        "verdicts": verdict_counts(assessment),
        "assessment": assessment.model_dump(mode="json"),
    }


def verdict_counts(assessment: Assessment) -> dict[str, int]:
    """Verdict -> number of claims, for every verdict."""
    labels = [verdict.label for verdict in assessment.verdicts]
    return {label.value: labels.count(label) for label in VerdictLabel}
