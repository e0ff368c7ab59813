"""Reads deepeval's test runs (`test_run_TIME.json` of its results folder, `.deepeval/.latest_run_full.json`) as rows.

The form is that of its classes `TestRun` and `LLMApiTestCase`, and of `EvaluationResult` as its `model_dump` gives it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from localfact.inputs.json_rows import Row, RowError, first
from localfact.inputs.logs.samples import sample_row

#: Where a document has its test cases, of one question and of conversations, in the file and in Python.
LISTS = ("testCases", "test_cases", "conversationalTestCases", "conversational_test_cases", "test_results", "testResults")
#: What wraps a test run in some of its files.
WRAPPERS = ("testRunData", "test_run_data", "testRun", "test_run")


def is_test_run(document: Mapping[str, Any]) -> bool:
    """Whether a document of JSON is a test run."""
    cases = list(_cases(document))
    return bool(cases) and any(isinstance(one, Mapping) and _is_case(one) for one in cases)


def document_rows(document: Mapping[str, Any], note: Callable[[str], None]) -> Iterator[Row | RowError]:
    """The rows of a test run."""
    run = _unwrap(document)
    task = first(run, ("datasetAlias", "dataset_alias", "identifier", "testFile", "test_file"))
    chosen = run.get("hyperparameters")
    model = chosen.get("model") if isinstance(chosen, Mapping) else None
    for case in _cases(document):
        yield _row_of(case, task, model)


def _row_of(case: object, task: object, model: object) -> Row | RowError:
    if not isinstance(case, Mapping):
        return RowError("The test case of deepeval is not a JSON object.")
    output, turns = first(case, ("actualOutput", "actual_output")), case.get("turns")
    response = _join_texts(output)
    said: dict[str, Any] = {} if response is None else {"response": response}
    if response is None and isinstance(turns, list) and turns:
        said = {"messages": turns}
    elif response is None:
        missing = "empty" if output is None or output == [] else "no text"
        said = {"error_message": f"The test case has no answer: its actualOutput is {missing}."}
    named = {"retrieval_context": first(case, ("retrievalContext", "retrieval_context")), "context": case.get("context")}
    passages = {name: value for name, value in named.items() if value}
    name = case.get("name")
    row = sample_row(name, task=task, prompt=_join_texts(case.get("input")), model=model, **passages, **said)
    return row if name is not None else {field: value for field, value in row.items() if field not in ("id", "sample")}


def _unwrap(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((one for name in WRAPPERS if isinstance(one := document.get(name), Mapping)), document)


def _cases(document: Mapping[str, Any]) -> Iterator[object]:
    run = _unwrap(document)
    for name in LISTS:
        cases = run.get(name)
        yield from cases if isinstance(cases, list) else ()


def _is_case(case: Mapping[str, Any]) -> bool:
    answers = ("actualOutput", "actual_output", "metricsData", "metrics_data", "expectedOutput")
    return "response" not in case and (any(name in case for name in answers) or isinstance(case.get("turns"), list))


def _join_texts(value: object) -> str | None:
    """A text, of a list that has pictures, too, its texts; None for none."""
    if isinstance(value, list):
        texts = [one for one in value if isinstance(one, str)]
        return "\n".join(texts) if texts else None
    return value if isinstance(value, str) else None
