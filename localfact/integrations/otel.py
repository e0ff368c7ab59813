"""OpenTelemetry: an event `gen_ai.evaluation.result` a score, as OTLP-JSON lines that a collector reads (`otlpjsonfile`).

Names by the semantic conventions for generative AI (gen_ai.evaluation.*, in development there), the form by the OTLP file
exporter: https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from localfact.records import Assessment
from localfact.report.console import json_line
from localfact.report.trace_scores import TraceScore, run_name, trace_of, trace_scores
from localfact.runs.assessments import assessments_in_order
from localfact.runs.record import read_record
from localfact.runs.run_folder import RUN_FILE, read_timings

EVENT = "gen_ai.evaluation.result"
#: Of a log record: INFO.
SEVERITY = 9


def otel_lines(run: Path) -> Iterator[str]:
    """A line a response: its scores as log records, under the trace and span that its id names, if it does.

    Raises:
        MissingError: there is no such run. InputError: a file of it is damaged.
    """
    record = read_record(run)
    scores, timings = trace_scores(record.outlines), read_timings(run)
    resource = {"attributes": _attributes({"service.name": "localfact"})}
    scope = {
        "name": "localfact",
        "version": str(record.content.get("versions", {}).get("localfact", "")),
        "attributes": _attributes({"localfact.method": record.settings.method, "localfact.run": run_name(run)}),
    }
    written = int((run / RUN_FILE).stat().st_mtime)
    for assessment in assessments_in_order(run):
        time = _nanoseconds(timings.get(assessment.index, {}), written)
        records = [_log_record(assessment, one, time) for one in scores(assessment)]
        logs = {"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": records}]}
        yield json_line({"resourceLogs": [logs]})


def _log_record(assessment: Assessment, score: TraceScore, time: str) -> dict[str, Any]:
    attributes = {
        "gen_ai.evaluation.name": score.name,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": score.label,
        "gen_ai.evaluation.explanation": score.explanation or None,
        "gen_ai.response.id": assessment.response_id if assessment.id_given else None,
        "error.type": "failed" if assessment.status == "failed" else None,
    }
    trace = trace_of(assessment)
    place = {} if trace is None else {"traceId": trace.id, **({"spanId": trace.span} if trace.span else {})}
    return {
        "timeUnixNano": time,
        "observedTimeUnixNano": time,
        "severityNumber": SEVERITY,
        "eventName": EVENT,
        "attributes": _attributes(attributes),
        **place,
    }


def _attributes(values: Mapping[str, str | float | None]) -> list[dict[str, Any]]:
    """Attributes as OTLP has them, without those that have no value."""
    return [
        {"key": name, "value": {"stringValue": value} if isinstance(value, str) else {"doubleValue": float(value)}}
        for name, value in values.items()
        if value is not None
    ]


def _nanoseconds(timing: Mapping[str, Any], written: int) -> str:
    """When a response was done, as a text of nanoseconds since 1970; when the run was begun, where that is not known."""
    try:
        seconds = datetime.fromisoformat(str(timing["finished"])).timestamp()
    except (KeyError, ValueError):
        seconds = written
    return f"{round(seconds * 1_000_000)}000"
