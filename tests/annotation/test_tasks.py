"""What is to be annotated is read from a run's folder or a file of responses; a row that cannot be used is told."""

import json
from pathlib import Path

import pytest

from localfact.annotation.tasks import MOST_PASSAGES, read_tasks
from localfact.api.evaluate import evaluate
from localfact.errors import InputError, LocalFactError
from localfact.methods.options import Options
from localfact.records import Span, passage_id
from localfact.vocabulary import VerdictLabel

ROWS = [
    {
        "id": f"mill-{at}",
        "prompt": f"When did mill {at} open?",
        "topic": f"mill {at}",
        "model": "scribe-1",
        "source": "mills",
        "response": f"Mill {at} opened in 1911. It had a pond.",
        "claims": [
            {"id": "a", "text": f"Mill {at} opened in 1911.", "passages": ["p1", "p2"]},
            {"id": "b", "text": "It had a pond."},
        ],
        "passages": [{"id": f"p{number}", "text": f"Mill {at} opened in {year}."} for number, year in ((1, 1911), (2, 1935))],
    }
    for at in range(3)
]


def test_ids_that_a_file_gives_to_one_response_alone_are_told_from_counted_ones(tmp_path: Path) -> None:
    rows = [{"response": "One."}, {"id": "b", "response": "Two."}, {"id": "c", "response": "A."}, {"id": "c", "response": "B."}]
    tasks, _ = read_tasks(written(tmp_path / "rows.jsonl", *rows))
    assert [task.id_given for task in tasks] == [False, True, False, False]


def written(file: Path, *rows: object) -> Path:
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8")
    return file


def test_a_file_gives_its_responses_with_their_claims_and_the_passages_that_these_name(tmp_path: Path) -> None:
    tasks, said = read_tasks(written(tmp_path / "rows.jsonl", *ROWS))
    assert said == []
    assert [task.id for task in tasks] == ["mill-0", "mill-1", "mill-2"]
    task = tasks[1]
    assert (task.prompt, task.topic, task.model, task.source) == ("When did mill 1 open?", "mill 1", "scribe-1", "mills")
    assert task.text == "Mill 1 opened in 1911. It had a pond."
    one, other = task.claims
    assert (one.id, one.text, one.spans) == ("a", "Mill 1 opened in 1911.", (Span(start=0, end=22),))
    assert (one.verdict, one.posterior, one.rationale) == (None, None, None)
    assert [counted.passage_id for counted in one.passages] == [passage.id for passage in task.passages]
    assert [passage.text for passage in task.passages] == ["Mill 1 opened in 1911.", "Mill 1 opened in 1935."]
    assert (other.id, other.passages) == ("b", ())


def test_a_passage_that_no_claim_names_is_not_carried_and_one_that_is_named_twice_is_there_once(tmp_path: Path) -> None:
    row = {
        "response": "A pond. A cat.",
        "claims": [{"text": "A pond.", "passages": ["p", "q", "p"]}, {"text": "A cat.", "passages": ["p", "gone"]}],
        "passages": [{"id": "p", "text": "Ponds."}, {"id": "q", "text": "Ponds."}, {"id": "r", "text": "Rivers."}],
    }
    ((task,), _) = read_tasks(written(tmp_path / "rows.jsonl", row))
    assert [passage.text for passage in task.passages] == ["Ponds."]
    assert [[counted.passage_id for counted in claim.passages] for claim in task.claims] == [[passage_id("Ponds.")]] * 2


def test_a_claim_has_no_more_passages_than_can_be_shown(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(MOST_PASSAGES + 5)]
    row = {
        "response": "A pond.",
        "claims": [{"text": "A pond.", "passages": names}],
        "passages": [{"id": name, "text": f"Pond {name}."} for name in names],
    }
    ((task,), _) = read_tasks(written(tmp_path / "rows.jsonl", row))
    assert [passage.text for passage in task.passages] == [f"Pond {name}." for name in names[:MOST_PASSAGES]]


