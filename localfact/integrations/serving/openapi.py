"""What the service offers, as OpenAPI 3.1 and as a plain page made of that."""

from collections.abc import Mapping
from html import escape
from importlib.metadata import version
from typing import Any

from localfact.api.judged_by import JudgedBy
from localfact.integrations.serving.bodies import CheckBody, EvaluateBody
from localfact.integrations.serving.jobs import JobProgress
from localfact.records import Assessment

#: Where schemas are defined that others name.
PLACE = "#/components/schemas/{model}"
ERRORS = {
    "400": "The body is no JSON.",
    "401": "The token is missing: the server can be reached by others.",
    "413": "The body is too long.",
    "415": "The body is not said to be JSON.",
    "422": "What was sent cannot be used; `error` says why.",
    "500": "The engine, the disk or the corpus failed; `error` says how.",
}
JOB_ERRORS = {"404": "There is no such job.", "500": "What the job has on the disk cannot be read; `error` says why."}
JOB = {"name": "job", "in": "path", "required": True, "schema": {"type": "string"}, "description": "Its id."}


def description(judged_by: Mapping[str, Any]) -> dict[str, Any]:
    """The server's OpenAPI 3.1 description, as JSON-ready dictionary.

    Args:
        judged_by: the server's `method` and `limits` in words; both are quoted in the description.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "localfact",
            "version": version("localfact"),
            "description": f"Method {judged_by['method']}. {judged_by['limits']}",
        },
        "paths": _paths(),
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _paths() -> dict[str, Any]:
    most = [_number("start", "The first row, counted from 1."), _number("most", "How many, 1,000 at most. Default: 100.")]
    return {
        "/check": {
            "post": _told("Check one text, and wait for it.", 200, {"assessment": _name_schema("Assessment")}, body="CheckBody")
        },
        "/evaluate": {
            "post": _told(
                "Evaluate rows, in a job that outlives the server.",
                202,
                {**_progress(), "events": {"type": "string"}, "results": {"type": "string"}},
                body="EvaluateBody",
                errors={"503": "Too many jobs wait."},
            )
        },
        "/jobs/{job}": {"get": _told("How far a job is; when it is done, its summary.", 200, _progress(), [JOB])},
        "/jobs/{job}/rows": {
            "get": _told(
                "The results of a job that are there, in the order of its rows.",
                200,
                {"state": {"type": "string"}, "rows": {"type": "array", "items": _name_schema("Assessment")}},
                [JOB, *most],
            )
        },
        "/jobs/{job}/events": {
            "get": {
                "summary": "How far a job is, as server-sent events: progress, and at the end done or failed.",
                "parameters": [JOB],
                "responses": {
                    "200": {"description": "The events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
                    **{code: {"description": meaning} for code, meaning in JOB_ERRORS.items()},
                },
            }
        },
        "/healthz": {
            "get": _told(
                "Whether the server answers, and how much it has to do.",
                200,
                {"status": {"const": "ok"}, "checks": {"type": "integer"}, "jobs": {"type": "integer"}},
            )
        },
    }


def _told(
    summary: str,
    status: int,
    fields: Mapping[str, Any],
    parameters: list[dict[str, Any]] | None = None,
    *,
    body: str | None = None,
    errors: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """One operation, whose answer is an object of these fields and of who judged."""
    answer = {"type": "object", "properties": {**fields, "judged_by": _name_schema("JudgedBy")}}
    known = {**(ERRORS if body else JOB_ERRORS if parameters else {}), **(errors or {})}
    said: dict[str, Any] = {
        "summary": summary,
        "responses": {
            str(status): {"description": "Done." if status == 200 else "Taken.", "content": _json(answer)},
            **{code: {"description": meaning} for code, meaning in sorted(known.items())},
        },
    }
    if parameters:
        said["parameters"] = parameters
    if body:
        said["requestBody"] = {"required": True, "content": _json(_name_schema(body))}
    return said


def _schemas() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for model in (CheckBody, EvaluateBody, JudgedBy, JobProgress, Assessment):
        mode: Any = "validation" if model in (CheckBody, EvaluateBody) else "serialization"
        schema = model.model_json_schema(ref_template=PLACE, mode=mode)
        found |= schema.pop("$defs", {})
        found[model.__name__] = schema
    return found


def _progress() -> dict[str, Any]:
    return dict(JobProgress.model_json_schema(ref_template=PLACE, mode="serialization")["properties"])


def _name_schema(model: str) -> dict[str, str]:
    return {"$ref": PLACE.format(model=model)}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _number(name: str, meaning: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": {"type": "integer", "minimum": 1}, "description": meaning}


def page(judged_by: Mapping[str, Any]) -> str:
    """The description as a page that needs no script, no style and no other file."""
    told = description(judged_by)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>localfact</title>',
        '<meta name="viewport" content="width=device-width"></head><body>',
        f"<h1>localfact {escape(told['info']['version'])}</h1>",
        f"<p>{escape(told['info']['description'])}</p>",
        '<p>For programs: <a href="openapi.json">openapi.json</a>.</p>',
    ]
    for path, operations in told["paths"].items():
        for method, operation in operations.items():
            parts += [f"<h2><code>{method.upper()} {escape(path)}</code></h2>", f"<p>{escape(operation['summary'])}</p>"]
            parts += _list(_fields(operation, told))
            parts += _list([f"{code}: {one['description']}" for code, one in operation["responses"].items()])
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _fields(operation: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    """What an operation takes, a line each."""
    lines = [f"{one['name']} ({one['in']}): {one['description']}" for one in operation.get("parameters", ())]
    if "requestBody" in operation:
        reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        schema = told["components"]["schemas"][reference.rpartition("/")[2]]
        needed = schema.get("required", ())
        lines += [
            f"{name}{'' if name in needed else ' (may be left out)'}: {one['description']}"
            for name, one in schema["properties"].items()
        ]
    return lines


def _list(lines: list[str]) -> list[str]:
    return ["<ul>", *(f"<li>{escape(line)}</li>" for line in lines), "</ul>"] if lines else []
