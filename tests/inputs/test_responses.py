import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.api.evaluate import prepare
from localfact.api.sample import sample_corpus
from localfact.assembling import gold_counts
from localfact.errors import InputError
from localfact.inputs.answers import find_answer
from localfact.inputs.prompts import prompt_of
from localfact.inputs.responses import MAX_WORDS, read_response_file, read_responses, response_of, responses_of
from localfact.methods.options import Options
from localfact.records import Extraction, PreVerification, Sample, Span
from localfact.vocabulary import GoldLabel, PreVerificationLabel


def written(folder: Path, *rows: object, name: str = "data.jsonl") -> Path:
    file = folder / name
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("sample", "read"),
    [
        ({"id": "", "epoch": 2}, None),
        ({"epoch": 2}, None),
        ({"id": 7, "epoch": True}, Sample(id="7")),
        ({"id": "a", "epoch": 2}, Sample(id="a", epoch=2)),
    ],
)
def test_a_row_is_a_sample_of_a_log_where_it_says_which(sample: object, read: Sample | None) -> None:
    assert response_of({"response": "It opened.", "sample": sample}, 1).sample == read


def test_our_own_schema_is_read_whole(tmp_path: Path) -> None:
    row = {
        "id": "harbour",
        "prompt": "Tell me about the harbour.",
        "topic": "the harbour",
        "model": "m",
        "source": "towns",
        "response": "The harbour opened in 1901. It is deep.",
        "claims": [
            {"id": "a", "text": "The harbour opened in 1901.", "label": "S", "in_corpus": True, "quote": "opened in 1901"},
            {"text": "The harbour is deep.", "label": "NS"},
        ],
    }
    (response,) = read_responses(written(tmp_path, row))
    assert (response.id, response.prompt, response.topic, response.model, response.source) == (
        "harbour",
        "Tell me about the harbour.",
        "the harbour",
        "m",
        "towns",
    )
    assert response.claims is not None
    assert [claim.id for claim in response.claims] == ["a", "c2"]
    assert [claim.gold for claim in response.claims] == [GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED]
    assert response.claims[0].spans == (Span(start=12, end=26),)
    assert response.claims[0].in_corpus is True
    assert response.claims[1].spans == ()
    assert response.evidence is None


def test_factscore_rows_give_their_human_facts_as_claims(tmp_path: Path) -> None:
    row = {
        "input": "Question: Tell me a bio of A. Person.",
        "output": "A. Person paints. She is tall.",
        "topic": "A. Person",
        "annotations": [
            {"text": "A. Person paints.", "human-atomic-facts": [{"text": "A. Person is a painter.", "label": "S"}]},
            {
                "text": "She is tall.",
                "human-atomic-facts": [{"text": "A. Person is tall.", "label": "NS"}, {"text": "x", "label": "IR"}],
            },
            {"text": "She is tall.", "human-atomic-facts": None},
        ],
    }
    (response,) = read_responses(written(tmp_path, row))
    assert response.claims is not None
    assert [claim.gold for claim in response.claims] == [GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED, GoldLabel.IRRELEVANT]
    assert response.claims[1].spans == (Span(start=18, end=30),)


def test_a_factscore_row_whose_model_abstained_gives_no_claims(tmp_path: Path) -> None:
    (response,) = read_responses(
        written(tmp_path, {"input": "q", "output": "I do not know.", "topic": "t", "annotations": None})
    )
    assert response.claims is None


def test_veriscore_and_fastfact_rows_are_read_and_equal_ids_told_apart(tmp_path: Path) -> None:
    rows = [
        {"question_id": "q1", "question": "Why?", "prompt_source": "s", "model": model, "response": f"By {model}."}
        for model in "ab"
    ]
    first, second = read_responses(written(tmp_path, *rows))
    assert (first.id, second.id) == ("q1", "q1#2")
    assert (first.prompt, first.source, second.model) == ("Why?", "s", "b")


