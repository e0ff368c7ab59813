import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.inputs.prompts import Prompt, prompt_of, read_prompts


def written(folder: Path, *rows: object, name: str = "prompts.jsonl") -> Path:
    file = folder / name
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("row", "prompt"),
    [
        (
            {"id": "p", "prompt": "What is peat?", "topic": "peat", "source": "soils"},
            Prompt(id="p", text="What is peat?", topic="peat", source="soils"),
        ),
        (  # LongFact: its topic is a subject, and its mark stays on what is made from it
            {"prompt": "How was the canal dug?", "topic": "engineering", "canary": "keep out"},
            Prompt(id="row-1", text="How was the canal dug?", canary="keep out"),
        ),
        (  # FActScore
            {"input": "Question: Tell me a bio of A. Person.", "topic": "A. Person", "cat": ["rare", "Asia"], "output": "x"},
            Prompt(id="row-1", text="Question: Tell me a bio of A. Person.", topic="A. Person"),
        ),
        ({"topic": "B. Person"}, Prompt(id="row-1", text="Question: Tell me a bio of B. Person.", topic="B. Person")),
        (  # VeriScore
            {"question": "Why is snow white?", "prompt_source": "forum", "model": "m", "response": "x"},
            Prompt(id="row-1", text="Why is snow white?", source="forum"),
        ),
        (  # FaStfact asks the question with its extra instructions
            {"question_id": "q7", "question": "Briefly: why?", "raw_question": "why?", "prompt_source": "set"},
            Prompt(id="q7", text="Briefly: why?", source="set"),
        ),
        ({"question_id": "q7", "raw_question": "why?"}, Prompt(id="q7", text="why?")),
        (  # lfqa leaves HTML in its questions
            {"q_id": "x1", "question_text": "Why moss?<br />Is 1 &gt; 0<BR/>there?", "answer1": "a"},
            Prompt(id="x1", text="Why moss?\nIs 1 > 0\nthere?"),
        ),
        ({"prompt": "Is <br /> a tag?"}, Prompt(id="row-1", text="Is <br /> a tag?")),
    ],
)
def test_each_schema_gives_its_prompt(row: dict[str, object], prompt: Prompt) -> None:
    assert prompt_of(row, 1) == prompt


def test_rows_that_cannot_be_used_are_carried_with_their_problem(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"prompt": "a"},
        "{no json",
        {"prompt": 7},
        {"answer": "x"},
        {"question_text": "<br />", "topic": "t"},
        "[1]",
        {"prompt": "b"},
    )
    prompts = read_prompts(file).prompts
    assert [prompt.problem is None for prompt in prompts] == [True] + [False] * 5 + [True]
    assert "not JSON" in (prompts[1].problem or "")
    assert "'question'" in (prompts[3].problem or "")
    assert [prompt.id for prompt in prompts] == [f"row-{number}" for number in range(1, 8)]


def test_a_question_that_stands_once_for_each_model_is_one_prompt(tmp_path: Path) -> None:
    rows = [{"question_id": "q", "question": "Why?", "model": model} for model in "abc"]
    other = {"question_id": "q", "question": "Why not?"}
    prompts, repeated = read_prompts(written(tmp_path, *rows, other))
    assert [(prompt.id, prompt.text) for prompt in prompts] == [("q", "Why?"), ("q#2", "Why not?")]
    assert repeated == 2


def test_equal_prompts_without_ids_are_all_kept(tmp_path: Path) -> None:
    prompts, repeated = read_prompts(written(tmp_path, {"prompt": "Why?"}, {"prompt": "Why?"}))
    assert ([prompt.id for prompt in prompts], repeated) == (["row-1", "row-2"], 0)


def test_the_limit_counts_prompts(tmp_path: Path) -> None:
    file = written(
        tmp_path, {"id": "a", "prompt": "a"}, {"id": "a", "prompt": "a"}, {"id": "b", "prompt": "b"}, {"prompt": "c"}
    )
    prompts, repeated = read_prompts(file, limit=2)
    assert ([prompt.id for prompt in prompts], repeated) == (["a", "b"], 1)


def test_a_plain_text_has_a_prompt_or_a_person_a_line(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes("\ufeffJosé Núñez\r\n\n  Second Person \n".encode())
    assert [prompt.text for prompt in read_prompts(file).prompts] == ["José Núñez", "Second Person"]
    people = read_prompts(file, entities=True).prompts
    assert [prompt.text for prompt in people] == [
        "Question: Tell me a bio of José Núñez.",
        "Question: Tell me a bio of Second Person.",
    ]
    assert [prompt.topic for prompt in people] == ["José Núñez", "Second Person"]


def test_a_plain_text_line_that_looks_like_json_is_a_prompt(tmp_path: Path) -> None:
    file = written(tmp_path, '{"prompt": "a"}', name="lines.txt")
    assert read_prompts(file).prompts[0].text == '{"prompt": "a"}'


def test_files_that_hold_no_prompts_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        read_prompts(tmp_path / "none.txt")
    with pytest.raises(InputError, match="no file"):
        read_prompts(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="is empty"):
        read_prompts(written(tmp_path, " ", name="empty.txt"))
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        read_prompts(tmp_path / "folder.txt")
    with pytest.raises(InputError, match=r"not JSON.*\.txt file"):
        read_prompts(written(tmp_path, "Tell me about peat."))
    with pytest.raises(InputError, match=r"Entities are read from a \.txt file"):
        read_prompts(written(tmp_path, {"prompt": "a"}), entities=True)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda children: st.lists(children, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(["prompt", "question", "question_text", "topic", "id", "canary", "source"]), json_values)
)
def test_no_row_however_odd_raises_and_every_prompt_without_a_problem_has_a_text(row: dict[str, object]) -> None:
    prompt = prompt_of(row, 1)
    assert (prompt.problem is None) == bool(prompt.text.strip())
    prompt.model_dump_json()


def test_the_public_prompts_are_read_unchanged(shared: Path) -> None:
    data = shared / "data"
    for name in ("objects", "concepts"):
        longfact = read_prompts(data / f"longfact/longfact_{name}.jsonl").prompts
        assert len(longfact) == 1140
        assert all(prompt.canary and prompt.topic is None and prompt.problem is None for prompt in longfact)
    bios = read_prompts(data / "factscore_bios/ChatGPT.jsonl").prompts
    entities = read_prompts(data / "factscore_bios/prompt_entities.txt", entities=True).prompts
    assert {prompt.text for prompt in entities} == {prompt.text for prompt in bios}
    bench, repeated = read_prompts(data / "fastfact_bench/fastfact-bench_for_eval.jsonl")
    assert (len(bench), repeated) == (65, 195)
    assert read_prompts(data / "veriscore/data_sample.jsonl").prompts[0].source == "ShareGPT"
    lfqa, repeated = read_prompts(data / "lfqa_prompts/lfqa_questions.jsonl")
    assert len(lfqa) + repeated == 140
    assert not any("<br" in prompt.text or prompt.problem for prompt in lfqa)
