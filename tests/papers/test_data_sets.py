"""Data sets of the papers: a row of each becomes ours, a file of another is refused, and the public files have their counts."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from localfact.cli.main import app
from localfact.errors import InputError, RunFolderError
from localfact.inputs.prompts import read_prompts
from localfact.inputs.responses import read_responses
from localfact.papers.data_set_rows import CONVERTERS
from localfact.papers.data_sets import DATA_SETS, build_data_set, check_data_set
from localfact.vocabulary import GoldLabel

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
#: Data set -> a row of it, as its file has it.
ROWS: dict[str, dict[str, Any]] = {
    "biographies": {
        "input": "Question: Tell me a bio of Ada Morel.",
        "topic": "Ada Morel",
        "output": "Ada Morel is a painter. She was born in 1901.",
        "annotations": [
            {"text": "...", "human-atomic-facts": [{"text": "She paints.", "label": "S"}, {"text": "Hm.", "label": "IR"}]},
            {"text": "...", "human-atomic-facts": None},
            {"text": "...", "human-atomic-facts": [{"text": "She was born in 1901.", "label": "NS"}]},
        ],
    },
    "atoms": {
        "input": "Who?",
        "output": "Ada paints. She is old.",
        "atoms": [
            {"id": "a0", "text": "Ada paints.", "label": "S", "contexts": ["c0"]},
            {"id": "a1", "text": "Ada is old.", "label": "NS", "contexts": []},
        ],
        "contexts": [{"id": "c0", "title": "Ada", "text": "", "snippet": "Ada paints.", "link": "https://a.example"}],
    },
    "fastfact-bench": {"question": "Why?", "response": "Because.", "prompt_source": "x", "model": "m"},
    "factbench": {
        "prompt": "Why?",
        "response": "A. B. C.",
        "source": "felm",
        "claims": ["A.", "B.", "C."],
        "claim_labels": [True, False, "unknown"],
    },
    "felm": {
        "domain": "wk",
        "prompt": "Why?",
        "response": "A. B.",
        "segmented_response": ["A.", "B."],
        "labels": [True, False],
    },
    "expertqa": {
        "question": "Why?",
        "answers": {
            "gpt": {
                "answer_string": "A. B. C.",
                "claims": [
                    {"claim_string": "A.", "evidence": ["[1] https://a.example A it is."], "correctness": "Definitely correct"},
                    {"claim_string": "B.", "evidence": [], "correctness": "Probably incorrect"},
                    {"claim_string": "C.", "evidence": ["C."], "correctness": "Unsure"},
                ],
            }
        },
    },
    "conflicts": {
        "question": "Where did Ada study?",
        "default_claim": "Ada studied in Lyon.",
        "default_evidence": "Ada studied in Lyon.",
        "misinformation_conflict_evidence_evidence": "Ada studied in Paris.",
    },
    "wikicontradict": {
        "question": "How many?",
        "context1": "There are two.",
        "context2": "There are three.",
        "answer1_self_contained": "There are two.",
        "answer2_self_contained": "There are three.",
    },
    "conflict-nq": {
        "cleaned_question": "Who?",
        "real_answer": "It was Ada.",
        "fake_answer": "It was Eve.",
        "real_passages": [{"passage": "Ada did."}],
        "fake_passages": [{"passage": "Eve did."}, {"passage": "Eve."}],
    },
    "averitec": {
        "claim": "Ada won.",
        "label": "Refuted",
        "questions": [
            {"question": "Who won?", "answers": [{"answer": "Eve.", "source_url": "https://a.example"}, {"answer": ""}]}
        ],
    },
    "conformal": {
        "prompt": "Who won? ",
        "claims": [{"subclaim": "Ada won.", "annotation": "Y"}, {"subclaim": "She is great.", "annotation": "S"}],
    },
    "wice": {
        "claim": "Ada won.",
        "label": "partially_supported",
        "evidence": ["Ada ran.", "She won."],
        "meta": {"claim_title": "Ada"},
    },
    "askhistorians": {"domain": "History_SASQ", "question_text": "Why<br />then?"},
    "eli5": {"domain": "Physics", "question_text": "Why<br/> now?"},
    "freshbooks": {"paragraph": "It was a dark night."},
    "longfact-objects": {"prompt": "What is a lamp?", "topic": "lamps", "canary": "NEVER"},
}
#: (data set, file) -> our rows, claims, supported, not supported.
PUBLIC = {
    ("biographies", "factscore_bios/ChatGPT.jsonl"): (101, 3134, 1998, 1136),
    ("atoms", "flaherty/flaherty_wikipedia.json"): (1, 26, 7, 19),
    ("atoms", "openfactcheck/responses.jsonl"): (162, 468, 341, 127),
    ("fastfact-bench", "fastfact_bench/fastfact-bench_for_eval.jsonl"): (260, 0, 0, 0),
    ("factbench", "factcheck_gpt/Factbench_claims.jsonl"): (229, 967, 686, 241),
    ("felm", "felm/felm_all.jsonl"): (306, 1816, 1483, 333),
    ("expertqa", "expertqa/expertqa_answers.jsonl.gz"): (315, 1890, 1597, 101),
    ("wikicontradict", "wikicontradict/wiki_contradict_refined.jsonl"): (151, 302, 0, 0),
    ("conflict-nq", "conflict_nq/conflict_nq_val.jsonl"): (155, 310, 155, 155),
    ("askhistorians", "lfqa_prompts/lfqa_questions.jsonl"): (20, 0, 0, 0),
    ("eli5", "lfqa_prompts/lfqa_questions.jsonl"): (120, 0, 0, 0),
    ("longfact-objects", "longfact/longfact_objects.jsonl"): (380, 0, 0, 0),
}


def file_of(folder: Path, *rows: object) -> Path:
    file = folder / "data.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.mark.parametrize("name", DATA_SETS)
def test_a_row_of_each_becomes_one_that_eval_or_generate_reads(name: str, tmp_path: Path) -> None:
    data_set, file = DATA_SETS[name], file_of(tmp_path, ROWS[name], "no object", {"something": "else"})
    built = build_data_set(name, file, tmp_path / "ours.jsonl")
    assert (built.rows, built.made, sum(built.unusable.values())) == (3, 1, 2)
    if data_set.kind == "prompts":
        (prompt,) = read_prompts(tmp_path / "ours.jsonl").prompts
        assert prompt.problem is None
        assert "NEVER" not in (tmp_path / "ours.jsonl").read_text()
        return
    (response,) = read_responses(tmp_path / "ours.jsonl")
    assert response.problem is None
    claims = response.claims or ()
    golds = [claim.gold for claim in claims]
    assert len(claims) == built.claims
    assert golds.count(GoldLabel.SUPPORTED) == built.supported
    assert golds.count(GoldLabel.NOT_SUPPORTED) == built.not_supported
    assert (len(response.evidence.passages) if response.evidence else 0) == built.passages


@pytest.mark.parametrize(
    ("name", "labels", "passages"),
    [
        ("biographies", ["S", "NS"], [0, 0]),
        ("atoms", ["S", "NS"], [1, 0]),
        ("factbench", ["S", "NS", None], [0, 0, 0]),
        ("expertqa", ["S", "NS", None], [1, 0, 1]),
        ("conflicts", ["S"], [2]),
        ("wikicontradict", [None, None], [2, 2]),
        ("conflict-nq", ["S", "NS"], [3, 3]),
        ("averitec", ["NS"], [1]),
        ("conformal", ["S", None], [0, 0]),
        ("wice", ["NS"], [1]),
    ],
)
def test_labels_and_passages_are_those_of_the_set(name: str, labels: list[str | None], passages: list[int]) -> None:
    (row,) = CONVERTERS[name](ROWS[name])
    assert [claim.get("label") for claim in row["claims"]] == labels
    assert [len(claim.get("passages", ())) for claim in row["claims"]] == passages


def test_of_each_topic_as_many_prompts_are_drawn_as_the_paper_has_and_always_the_same(tmp_path: Path) -> None:
    rows = [{"prompt": f"What is {topic} {number}?", "topic": topic} for topic in ("a", "b") for number in range(30)]
    build_data_set("longfact-objects", file_of(tmp_path, *rows), tmp_path / "one.jsonl")
    build_data_set("longfact-objects", file_of(tmp_path, *rows), tmp_path / "two.jsonl")
    drawn = [json.loads(line) for line in (tmp_path / "one.jsonl").read_text().splitlines()]
    assert [row["topic"] for row in drawn] == ["a"] * 10 + ["b"] * 10
    assert (tmp_path / "one.jsonl").read_text() == (tmp_path / "two.jsonl").read_text()


def test_conflicts_are_drawn_by_seed_and_every_set_is_held_against_the_papers_size(tmp_path: Path) -> None:
    def rows(count: int) -> Path:
        claims = [f"Mill {at} is in Aston." for at in range(count)]
        same = {"misinformation_conflict_evidence": "No."}
        made = [{"default_claim": one, "default_evidence": f"{one} Yes.", **same} for one in claims]
        return file_of(tmp_path, *made)

    whole = build_data_set("conflicts", rows(1_003), tmp_path / "zero.jsonl")
    assert (whole.rows, whole.made, whole.size) == (1_003, 1_000, "the paper's (FactReasoner, Table 2)")
    build_data_set("conflicts", rows(1_003), tmp_path / "zero-again.jsonl")
    build_data_set("conflicts", rows(1_003), tmp_path / "one.jsonl", seed=1)
    zero, again, one = ((tmp_path / f"{name}.jsonl").read_text() for name in ("zero", "zero-again", "one"))
    assert zero == again != one
    assert check_data_set("conflicts", rows(3)).size == "not the paper's (FactReasoner, Table 2): 3 rows, not 1,000"
    sizes = {name: one.size.rows for name, one in DATA_SETS.items() if one.size is not None}
    assert {sizes[name] for name in ("askhistorians", "eli5", "freshbooks")} == {200}
    assert (sizes["biographies"], sizes["longfact-objects"], sizes["fastfact-bench"]) == (157, 380, 400)


def test_a_file_of_another_set_is_refused_with_what_it_lacks_and_where_the_right_one_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no row of felm \(1 with no domain\).*hkust-nlp/felm"):
        check_data_set("felm", file_of(tmp_path, ROWS["expertqa"]))
    with pytest.raises(InputError, match="1 with fields of another kind"):
        check_data_set("felm", file_of(tmp_path, ROWS["felm"] | {"labels": 5}))
    with pytest.raises(InputError, match=r"no data set 'felmo'\. There are: biographies"):
        check_data_set("felmo", tmp_path)
    with pytest.raises(InputError, match="no file"):
        check_data_set("felm", tmp_path / "missing.jsonl")


def test_a_set_that_comes_as_a_folder_takes_its_topics_from_the_names_of_its_files(tmp_path: Path) -> None:
    """As LongFact and lfqa_eval are had."""
    (tmp_path / "longfact").mkdir()
    for topic in ("lamps", "mills"):
        rows = [{"prompt": f"What is {topic} {number}?", "canary": "NEVER"} for number in range(30)]
        (tmp_path / f"longfact/{topic}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert check_data_set("longfact-objects", tmp_path / "longfact").made == 20
    (tmp_path / "lfqa").mkdir()
    (tmp_path / "lfqa/History_SASQ.csv").write_text("q_id,question_text\na,Why then?\n")
    (tmp_path / "lfqa/Physics.csv").write_text("q_id,question_text\nb,Why now?\nc,How?\n")
    assert [check_data_set(name, tmp_path / "lfqa").made for name in ("askhistorians", "eli5")] == [1, 2]
    with pytest.raises(InputError, match="is a folder"):
        check_data_set("felm", tmp_path / "lfqa")


@pytest.mark.parametrize(
    ("name", "row", "why"),
    [
        ("longfact-objects", {"prompt": 5, "topic": "a"}, "no prompt"),
        ("longfact-objects", {"prompt": "What?", "topic": ["a"]}, "a topic that is no text"),
        ("fastfact-bench", {"question": "Why?", "response": {"a": 1}}, "no response"),
        ("freshbooks", {"text": ["a"]}, "no prompt"),
        ("wice", ROWS["wice"] | {"evidence": "Ada won."}, "fields of another kind"),
    ],
)
def test_a_row_that_eval_or_generate_could_not_use_is_counted_and_not_made(
    name: str, row: dict[str, Any], why: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=why):
        check_data_set(name, file_of(tmp_path, row))


def test_a_prompt_with_half_a_character_is_drawn_like_any_other(tmp_path: Path) -> None:
    assert check_data_set("longfact-objects", file_of(tmp_path, {"prompt": "What is \ud800?", "topic": "a"})).made == 1


def test_an_output_of_another_file_is_not_overwritten(tmp_path: Path) -> None:
    build_data_set("felm", file_of(tmp_path, ROWS["felm"]), tmp_path / "ours.jsonl")
    other = file_of(tmp_path, ROWS["felm"], ROWS["felm"])
    with pytest.raises(RunFolderError):
        build_data_set("felm", other, tmp_path / "ours.jsonl")
    assert build_data_set("felm", other, tmp_path / "ours.jsonl", force=True).made == 2


def test_the_commands_list_check_and_build(tmp_path: Path) -> None:
    file = str(file_of(tmp_path, ROWS["felm"]))
    listed = CliRunner().invoke(app, ["papers", "list", "--json"])
    assert [row["data set"] for row in json.loads(listed.stdout)] == list(DATA_SETS)
    assert all(row["licence"] and row["from"] for row in json.loads(listed.stdout))
    assert "licence: CC BY 4.0" in CliRunner().invoke(app, ["papers", "list"]).stdout
    checked = CliRunner().invoke(app, ["papers", "check", "felm", file, "--json"])
    assert json.loads(checked.stdout)["claims"] == 2
    out = tmp_path / "ours.jsonl"
    built = CliRunner().invoke(app, ["papers", "build", "data", "felm", file, "--out", str(out), "--json"])
    assert json.loads(built.stdout)["out"] == str(out)
    assert len(out.read_text().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the public data are not here")
@pytest.mark.parametrize(("where", "counts"), PUBLIC.items(), ids=["-".join(where) for where in PUBLIC])
def test_the_public_files_have_their_counts(where: tuple[str, str], counts: tuple[int, ...], tmp_path: Path) -> None:
    name, path = where
    file = DATA / path
    if file.suffix == ".gz":
        file = tmp_path / "data.jsonl"
        file.write_bytes(gzip.decompress((DATA / path).read_bytes()))
    found = check_data_set(name, file)
    assert (found.made, found.claims, found.supported, found.not_supported) == counts
