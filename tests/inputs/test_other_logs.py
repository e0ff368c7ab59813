"""Results of promptfoo and deepeval as data, in the forms of their types and classes."""

import json
from pathlib import Path
from typing import Any

import pytest

from localfact.inputs.responses import read_response_file
from localfact.records import Response, Sample

ICE, SNOW = "Ice floats on water, as it is lighter.", "Snow falls in winter, and melts in spring."


def read(folder: Path, document: Any, name: str = "results.json") -> tuple[list[Response], tuple[str, ...]]:
    text = document if isinstance(document, str) else json.dumps(document)
    (folder / name).write_text(text, encoding="utf-8")
    responses, warnings = read_response_file(folder / name)
    return responses, warnings


def result(test: int, output: Any, prompt: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "id": f"uuid-{test}-{prompt}",
        "promptIdx": prompt,
        "testIdx": test,
        "testCase": {"vars": {"topic": "ice"}, "assert": []},
        "promptId": "abc",
        "provider": {"id": f"openai:model-{prompt}", "label": ""},
        "prompt": {"raw": "Tell of ice.", "label": "Tell of {{topic}}."},
        "vars": {"topic": "ice", "context": ICE},
        "response": {"output": output, "cached": False},
        "success": True,
        "failureReason": 0,
        "score": 1,
        "gradingResult": None,
    } | more


PROMPTFOO = {
    "evalId": "eval-1",
    "results": {"version": 3, "timestamp": "2026-05-17", "prompts": [{"raw": "x", "provider": "y"}], "results": []},
    "config": {"description": "frozen things"},
    "shareableUrl": None,
}


def promptfoo(*results: Any) -> dict[str, Any]:
    return PROMPTFOO | {"results": {**PROMPTFOO["results"], "results": list(results)}}  # type: ignore[dict-item]


def test_results_of_promptfoo_have_their_test_prompt_and_provider(tmp_path: Path) -> None:
    responses, warnings = read(tmp_path, promptfoo(result(0, ICE), result(0, SNOW, 1), result(1, SNOW)))
    assert [(one.id, one.model, one.text) for one in responses] == [
        ("test-0", "openai:model-0", ICE),
        ("test-0/prompt-1", "openai:model-1", SNOW),
        ("test-1", "openai:model-0", SNOW),
    ]
    assert responses[1].sample == Sample(id="test-0", task="frozen things")
    assert {(one.prompt, one.topic, one.source) for one in responses} == {("Tell of ice.", "ice", "frozen things")}
    assert responses[0].evidence is not None
    assert warnings == ()


def test_a_failed_assertion_of_promptfoo_hides_no_answer_and_a_failed_provider_says_why(tmp_path: Path) -> None:
    chat = {"raw": json.dumps([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "And ice?"}])}
    responses, _ = read(
        tmp_path,
        promptfoo(
            result(0, ICE, success=False, failureReason=1, error="Expected output to contain 'snow'"),
            result(1, None, response={"error": "API error: 429"}, error="API error: 429", failureReason=2),
            result(2, None, response=None, error="Timeout"),
            result(3, {"answer": 3}),
            "no result",
            result(4, SNOW, provider="echo") | {"prompt": chat},
        ),
    )
    assert [one.problem for one in responses[:3]] == [
        None,
        "The provider gave no answer: API error: 429.",
        "The provider gave no answer: Timeout.",
    ]
    assert "an object (answer)" in str(responses[3].problem)
    assert (responses[5].prompt, responses[5].model, responses[5].text) == ("And ice?", "echo", SNOW)


@pytest.mark.parametrize("form", ["lines", "list", "summary"])
def test_results_of_promptfoo_are_found_in_its_other_forms(tmp_path: Path, form: str) -> None:
    results = [result(0, ICE), result(1, SNOW)]
    forms = {"lines": "\n".join(map(json.dumps, results)), "list": results, "summary": promptfoo(*results)["results"]}
    responses, _ = read(tmp_path, forms[form], "results.jsonl" if form == "lines" else "results.json")
    assert [(one.id, one.text) for one in responses] == [("test-0", ICE), ("test-1", SNOW)]