def ibm_row() -> dict[str, object]:
    return {
        "input": "Question: Who?",
        "output": "One. Two.",
        "topic": "T",
        "atoms": [
            {"id": "a0", "text": "One.", "label": "S", "contexts": ["c0", "c1", "c2"]},
            {"id": "a1", "text": "Two.", "label": "NS", "contexts": ["c1", "c9"]},
            {"id": "a2", "text": "Three.", "contexts": []},
        ],
        "contexts": [
            {"id": "c0", "title": "A", "text": "same text", "link": "https://Host.example/a"},
            {"id": "c1", "title": "B", "text": "", "snippet": "only a snippet"},
            {"id": "c2", "title": "C", "text": "same text"},
            {"id": "c3", "title": "D", "text": "", "snippet": ""},
        ],
    }


def test_ibm_rows_give_claims_passages_and_links_in_one_json_object(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(json.dumps(ibm_row(), indent=2), encoding="utf-8")
    (response,) = read_responses(file)
    evidence = response.evidence
    assert evidence is not None
    assert [passage.text for passage in evidence.passages] == ["same text", "only a snippet"]
    assert evidence.passages[0].host == "host.example"
    same, snippet = (passage.id for passage in evidence.passages)
    assert [hit.passage_id for hit in evidence.hits["a0"]] == [same, snippet, same]
    assert [hit.rank for hit in evidence.hits["a0"]] == [1, 2, 3]
    assert [hit.passage_id for hit in evidence.hits["a1"]] == [snippet]
    assert evidence.hits["a2"] == ()
    assert any("c9" in note for note in evidence.notes)
    assert any(note.startswith("1 of the given passages") for note in evidence.notes)


def test_bad_rows_are_carried_with_their_problem_and_stop_nobody(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"response": "Good."},
        "{not json",
        {"prompt": "no response here"},
        "[1, 2]",
        {"response": 7},
        {"response": "x", "claims": [{"label": "S"}]},
        {"response": "x", "claims": [{"text": "y", "label": "perhaps"}]},
        {"response": "x", "claims": [{"id": "a", "text": "y"}, {"id": "a", "text": "z"}]},
        {"response": "x", "passages": 5},
        {"response": "x", "claims": [{"text": "y", "passages": 5}]},
        {"response": "x", "annotations": [{"human-atomic-facts": 5}]},
        {"response": "x", "passages": [{"id": "p", "text": "one"}, {"id": "p", "text": "two"}]},
        {"response": "x", "claims": [{"text": " "}]},
        '{"response": ' + "9" * 5000 + "}",
        {"response": "0123456789abcdef" * 99},
        {"response": "Also good."},
    )
    responses = read_responses(file)
    assert [response.problem is None for response in responses] == [True] + [False] * 14 + [True]
    problems = [response.problem or "" for response in responses]
    assert "not JSON" in problems[1]
    assert "no response" in problems[2]
    assert "'perhaps'" in problems[6]
    assert "encoded data" in problems[14]
    assert "two claims" in problems[7].lower()


def test_json_lines_may_begin_with_a_line_that_is_no_object(tmp_path: Path) -> None:
    first, second = read_responses(written(tmp_path, "[1, 2]", {"response": "fine"}))
    assert (first.problem is None, second.problem is None) == (False, True)


def test_ids_are_made_unique_even_against_ids_that_look_made(tmp_path: Path) -> None:
    file = written(tmp_path, *({"id": name, "response": "x"} for name in ("a", "a", "a#2", 0)))
    assert [response.id for response in read_responses(file)] == ["a", "a#2", "a#2#2", "0"]


def test_odd_characters_in_ids_are_replaced(tmp_path: Path) -> None:
    (response,) = read_responses(
        written(tmp_path, {"id": "\x1b", "response": "x", "claims": [{"text": "y", "passages": ["\ud800"]}], "passages": []})
    )
    assert response.id == "\ufffd"
    assert response.evidence is not None
    response.evidence.model_dump_json()


