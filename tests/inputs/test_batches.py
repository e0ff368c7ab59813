import json
from pathlib import Path
from typing import Any

from localfact.inputs.responses import read_response_file
from localfact.inputs.row_files import data_digest

ICE, SNOW = "Ice floats on water, as it is lighter.", "Snow falls in winter, and melts in spring."


def write(file: Path, *lines: Any) -> Path:
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return file


def answer(name: str, text: str) -> dict[str, Any]:
    body = {"model": "small", "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
    return {"id": f"batch_{name}", "custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}


def request(name: str, asked: str) -> dict[str, Any]:
    body = {"model": "small", "messages": [{"role": "user", "content": asked}]}
    return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}


def test_the_prompts_of_a_batch_are_those_of_the_requests_beside_it(tmp_path: Path) -> None:
    output = write(tmp_path / "output.jsonl", answer("snow", SNOW), answer("ice", ICE), answer("lost", ICE))
    alone = data_digest(output)
    write(tmp_path / "requests.jsonl", request("ice", "What of ice?"), request("snow", "What of snow?"))
    write(tmp_path / "others.jsonl", request("sea", "What of the sea?"))
    (tmp_path / "notes.jsonl").write_bytes(b"\xff\x00 no JSON\n")
    responses, warnings = read_response_file(output)
    assert [(one.id, one.prompt, one.text) for one in responses] == [
        ("snow", "What of snow?", SNOW),
        ("ice", "What of ice?", ICE),
        ("lost", None, ICE),
    ]
    assert warnings == ("The prompts of 2 answers are those of requests.jsonl, beside them; 1 have none there.",)
    assert data_digest(output) != alone


def test_requests_of_anthropics_batches_are_joined_too(tmp_path: Path) -> None:
    said = {"type": "succeeded", "message": {"role": "assistant", "content": [{"type": "text", "text": ICE}]}}
    output = write(tmp_path / "results.jsonl", {"custom_id": "ice", "result": said})
    params = {"model": "small", "messages": [{"role": "user", "content": "What of ice?"}]}
    write(tmp_path / "batch.jsonl", {"custom_id": "ice", "params": params})
    assert [(one.prompt, one.text) for one in read_response_file(output).responses] == [("What of ice?", ICE)]


def test_which_of_two_files_was_asked_is_not_guessed(tmp_path: Path) -> None:
    output = write(tmp_path / "output.jsonl", answer("ice", ICE))
    for name in ("first.jsonl", "second.jsonl"):
        write(tmp_path / name, request("ice", f"Asked in {name}?"))
    ((response,), (warning,)) = read_response_file(output)
    assert response.prompt is None
    assert "first.jsonl, second.jsonl all hold requests of this batch" in warning
