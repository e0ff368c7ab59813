"""Logs of inspect_ai as data, made up here: tests/integrations/test_logs_in.py has real ones."""

import json
import re
from pathlib import Path

import pytest
from eval_logs import HEAD, sample, write_archive, write_document, write_members

from localfact.errors import InputError
from localfact.inputs.logs import eval_archive
from localfact.inputs.responses import read_response_file
from localfact.records import Response, Sample

VENICE, SEVEN = "Venice stands on many small islands.", "Seven is an odd number, and a prime."


@pytest.fixture(autouse=True)
def _without_inspect_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localfact.inputs.logs.inspect_reader.is_installed", lambda: False)


def read(file: Path) -> tuple[list[Response], tuple[str, ...]]:
    responses, warnings = read_response_file(file)
    return responses, warnings


def test_samples_are_read_in_the_order_of_their_data_set_with_task_model_and_epoch(tmp_path: Path) -> None:
    samples = [sample(7, SEVEN, 2), sample("venice", VENICE), sample(7, SEVEN, 1), sample("venice", VENICE, 2)]
    for file in (write_archive(tmp_path / "log.eval", samples), write_document(tmp_path / "log.json", samples)):
        responses, warnings = read(file)
        assert [one.id for one in responses] == ["venice", "venice/epoch-2", "7", "7/epoch-2"]
        assert responses[3] == Response(
            id="7/epoch-2",
            id_given=True,
            text=SEVEN,
            prompt="What of 7?",
            model="openai/small",
            source="towns",
            sample=Sample(id="7", task="towns", epoch=2),
        )
        assert all(one.id_given for one in responses)
        assert warnings == ()


def test_a_log_whose_run_is_not_finished_gives_the_samples_that_it_has(tmp_path: Path) -> None:
    started = {name: value for name, value in HEAD.items() if name != "status"}
    members = {"header.json": None, "_journal/start.json": started}
    responses, warnings = read(write_archive(tmp_path / "log.eval", [sample(7, SEVEN)], members))
    assert [one.model for one in responses] == ["openai/small"]
    assert "'started': 1 samples" in warnings[0]


def test_what_a_model_thought_and_called_is_no_part_of_the_response(tmp_path: Path) -> None:
    parts = [{"type": "reasoning", "reasoning": "Islands?"}, {"type": "text", "text": VENICE}, {"type": "image", "image": "x"}]
    said = {"role": "assistant", "content": parts, "tool_calls": [{"id": "1", "function": "look", "arguments": {}}]}
    called = {"role": "assistant", "content": "", "tool_calls": said["tool_calls"]}
    samples = [
        sample("parts", None, output={"choices": [{"message": said, "stop_reason": "max_tokens"}, {"message": said}]}),
        sample("called", None, output={"choices": [{"message": called}], "completion": ""}),
        sample("field", VENICE, output={"choices": [], "completion": SEVEN}),
    ]
    (parts_, called_, field), warnings = read(write_document(tmp_path / "log.json", samples))
    assert (parts_.text, field.text) == (VENICE, SEVEN)
    assert "calls a tool and says nothing" in str(called_.problem)
    assert [warning for warning in warnings if "further choices" in warning or "cut off" in warning] == list(warnings)
    assert len(warnings) == 2


def test_a_sample_without_an_answer_says_why_and_stops_no_other(tmp_path: Path) -> None:
    error = {"message": "RuntimeError('no route')", "traceback": "...", "traceback_ansi": "..."}
    samples = [
        sample("error", VENICE, error=error),
        sample("limit", None, limit={"type": "token", "limit": 500.0}),
        sample("refused", None, output={"choices": [], "completion": "", "error": "Content was filtered."}),
        sample("nothing", None),
        {"id": "bare", "epoch": 1},
        "no sample",
        sample("good", VENICE),
    ]
    responses, _ = read(write_document(tmp_path / "log.json", samples))
    problems = {one.sample.id if one.sample else "none": one.problem for one in responses}
    assert problems == {
        "error": "The sample ended with an error: RuntimeError('no route').",
        "limit": "The sample has no answer: it met its limit, token 500.0.",
        "refused": "The sample has no answer, as the model's side said: Content was filtered.",
        "nothing": "The sample has no answer.",
        "bare": "The sample has no answer.",
        "none": "The log's sample is no object with an id.",
        "good": None,
    }


