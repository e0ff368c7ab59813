"""Rows of sentences and claims: from rows like the public sets', and those that were written."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from localfact.claims.small_lm.frame import Frame
from scripts.training.claim_model.sets import SHOWN, WRITERS, Row, answers, biographies, checked, rows, written


def facts(*texts: str) -> list[dict[str, str]]:
    return [{"text": each, "label": "S"} for each in texts]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "factscore_bios").mkdir()
    (tmp_path / "factcheck_gpt").mkdir()
    parts = [
        {"text": "Ada Morel was born in Lyon [1].", "human-atomic-facts": facts("Ada Morel was born in Lyon.")},
        {"text": "I hope this helps.", "human-atomic-facts": None},
        {
            "text": "She won two prizes in 1990.",
            "human-atomic-facts": facts("She won two prizes in 1990.", "she won two prizes in 1990", "She won 3 prizes."),
        },
    ]
    bios: list[dict[str, Any]] = [
        {"topic": "Ada Morel", "output": " ".join(part["text"] for part in parts), "annotations": parts},
        {"topic": "Nobody", "output": "I do not know.", "annotations": None},
        {
            "topic": SHOWN,
            "output": "He is here.",
            "annotations": [{"text": "He is here.", "human-atomic-facts": facts("He is.")}],
        },
    ]
    for writer in WRITERS:
        lines = bios if writer == WRITERS[0] else []
        (tmp_path / f"factscore_bios/{writer}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    sentences = {
        "0": {"text": "It depends.", "claims": [], "sentence_checkworthiness": "opinion"},
        "1": {"text": "Water boils.", "claims": ["Water boils.", " "], "sentence_checkworthiness": "yes"},
        "2": {"text": "Ice floats.", "claims": [], "sentence_checkworthiness": "yes"},
    }
    answer = {"prompt": "What?", "sentences": sentences}
    packed = gzip.compress((json.dumps(answer) + "\n").encode())
    (tmp_path / "factcheck_gpt/factcheck-GPT-benchmark.jsonl.gz").write_bytes(packed)
    return tmp_path


def test_facts_of_people_have_names_for_pronouns_and_each_stands_once(data: Path) -> None:
    first, second = biographies(data)
    assert first.frame == Frame("Ada Morel", "", "Ada Morel was born in Lyon.")
    assert second.frame.before == "Ada Morel was born in Lyon. I hope this helps."
    assert second.claims == ("Ada Morel won two prizes in 1990", "Ada Morel won 3 prizes.")
    assert second.as_written == ("she won two prizes in 1990", "She won 3 prizes.")


def test_claims_that_their_text_has_nothing_of_are_left_out(data: Path) -> None:
    second = next(row for row in rows(data) if row.frame.sentence.startswith("She"))
    assert second.claims == ("Ada Morel won two prizes in 1990",)
    assert second.as_written == ("she won two prizes in 1990",)


def test_a_sentence_without_claims_is_kept_where_nothing_was_worth_checking(data: Path) -> None:
    assert [(row.frame.sentence, row.claims) for row in answers(data)] == [
        ("It depends.", ()),
        ("Water boils.", ("Water boils.",)),
    ]


def test_what_was_written_passes_the_guard_and_is_whole() -> None:
    found = list(written(Path()))
    assert len(found) == len({row.frame.sentence for row in found}) >= 200
    lost = [claim for row in found for claim in row.claims if claim not in checked(row).claims]
    assert len(lost) <= 3
    assert 10 <= sum(not row.claims for row in found) <= 50


def test_a_topic_is_on_one_side_of_the_division() -> None:
    frame = Frame("", "", "A.")
    sides = [Row("s", frame, (), (), f"topic {number}").is_test for number in range(1_000)]
    assert 100 < sum(sides) < 200
    assert Row("t", frame, (), (), "Topic, 7").is_test == Row("s", frame, (), (), "topic 7").is_test
