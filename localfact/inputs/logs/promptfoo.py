"""Reads the results of promptfoo (`promptfoo eval -o results.json`, or `.jsonl`) as rows: one a test, a prompt and a provider.

The form is that of its types `OutputFile`, `EvaluateSummaryV3` and `EvaluateResult`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from localfact.inputs.json_rows import Row, RowError, shown_error
from localfact.inputs.logs.samples import sample_row


def is_results(document: Mapping[str, Any]) -> bool:
    """Whether a document of JSON has the results of an evaluation."""
    return _results(document) is not None


def is_result(value: object) -> bool:
    """Whether an object is the result of one test."""
    if not isinstance(value, Mapping) or "provider" not in value:
        return False
    numbered = isinstance(value.get("promptIdx"), int) and isinstance(value.get("testIdx"), int)
    tested = isinstance(value.get("testCase"), Mapping) or ("success" in value and isinstance(value.get("vars"), Mapping))
    said = value.get("response")
    # An answer that is a text is a row of somebody's own.
    return (numbered or tested) and (isinstance(said, Mapping) or (said is None and ("error" in value or "prompt" in value)))


def document_rows(document: Mapping[str, Any], note: Callable[[str], None]) -> Iterator[Row | RowError]:
    """The rows of a file of results."""
    config = document.get("config")
    described = config.get("description") if isinstance(config, Mapping) else None
    for number, result in enumerate(_results(document) or ()):
        yield result_row(result, number, described)


def result_row(result: object, number: int, task: object = None) -> Row | RowError:
    """The row of one result; `number` counts those of a file, for one that does not number its test."""
    if not isinstance(result, Mapping):
        return RowError("The result of promptfoo is not a JSON object.")
    test, prompt_number, prompt, asked = (result.get(name) for name in ("testIdx", "promptIdx", "prompt", "vars"))
    provider = result.get("provider")
    provider = provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else provider
    response = result.get("response")
    response = response if isinstance(response, Mapping) else {"output": response}
    output = response.get("output")
    name = number if test is None else test
    return sample_row(
        f"test-{name}",
        place=f"/prompt-{prompt_number}" if prompt_number else "",
        task=task,
        prompt=prompt.get("raw") if isinstance(prompt, Mapping) else prompt,
        model=provider,
        data=asked,
        response=output,
        # A failed assertion is an error, too, and no reason to judge the answer less.
        error_message=_problem(result, response) if output is None else None,
    )


def _results(document: Mapping[str, Any]) -> list[Any] | None:
    """The list of results, which stands under one name or under two."""
    inner = document.get("results")
    found = inner.get("results") if isinstance(inner, Mapping) else inner
    return found if isinstance(found, list) and any(map(is_result, found)) else None


def _problem(result: Mapping[str, Any], response: Mapping[str, Any]) -> str:
    said = shown_error(response.get("error") or result.get("error"))
    return f"The provider gave no answer: {said}." if said else "The provider gave no answer."
