"""The scores of a run in the form that inspect_ai's scorer `precomputed_scores` reads: JSON lines, without inspect_ai itself.

A record's value is the precision alone, for that scorer's own metrics take the mean of numbers, and of dictionaries nothing;
whatever else there is stands in its metadata. A response without a score has NaN, which inspect_ai counts as unscored.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from localfact.inputs.responses import root_of
from localfact.integrations.explanation import describe_judge, explain
from localfact.records import Assessment
from localfact.report.summary import count_verdicts
from localfact.runs.assessments import assessments_in_order
from localfact.runs.record import RunSettings, read_record
from localfact.scoring.tally import reason_unscored, tally
from localfact.text import readable


def inspect_lines(run: Path) -> Iterator[str]:
    """A line a response of a run, finished or not.

    Of a log's samples, id and epoch are the log's. Of other data, answers under one id are its epochs: "id#2" is of epoch 2.

    Raises:
        MissingError: there is no such run. InputError: a file of it is damaged.
    """
    read = read_record(run)
    judge = describe_judge(settings := read.settings)
    names = {outline.response_id for outline in read.outlines}
    times = Counter(root_of(name, names) for name in names)
    for assessment in assessments_in_order(run):
        name, epoch = sample_of(assessment, times)
        record = {"id": name, "epoch": epoch, **record_of(assessment, settings, judge)}
        yield readable(json.dumps({field: value for field, value in record.items() if value is not None}, ensure_ascii=False))


def sample_of(assessment: Assessment, times: Mapping[str, int]) -> tuple[str, int | None]:
    """The sample and the epoch of a response, of its log where it came from one; epoch None, which is any, for an only answer.

    Args:
        times: id of a sample -> how many answers to it there are.
    """
    if (logged := assessment.sample) is not None:
        return logged.id, logged.epoch
    name = assessment.response_id
    root = root_of(name, times)
    return root, (int(name.rpartition("#")[2]) if root != name else 1) if times[root] > 1 else None


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
        "verdicts": count_verdicts([assessment]),
        "assessment": assessment.model_dump(mode="json"),
    }