def case(name: str, output: Any, **more: Any) -> dict[str, Any]:
    metric = {"name": "Faithfulness", "score": 1.0, "success": True, "evaluationModel": "judge"}
    return {"name": name, "input": "What of ice?", "actualOutput": output, "metricsData": [metric], "success": True} | more


DEEPEVAL = {
    "testFile": "test_ice.py",
    "datasetAlias": "frozen things",
    "conversationalTestCases": [],
    "metricsScores": [{"metric": "Faithfulness", "scores": [1.0], "passes": 1, "fails": 0, "errors": 0}],
    "hyperparameters": {"model": "small"},
    "testPassed": 1,
}


def test_test_cases_of_deepeval_have_their_name_and_what_was_retrieved(tmp_path: Path) -> None:
    talk = {"name": "talk", "turns": [{"role": "user", "content": "Ice?"}, {"role": "assistant", "content": SNOW}]}
    cases = [
        case("one", ICE, retrievalContext=["Ice is light."], context=["Ice is cold."]),
        case("two", ["Look:", {"url": "x.png", "local": True}, SNOW]),
        case("none", None),
        3,
    ]
    document = DEEPEVAL | {"testCases": cases, "conversationalTestCases": [talk | {"success": True, "metricsData": []}]}
    one, two, none, bad, talked = read(tmp_path, document)[0]
    assert one.evidence is not None
    assert one.model_copy(update={"evidence": None}) == Response(
        id="one",
        id_given=True,
        text=ICE,
        prompt="What of ice?",
        model="small",
        source="frozen things",
        sample=Sample(id="one", task="frozen things"),
    )
    assert [passage.text for passage in one.evidence.passages] == ["Ice is light.", "Ice is cold."]
    assert two.text == f"Look:\n{SNOW}"
    assert (none.problem, bad.problem) == (
        "The test case has no answer: its actualOutput is empty.",
        "The test case of deepeval is not a JSON object.",
    )
    assert (talked.prompt, talked.text) == ("Ice?", SNOW)


def test_what_deepeval_gives_in_python_is_read_when_it_was_dumped(tmp_path: Path) -> None:
    found = {"name": "one", "success": True, "metrics_data": [], "conversational": False, "input": "Ice?", "actual_output": ICE}
    for document in (
        {"test_results": [found], "confident_link": None},
        {"testRunData": DEEPEVAL | {"testCases": [case("one", ICE)]}},
    ):
        ((response,), warnings) = read(tmp_path, document)
        assert (response.text, response.sample is not None and response.sample.id, warnings) == (ICE, "one", ())


CLAIM = {"text": "Ice floats.", "label": "S"}


@pytest.mark.parametrize(
    "row",
    [
        {"provider": "openai", "success": True, "vars": {"topic": "ice"}, "prompt": "Ice?"},
        {"provider": "openai", "promptIdx": 0, "testIdx": 3},
        {"doc": {"question": "Ice?"}, "resps": [["Another text."]]},
    ],
)
def test_a_row_with_a_text_as_response_is_its_owners_whatever_stands_beside_it(row: dict[str, Any], tmp_path: Path) -> None:
    own = {"id": "own", "response": ICE, "claims": [CLAIM], **row}
    for form in (f"{json.dumps(own)}\n{json.dumps(own | {'id': 'two'})}", [own, own | {"id": "two"}], {"results": [own]}):
        responses, _ = read(tmp_path, form)
        assert (responses[0].id, responses[0].text) == ("own", ICE)
        assert [claim.text for claim in responses[0].claims or ()] == [CLAIM["text"]]


def test_test_cases_with_a_response_are_their_owners(tmp_path: Path) -> None:
    own = {"id": "own", "response": ICE, "turns": 3}
    assert [(one.id, one.text) for one in read(tmp_path, {"test_cases": [own, {**own, "id": "two"}]})[0]] == [
        ("own", ICE),
        ("two", ICE),
    ]


@pytest.mark.parametrize(("output", "said"), [(None, "empty"), ({"text": ICE}, "no text")])
def test_a_test_case_of_deepeval_without_a_text_says_what_it_has(output: object, said: str, tmp_path: Path) -> None:
    (response,), _ = read(tmp_path, {"testCases": [{"name": "a", "input": "Ice?", "actualOutput": output, "metricsData": []}]})
    assert response.problem == f"The test case has no answer: its actualOutput is {said}."
