"""Events for OpenTelemetry: read by its own protocol's types, with the names of its conventions."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from report_runs import small_assessment
from run_builders import assessment
from stored_runs import store_run

from localfact.integrations.otel import EVENT, otel_lines

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def records_of(line: str) -> list[dict[str, Any]]:
    (logs,) = json.loads(line)["resourceLogs"]
    (scope,) = logs["scopeLogs"]
    return list(scope["logRecords"])


def attributes_of(record: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in record["attributes"]}


@pytest.fixture
def lines(tmp_path: Path) -> list[str]:
    run = [
        small_assessment(0, f"{TRACE}:{SPAN}").model_copy(update={"id_given": True}),
        assessment("", index=1),
        assessment("", index=2, failed=True).model_copy(update={"error": "The disk is full."}),
        assessment("S", index=3).model_copy(update={"id_given": False}),
    ]
    return list(otel_lines(store_run(tmp_path / "run", run)))


def test_each_score_of_a_response_is_an_event_under_its_span(lines: list[str]) -> None:
    records = records_of(lines[0])
    found = {attributes_of(one)["gen_ai.evaluation.name"]: attributes_of(one) for one in records}
    assert found["localfact.contradicted"]["gen_ai.evaluation.score.value"] == 1
    assert "She died in London." in found["localfact.contradicted"]["gen_ai.evaluation.explanation"]
    assert 0 < found["localfact.precision"]["gen_ai.evaluation.score.value"] < 1
    assert {(one["eventName"], one["traceId"], one["spanId"]) for one in records} == {(EVENT, TRACE, SPAN)}
    assert {one["timeUnixNano"] for one in records} == {"1772366400250000000"}


def test_a_response_without_a_score_says_why_and_only_a_given_id_is_an_id(lines: list[str]) -> None:
    abstained, failed, counted = (attributes_of(records_of(line)[0]) for line in lines[1:])
    assert (abstained["gen_ai.evaluation.score.label"], abstained["gen_ai.response.id"]) == ("abstained", "r1")
    assert "gen_ai.evaluation.score.value" not in abstained
    assert (failed["error.type"], "disk" in failed["gen_ai.evaluation.explanation"]) == ("failed", True)
    assert "gen_ai.response.id" not in counted


@pytest.mark.slow
def test_the_lines_are_otlp_and_the_names_those_of_the_conventions(lines: list[str]) -> None:
    from google.protobuf import json_format
    from opentelemetry.proto.logs.v1 import logs_pb2 as protocol
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as conventions

    known = {value for name, value in vars(conventions).items() if name.startswith("GEN_AI_")} | {"error.type"}
    for line in lines:
        assert {name for record in records_of(line) for name in attributes_of(record)} <= known
        read = json.loads(line)
        for record in read["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:  # OTLP writes them in hexadecimal, protobuf not
            for name in {"traceId", "spanId"} & set(record):
                record[name] = base64.b64encode(bytes.fromhex(record[name])).decode()
        logs = json_format.ParseDict(read, protocol.LogsData())  # raises for any field that there is not
        (first, *_) = logs.resource_logs[0].scope_logs[0].log_records
        assert first.event_name == EVENT
