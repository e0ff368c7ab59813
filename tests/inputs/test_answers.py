import json
from pathlib import Path
from typing import Any

import pytest

from localfact.inputs.answers import find_answer
from localfact.inputs.responses import read_response_file, response_of

ICE = "Ice floats on water."
ASKED = {"role": "user", "content": "What floats?"}
SAID = {"role": "assistant", "content": ICE}
CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}


def chat(*choices: dict[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": list(choices)}


def choice(message: Any, index: int = 0, finish: str = "stop") -> dict[str, Any]:
    return {"index": index, "message": message, "finish_reason": finish}


def batch(body: Any, *, status: int = 200, error: Any = None) -> dict[str, Any]:
    response = None if body is None else {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": "ice", "response": response, "error": error}


def output(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"type": "message", "role": "assistant", "content": list(parts)}
    return {"object": "response", "model": "m", "status": "completed", "output": [{"type": "reasoning"}, message], **more}


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [{"role": "system", "content": "Be brief."}, ASKED, SAID]},
        {"messages": [ASKED, SAID, {"role": "user", "content": "Thanks."}]},
        {"messages": [ASKED, CALLED, {"role": "tool", "content": "r"}, SAID]},
        {
            "messages": [
                ASKED,
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": ICE}]},
            ]
        },
        {"messages": [{"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "What floats?"}]}, SAID]},
        {"messages": [ASKED], "response": ICE},
        {"prompt": [ASKED], "completion": [SAID]},
        {"prompt": "What floats?", "response": SAID},
        {"conversations": [{"from": "human", "value": "What floats?"}, {"from": "gpt", "value": ICE}]},
        {"contents": [{"role": "user", "parts": [{"text": "What floats?"}]}, {"role": "model", "parts": [{"text": ICE}]}]},
        {"user_input": [{"type": "human", "content": "What floats?"}, {"type": "ai", "content": ICE}]},
        {"request": {"messages": [ASKED]}, "response": chat(choice(SAID))},
        {"prompt": "What floats?", "response": [ICE]},
        {"messages": json.dumps([ASKED, SAID])},
    ],
)
def test_the_last_message_of_the_assistant_answers_the_one_before_it(row: dict[str, Any]) -> None:
    assert find_answer(row)[:3] == (ICE, None, "What floats?")


@pytest.mark.parametrize(
    "row",
    [
        batch(chat(choice(SAID))),
        batch({"object": "text_completion", "model": "m", "choices": [{"index": 0, "text": ICE}]}),
        batch(output({"type": "output_text", "text": ICE})),
        {**chat(choice(SAID)), "custom_id": "ice"},
        {"custom_id": "ice", "result": {"type": "succeeded", "message": {**SAID, "model": "m"}}},
    ],
)
def test_the_answer_of_a_server_has_its_model_and_the_id_of_its_request(row: dict[str, Any]) -> None:
    response = response_of(row, 1)
    assert (response.id, response.text, response.model, response.problem) == ("ice", ICE, "m", None)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            batch({"error": {"code": "bad", "message": "No such model."}}, status=400),
            "failed with status 400: bad: No such model.",
        ),
        (batch(None, error={"code": "batch_expired", "message": "Too late."}), "no answer: batch_expired: Too late."),
        (batch(output(status="failed", output=[], error={"message": "Boom"})), "no answer: Boom."),
        (batch(chat()), "its list of choices is empty"),
        (batch(chat(choice(CALLED))), "the assistant's last message calls a tool and says nothing"),
        (batch({"data": [{"embedding": [0.1]}]}), "'response' holds an object (status_code, request_id, body)"),
        ({"custom_id": "a", "method": "POST", "url": "/v1", "body": {"messages": [ASKED]}}, "a request of a batch's input"),
        ({"custom_id": "a", "result": {"type": "expired"}}, "expired: no reason is given"),
        ({"messages": [ASKED]}, "none of its messages is the assistant's"),
        ({"messages": [ASKED, SAID, ASKED, CALLED]}, "calls a tool and says nothing"),
        (ASKED, "it is a message of the role user"),
        ({"messages": "Ice floats."}, "it has messages"),
        ({"response": ["a", "b"]}, "2 texts stand where one must"),
        ({"response": None, "topic": "ice"}, "'response' holds nothing"),
        ({"topic": "ice", "words": "x"}, "it has topic, words"),
    ],
)
def test_a_row_without_an_answer_says_what_it_has(row: dict[str, Any], said: str) -> None:
    found = find_answer(row)
    assert found.text is None
    assert said in (found.problem or "")


def test_a_refusal_is_an_answer_and_parts_are_one_text() -> None:
    assert (
        find_answer({"messages": [ASKED, {"role": "assistant", "content": None, "refusal": "I cannot."}]}).text == "I cannot."
    )
    assert find_answer(batch(output({"type": "refusal", "refusal": "I cannot."}))).text == "I cannot."
    parts = [{"type": "text", "text": text} for text in ("Ice floats", " on water.", "Snow falls.")]
    assert find_answer({"messages": [{"role": "assistant", "content": parts}]}).text == "Ice floats on water.\nSnow falls."


def test_what_is_not_judged_of_rows_is_told_with_how_many(tmp_path: Path) -> None:
    rows = [
        batch(chat(choice({"role": "assistant", "content": "Snow falls."}, 1), choice(SAID, 0, "length"))),
        {"messages": [ASKED, {"role": "assistant", "content": "Snow."}, ASKED, SAID]},
        [ASKED, SAID],
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    read = read_response_file(tmp_path / "rows.jsonl")
    assert [one.text for one in read.responses] == [ICE] * 3
    assert sorted(warning.split(",")[0] for warning in read.warnings) == [
        "Conversations with earlier answers",
        "Responses that the model's limit of tokens cut off: 1.",
        "Rows with further choices",
    ]
    (tmp_path / "one.json").write_text(json.dumps([ASKED, SAID], indent=1))
    (alone,) = read_response_file(tmp_path / "one.json").responses
    assert (alone.text, alone.prompt) == (ICE, "What floats?")


def test_an_answer_nested_without_end_is_none() -> None:
    for key in ("content", "message", "body", "error", "response"):
        row: Any = ICE
        for _ in range(900):
            row = {key: row, "role": "assistant"} if key == "content" else {key: row}
        assert response_of({"response": row, "error": row}, 1).problem is not None


def test_contexts_are_texts_or_objects_and_those_of_ragas_are_joined() -> None:
    row = {"response": ICE, "retrieved_contexts": ["one", "two"], "reference_contexts": ["two", "three"]}
    for given, texts in (
        (row, ["one", "two", "three"]),
        ({"answer": ICE, "contexts": ["one", {"page_content": "two"}, {"text": "three"}]}, ["one", "two", "three"]),
        ({"answer": ICE, "contexts": "one"}, ["one"]),
        ({"actual_output": ICE, "context": ["two"], "retrieval_context": [["one"], ["two"]]}, ["one", "two"]),
        ({"query": "x", "response": ICE, "retrieved_context": [{"doc_id": "1", "content": "one"}]}, ["one"]),
    ):
        evidence = response_of(given, 1).evidence
        assert evidence is not None
        assert [passage.text for passage in evidence.passages] == texts
    assert response_of({**row, "retrieved_contexts": None, "reference_contexts": []}, 1).evidence is None
    assert response_of({**row, "retrieved_contexts": [5]}, 1).problem == "Passage 1 is neither a text nor a JSON object."