def test_a_conversation_is_asked_its_last_question_and_passages_come_along(tmp_path: Path) -> None:
    asked = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hello?"},
        {"role": "user", "content": [{"type": "text", "text": "What of Venice?"}]},
    ]
    metadata = {"topic": "Venice", "contexts": [VENICE], "context": {"no": "passages"}, "source": "quiz"}
    (response,), _ = read(write_document(tmp_path / "log.json", [sample(1, VENICE, input=asked, metadata=metadata)]))
    assert (response.prompt, response.topic, response.source) == ("What of Venice?", "Venice", "quiz")
    assert response.evidence is not None
    assert [passage.text for passage in response.evidence.passages] == [VENICE]


def test_texts_that_stand_among_the_attachments_are_put_in_their_place(tmp_path: Path) -> None:
    refers = [{"role": "user", "content": "attachment://a1"}]
    samples = [sample(1, "tc://b2", input=refers, attachments={"a1": "What of Venice?", "b2": VENICE})]
    (response,), _ = read(write_document(tmp_path / "log.json", samples))
    assert (response.prompt, response.text) == ("What of Venice?", VENICE)
    shell = sample("venice", "attachment://1")
    folder = "samples/venice_epoch_1"
    members = {
        f"{folder}/sample.json": shell,
        f"{folder}/attachments/1.json": [VENICE],
        f"{folder}/attachments/0.json": ["Another text."],
        f"{folder}/metadata.json": {"topic": "Venice"},
        f"{folder}/events/0.json": [],
    }
    (response,), _ = read(write_archive(tmp_path / "log.eval", [], members))
    assert (response.text, response.topic) == (VENICE, "Venice")


def test_a_damaged_or_enormous_member_is_a_bad_row_and_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_archive, "LARGEST_MEMBER", 5000)
    members = {"samples/long_epoch_1.json": b" " * 100_000, "samples/torn_epoch_1.json": b'{"id": '}
    file = write_archive(tmp_path / "log.eval", [sample("venice", VENICE), sample(7, SEVEN)], members)
    data = bytearray(file.read_bytes())
    place = data.index(b"samples/7_epoch_1.json") + 30
    data[place : place + 8] = b"\xff" * 8
    file.write_bytes(data)
    responses, _ = read(file)
    assert [one.text for one in responses if one.problem is None] == [VENICE]
    problems = " ".join(str(one.problem) for one in responses if one.problem is not None)
    assert "long_epoch_1.json has 100,000 bytes, more than 5,000" in problems
    assert "torn_epoch_1.json is not JSON" in problems
    assert "7_epoch_1.json is damaged" in problems


def test_a_member_that_unpacks_to_more_than_it_says_is_not_unpacked_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eval_archive, "LARGEST_MEMBER", 5000)
    text = json.dumps(sample("a", VENICE)).encode() + b" " * 50_000
    for first in (None, b"[]"):  # by zstandard, and by deflate
        file = write_members(tmp_path / "log.eval", {"summaries.json": first, "samples/a_epoch_1.json": text})
        small = file.read_bytes().replace(len(text).to_bytes(4, "little"), (400).to_bytes(4, "little"))
        file.write_bytes(small)
        (response,), _ = read(file)
        assert "has more bytes than its archive says" in str(response.problem)


def test_a_log_without_samples_and_a_zip_that_is_none_are_refused(tmp_path: Path) -> None:
    torn = tmp_path / "torn.eval"
    torn.write_bytes(write_archive(tmp_path / "log.eval", [sample(7, SEVEN)]).read_bytes()[:200])
    said = {
        "without a sample": write_document(tmp_path / "log.json", []),
        "log of inspect_ai without a sample": write_archive(tmp_path / "empty.eval", []),
        "no whole zip archive": torn,
        "a zip archive or an Excel workbook": write_members(tmp_path / "other.zip", {"sheet.json": {}}),
    }
    for what, file in said.items():
        with pytest.raises(InputError, match=re.escape(what)):
            read_response_file(file)


def test_what_has_another_form_than_its_place_wants_stops_no_sample(tmp_path: Path) -> None:
    said = {"message": {"role": "assistant", "content": VENICE}, "stop_reason": ["stop"]}
    folder = "samples/venice_epoch_1"
    shell = sample("venice", None, input="attachment://0", output={"choices": [said]})
    members = {"header.json": HEAD, f"{folder}/sample.json": shell, f"{folder}/attachments/0.json": 7}
    (response,), _ = read(write_members(tmp_path / "log.eval", members))
    assert (response.text, response.problem) == (VENICE, None)