@pytest.mark.parametrize("content", ["", " \n\n", "\ufeff", "[]"])
def test_an_empty_file_is_an_error_that_says_what_belongs_in_it(tmp_path: Path, content: str) -> None:
    file = tmp_path / "empty.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"is (an )?empty"):
        read_responses(file)


def test_a_missing_file_an_empty_folder_and_what_is_no_text_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        read_responses(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="no text file"):
        read_responses(tmp_path)
    prose = tmp_path / "prose.json"
    prose.write_text("Just a text.\nIn two lines.\n", encoding="utf-8")
    with pytest.raises(InputError, match="not JSON"):
        read_responses(prose)
    (tmp_path / "rows.csv").write_bytes(b"PK\x03\x04 a workbook under another name")
    with pytest.raises(InputError, match="Excel workbook, which is not read: save the sheet as CSV"):
        read_responses(tmp_path / "rows.csv")


def test_a_response_above_the_limit_is_refused_with_the_option_that_raises_it() -> None:
    text = "word " * (MAX_WORDS + 1)
    refused = response_of({"response": text}, 1)
    assert refused.problem is not None
    assert f"--max-words {MAX_WORDS + 1}" in refused.problem
    assert response_of({"response": text}, 1, max_words=MAX_WORDS + 1).problem is None


def test_nul_and_lone_surrogates_are_replaced_one_for_one() -> None:
    response = response_of({"response": "a\0b\ud800c", "topic": "t\udc00"}, 1)
    assert response.text == "a\ufffdb\ufffdc"
    assert response.topic == "t\ufffd"


def test_bytes_that_are_not_utf8_spoil_only_characters(tmp_path: Path) -> None:
    file = tmp_path / "latin.jsonl"
    file.write_bytes(b'{"response": "caf\xe9 is open"}\n{"response": "fine"}\n')
    (first, second), (warning,) = read_response_file(file)
    assert first.text == "caf\ufffd is open"
    assert second.text == "fine"
    assert "is not UTF-8 throughout: 1 bytes" in warning
    assert prepare(file, options=Options(embedder="none", corpus=sample_corpus())).warnings == (warning,)
    assert read_response_file(written(tmp_path, {"response": "café � 玛丽"})).warnings == ()


def test_the_limit_takes_the_first_rows(tmp_path: Path) -> None:
    file = written(tmp_path, *({"response": str(number)} for number in range(5)))
    assert [response.text for response in read_responses(file, limit=2)] == ["0", "1"]


def test_a_claim_keeps_the_places_and_the_preverification_that_an_extractor_wrote() -> None:
    claim = {
        "text": "It opened.",
        "quote": "opened",
        "spans": [[0, 10], [11, 21]],
        "preverification": {
            "label": "likely supported",
            "confidence": 0.75,
            "distribution": {"likely supported": 0.9, "unsure": 0.1},
            "mass": 0.8,
        },
    }
    response = response_of({"response": "It opened. It opened.", "claims": [claim, {"text": "a", "spans": []}]}, 1)
    assert response.claims is not None
    assert response.claims[0].spans == (Span(start=0, end=10), Span(start=11, end=21))
    assert response.claims[0].preverification == PreVerification(
        label=PreVerificationLabel.LIKELY_SUPPORTED,
        confidence=0.75,
        distribution={PreVerificationLabel.LIKELY_SUPPORTED: 0.9, PreVerificationLabel.UNSURE: 0.1},
        mass=0.8,
    )
    assert (response.claims[1].spans, response.claims[1].preverification) == ((), None)


