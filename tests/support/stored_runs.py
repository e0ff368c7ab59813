"""A run folder of given assessments, as `eval` leaves it, for what reads runs."""

from collections.abc import Sequence
from pathlib import Path

from localfact.records import Assessment
from localfact.runs.run_folder import RunFolder

SETTINGS = {"method": "builtin-fr2", "extraction": {}, "evidence": {}, "assessment": {}}
FINISHED = "2026-03-01T12:00:00.250000+00:00"


def store_run(path: Path, assessments: Sequence[Assessment]) -> Path:
    """Writes them, without a summary, and returns the folder."""
    with RunFolder(path, SETTINGS, {"localfact": "0.1.0"}) as folder:
        for assessment in assessments:
            folder.append(assessment, {"index": assessment.index, "finished": FINISHED, "seconds": {}})
    return path
