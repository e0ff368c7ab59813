"""Samples of lm-evaluation-harness as data, made up here: tests/integrations/test_logs_in.py has real ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from localfact.inputs.responses import read_response_file
from localfact.inputs.row_files import data_digest
from localfact.records import Response, Sample

ICE, SNOW = "Ice floats on water, as it is lighter.", "Snow falls in winter, and melts in spring."
FILE = "samples_frozen_things_2026-05-17T10-11-12.345678.jsonl"


def line(number: int, resps: Any, name: str = "none", **more: Any) -> dict[str, Any]:
    asked = {"gen_args_0": {"arg_0": f"Tell of {number}.", "arg_1": {"until": ["\n\n"], "max_gen_toks": 256}}}
    row = {"doc_id": number, "doc": {"topic": "cold"}, "target": "", "arguments": asked, "resps": resps}
    filtered = [one[0] if isinstance(one, list) else one for one in resps]
    return {**row, "filtered_resps": filtered, "filter": name, "metrics": [], "doc_hash": f"h{number}"} | more


def read(folder: Path, *lines: Any, name: str = FILE) -> tuple[list[Response], tuple[str, ...]]:
    (folder / name).write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    responses, warnings = read_response_file(folder / name)
    return responses, warnings


def test_each_answer_is_read_once_however_many_filters_there_are(tmp_path: Path) -> None:
    (tmp_path / FILE.replace("samples_frozen_things", "results").replace("jsonl", "json")).write_text(
        json.dumps({"results": {}, "model_name": "org/tiny"}), encoding="utf-8"
    )
    first, second = line(0, [[ICE]]), line(1, [[SNOW]])
    digits = [one | {"filter": "digits", "filtered_resps": ["[invalid]"]} for one in (first, second)]
    responses, warnings = read(tmp_path, first, second, *digits)
    assert [(one.id, one.id_given, one.text, one.prompt) for one in responses] == [
        ("0", True, ICE, "Tell of 0."),
        ("1", True, SNOW, "Tell of 1."),
    ]
    assert responses[0].sample == Sample(id="0", task="frozen_things")
    assert {(one.model, one.source, one.topic) for one in responses} == {("org/tiny", "frozen_things", "cold")}
    assert warnings == ("Rows of further filters, whose answers are read once: 2.",)


def test_several_answers_to_a_document_are_responses_of_their_own(tmp_path: Path) -> None:
    responses, _ = read(tmp_path, line(0, [[ICE, SNOW, ICE]]), line(1, [[[ICE]]]))
    assert [(one.id, one.text) for one in responses] == [("0", ICE), ("0/epoch-2", SNOW), ("0/epoch-3", ICE), ("1", ICE)]
    assert [one.sample.epoch for one in responses if one.sample] == [1, 2, 3, None]
    assert all(one.id_given for one in responses)


def test_requests_of_a_document_keep_their_own_prompts_and_a_chat_its_last_question(tmp_path: Path) -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What of snow?"}]
    two = {"gen_args_1": {"arg_0": "And ice?", "arg_1": {}}, "gen_args_0": {"arg_0": [json.dumps(chat)], "arg_1": {}}}
    responses, _ = read(tmp_path, line(0, [[SNOW], [ICE]], arguments=two), line(1, [[ICE]], arguments=[["What?", {}]]))
    assert [(one.prompt, one.text) for one in responses] == [("What of snow?", SNOW), ("And ice?", ICE), ("What?", ICE)]


def test_a_row_without_an_answer_in_words_says_so_and_stops_no_other(tmp_path: Path) -> None:
    weighed = {"gen_args_0": {"arg_0": "Ice is", "arg_1": " cold"}, "gen_args_1": {"arg_0": "Ice is", "arg_1": " hot"}}
    rows = [
        line(0, [[["-1.5", "True"]], [["-9.25", "False"]]], arguments=weighed),
        line(1, [["-123.5"]], arguments={"gen_args_0": {"arg_0": "Ice is cold."}}),
        line(2, []),
        {"doc": {}, "resps": [[ICE]]},
        line(3, [[ICE]]),
    ]
    responses, _ = read(tmp_path, *rows)
    said = ["likelihoods of given texts", "likelihoods of given texts", "hold no text", "no doc_id"]
    assert all(what in str(one.problem) for what, one in zip(said, responses, strict=False))
    assert (responses[-1].text, responses[-1].problem) == (ICE, None)


def test_an_answer_of_a_number_is_one_where_it_was_asked_for(tmp_path: Path) -> None:
    (response,), _ = read(tmp_path, line(0, [["42"]]))
    assert response.text == "42"


@pytest.mark.parametrize("name", ["results.jsonl", "answers.json"])
def test_a_file_of_another_name_has_no_task(tmp_path: Path, name: str) -> None:
    responses, _ = read(tmp_path, line(0, [[ICE]]), line(0, [[ICE]]), name=name)
    assert [(one.id, one.sample) for one in responses] == [("0", Sample(id="0")), ("0#2", Sample(id="0"))]


def test_the_digest_of_the_samples_counts_the_file_that_names_the_model(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps(line(0, [[ICE]])), encoding="utf-8")
    alone = data_digest(tmp_path / FILE)
    (tmp_path / "results_2026-05-17T10-11-12.345678.json").write_text("{}", encoding="utf-8")
    assert data_digest(tmp_path / FILE) != alone