def test_a_claim_keeps_the_wording_it_had_before_it_was_revised_and_is_found_by_it() -> None:
    revised = {"text": "The bridge opened.", "original": "It opened."}
    same, odd = {"text": "It opened.", "original": "It opened."}, {"text": "It opened.", "original": 7}
    response = response_of({"response": "So. It opened.", "claims": [revised, same, odd]}, 1)
    assert response.claims is not None
    assert [claim.original for claim in response.claims] == ["It opened.", None, None]
    assert response.claims[0].spans == (Span(start=4, end=14),)


def test_what_an_extractor_said_beside_its_claims_is_kept_and_anything_else_of_that_name_is_refused() -> None:
    row = {"response": "It opened.", "claims": ["It opened."]}
    said = {"unparsed": ["Sure!"], "counts": {"chunks": 1}, "dropped": {}, "warnings": [], "usage": {"extract": {"calls": 1}}}
    response = response_of({**row, "extraction": said}, 1)
    costs = {"earlier_calls": 1, "earlier_prompt_tokens": 0, "earlier_output_tokens": 0}
    assert response.extraction == Extraction(unparsed=("Sure!",), counts={"chunks": 1, **costs})
    assert response_of({**row, "extraction": {"usage": {"extract": {"calls": "many"}}}}, 1).extraction == Extraction()
    assert response_of({**row, "extraction": "by hand"}, 1).extraction is None
    problem = response_of({**row, "extraction": {"unparsed": [7]}}, 1).problem
    assert problem == "'extraction' is not what `localfact extract` writes, at 'unparsed.0'."


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"spans": [[0, 6]]}, "Claim 1 has the span [0, 6]; a span is [start, end] in the response, 0 to 5."),
        ({"spans": [[3, 2]]}, "the span [3, 2]"),
        ({"spans": [[-1, 2]]}, "the span [-1, 2]"),
        ({"spans": [[True, 2]]}, "the span [True, 2]"),
        ({"spans": [[1.0, 2]]}, "the span [1.0, 2]"),
        ({"spans": [[1]]}, "the span [1]"),
        ({"spans": "0-5"}, "The spans of claim 1 must be a list."),
        ({"preverification": {"label": "maybe", "confidence": 1}}, "The preverification of claim 1 cannot be used: label"),
        ({"preverification": {"label": "unsure", "confidence": 1.1}}, "confidence"),
        ({"preverification": {"label": "unsure"}}, "confidence: Field required"),
        ({"preverification": "unsure"}, "The preverification of claim 1 cannot be used"),
        ({"preverification": {"label": "unsure", "confidence": 1, "mood": 1}}, "mood"),
    ],
)
def test_a_bad_span_or_preverification_is_a_problem_of_the_row(part: dict[str, object], said: str) -> None:
    response = response_of({"response": "Five.", "claims": [{"text": "Five."} | part]}, 1)
    assert response.problem is not None
    assert said in response.problem


def test_the_annotation_beside_the_claims_gives_the_gold_counts() -> None:
    row = {
        "response": "One. Two.",
        "claims": [{"text": "One."}],
        "annotation": [{"text": "One.", "label": "S"}, {"text": "Two.", "label": "NS"}, {"text": "x", "label": "IR"}],
    }
    response = response_of(row, 1)
    assert gold_counts(response) == (1, 1)
    assert gold_counts(response_of({**row, "annotation": None}, 1)) == (None, None)
    assert [claim.gold for claim in response.claims or ()] == [None]
    assert response_of({**row, "annotation": [{"text": "x", "label": "?"}]}, 1).problem is not None


def test_a_row_that_an_earlier_pass_could_not_make_fails_with_that_reason() -> None:
    with_text = response_of({"id": "a", "response": "Text.", "error_message": "the prompt is too long"}, 1)
    assert (with_text.id, with_text.text, with_text.problem) == ("a", "Text.", "the prompt is too long")
    assert response_of({"error_message": "no prompt"}, 1).problem == "no prompt"