def test_responses_without_claims_are_to_be_annotated_from_nothing(tmp_path: Path) -> None:
    tasks, said = read_tasks(written(tmp_path / "rows.jsonl", {"response": "A pond."}, {"output": "A cat.", "claims": []}))
    assert said == []
    assert [(task.id, task.text, task.claims, task.passages) for task in tasks] == [
        ("row-1", "A pond.", (), ()),
        ("row-2", "A cat.", (), ()),
    ]


def test_rows_that_cannot_be_used_are_told_and_stop_no_other(tmp_path: Path) -> None:
    bad = [
        '{"id": "torn", "response": ',
        {"id": "bare", "claims": ["A pond."]},
        {"id": "odd", "response": "A pond.", "claims": [{"label": "S"}]},
        {"id": "failed", "response": "A pond.", "error_message": "The model was away."},
    ]
    tasks, said = read_tasks(written(tmp_path / "rows.jsonl", ROWS[0], *bad, ROWS[1]))
    assert [task.id for task in tasks] == ["mill-0", "mill-1"]
    assert len(said) == len(bad)
    for sentence, (name, why) in zip(
        said,
        [("row-2", ""), ("bare", "no response"), ("odd", "Claim 1 has no text"), ("failed", "The model was away")],
        strict=True,
    ):
        assert sentence.startswith(f"{name} cannot be annotated: ")
        assert why in sentence


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_response_without_any_text_is_told_and_is_no_task(tmp_path: Path, text: str) -> None:
    tasks, said = read_tasks(written(tmp_path / "rows.jsonl", {"id": "blank", "response": text}, ROWS[0]))
    assert [task.id for task in tasks] == ["mill-0"]
    (sentence,) = said
    assert sentence.startswith("blank ")


def test_two_rows_with_one_id_are_two_tasks_with_two(tmp_path: Path) -> None:
    tasks, _ = read_tasks(written(tmp_path / "rows.jsonl", ROWS[0], ROWS[0]))
    assert [task.id for task in tasks] == ["mill-0", "mill-0#2"]


@pytest.mark.parametrize("content", [b"", b"Dear diary.", b"\x00\xff\x00"])
def test_a_file_that_holds_no_responses_is_told(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rows.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=r"rows\.jsonl"):
        read_tasks(tmp_path / "rows.jsonl")


def test_a_file_or_run_that_is_not_there_is_told(tmp_path: Path) -> None:
    for place in (tmp_path / "nowhere.jsonl", tmp_path):
        with pytest.raises(LocalFactError, match=place.name):
            read_tasks(place)


@pytest.mark.slow
def test_a_run_gives_its_responses_with_verdicts_and_passages(tmp_path: Path) -> None:
    data = written(tmp_path / "rows.jsonl", *ROWS, {"id": "bare", "claims": []})
    evaluate(data, options=Options(relations="lexical", embedder="none"), out=tmp_path / "run")
    tasks, said = read_tasks(tmp_path / "run")
    assert [task.id for task in tasks] == ["mill-0", "mill-1", "mill-2"]
    (sentence,) = said
    assert sentence.startswith("bare has no text (")
    from_file, _ = read_tasks(data)
    for task, plain in zip(tasks, from_file, strict=True):
        assert (task.id_given, task.text, task.prompt, task.topic, task.model, task.source) == (
            True,
            plain.text,
            plain.prompt,
            plain.topic,
            plain.model,
            plain.source,
        )
        assert [(claim.id, claim.text, claim.spans) for claim in task.claims] == [
            (claim.id, claim.text, claim.spans) for claim in plain.claims
        ]
        assert all(isinstance(claim.verdict, VerdictLabel) for claim in task.claims)
        named = {counted.passage_id for claim in task.claims for counted in claim.passages}
        assert named == {passage.id for passage in task.passages}
        assert named
    assert any(counted.relation is not None for claim in tasks[0].claims for counted in claim.passages)


@pytest.mark.slow
def test_a_run_with_a_torn_line_is_told(tmp_path: Path) -> None:
    evaluate(
        written(tmp_path / "rows.jsonl", ROWS[0]), options=Options(relations="lexical", embedder="none"), out=tmp_path / "run"
    )
    file = tmp_path / "run" / "assessments.jsonl"
    file.write_text(file.read_text().replace('"claims"', '"clams"', 1))
    with pytest.raises(InputError, match="assessments"):
        read_tasks(tmp_path / "run")