def test_a_passage_may_have_many_links() -> None:
    passage = {"text": "p", "links": ["pages/one", "https://Host.example/a", "pages/one"]}
    response = response_of({"response": "x", "passages": [passage]}, 1)
    assert response.evidence is not None
    assert response.evidence.passages[0].links == ("pages/one", "https://Host.example/a")
    assert response.evidence.passages[0].host == "host.example"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=8), children, max_size=4),
    max_leaves=12,
)
row_keys = st.sampled_from(
    [
        "response",
        "output",
        "claims",
        "atoms",
        "contexts",
        "passages",
        "annotations",
        "annotation",
        "error_message",
        "id",
        "topic",
        "messages",
        "retrieved_contexts",
        "choices",
        "body",
    ]
)
claim_keys = st.sampled_from(["text", "id", "label", "spans", "preverification", "links", "role", "content", "message"])


@pytest.mark.slow
@given(st.dictionaries(row_keys, json_values | st.lists(st.dictionaries(claim_keys, json_values))))
def test_no_row_however_odd_raises(row: dict[str, object]) -> None:
    response = response_of(row, 1)
    assert response.problem is not None or isinstance(find_answer(row).text, str)


def test_the_public_data_sets_are_read_unchanged(shared: Path) -> None:
    (flaherty,) = read_responses(shared / "data/flaherty/flaherty_wikipedia.json")
    assert flaherty.claims is not None
    assert flaherty.evidence is not None
    labels = [claim.gold for claim in flaherty.claims]
    assert (labels.count(GoldLabel.SUPPORTED), labels.count(GoldLabel.NOT_SUPPORTED)) == (7, 19)
    assert len(flaherty.evidence.passages) == 21
    assert sum(not hits for hits in flaherty.evidence.hits.values()) == 4
    (google,) = read_responses(shared / "data/flaherty/flaherty_google.json")
    assert google.evidence is not None
    assert all(passage.text for passage in google.evidence.passages)
    bios = read_responses(shared / "data/factscore_bios/ChatGPT.jsonl")
    facts = [claim.gold for bio in bios for claim in bio.claims or ()]
    assert (facts.count(GoldLabel.SUPPORTED), facts.count(GoldLabel.NOT_SUPPORTED)) == (1998, 1136)
    bench = read_responses(shared / "data/fastfact_bench/fastfact-bench_for_eval.jsonl")
    assert len(bench) == len({response.id for response in bench}) == 260
    assert all(response.problem is None for response in bench)
    assert read_responses(shared / "data/veriscore/data_sample.jsonl")[0].source == "ShareGPT"


def test_what_a_snippet_shows_and_its_text_lacks_stands_before_the_text(tmp_path: Path) -> None:
    passage = {"text": "The harbour is  deep.", "snippet": "Opened in 1901 ... the harbour is deep …"}
    ours, published = (
        written(tmp_path, {"response": "r", name: [passage]}, name=f"{name}.jsonl") for name in ("passages", "contexts")
    )
    (response,) = read_responses(ours)
    assert response.evidence is not None
    assert [one.text for one in response.evidence.passages] == ["Opened in 1901\n\nThe harbour is  deep."]
    (response,) = read_responses(published)
    assert response.evidence is not None
    assert [one.text for one in response.evidence.passages] == ["The harbour is  deep."]


def test_the_ids_that_an_earlier_pass_made_of_a_repeated_one_are_not_given_either() -> None:
    rows = [{"id": name, "response": "Ice floats."} for name in ("x", "x#2", "y#1", "y#2", "z")]
    assert [response.id_given for response in responses_of(rows)] == [False, False, True, True, True]


@pytest.mark.parametrize(("said", "named"), [("", "row-3"), (" \t", "row-3"), (None, "row-3"), (0, "0"), (" a ", " a ")])
def test_a_blank_id_is_none(said: object, named: str) -> None:
    read = response_of({"id": said, "response": "Ice."}, 3)
    assert (read.id, read.id_given) == (named, named != "row-3")
    assert prompt_of({"id": said, "prompt": "What is ice?"}, 3).id == named
