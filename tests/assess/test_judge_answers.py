"""Reading a judge's answer: the label at its place, whatever stands around it, and nothing where there is none."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.assess.judges.answers import (
    THREE_WAYS,
    Factuality,
    factuality_told,
    read_bracketed,
    read_factual,
    read_factuality,
    read_hashed,
    read_rating,
)

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
PUBLISHED = pytest.mark.skipif(not DATA.is_dir(), reason="the public data are not here")
#: How IBM's outputs write predictions.
LETTERS = {"Supported": "S", "Contradicted": "C", "Undecided": "U"}


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("The answer is [Supported].", "Supported"),
        ("It is not [Supported], as the first says otherwise.\n\n**Final answer:** [contradicted]", "Contradicted"),
        ("[ **Undecided** ]", "Undecided"),
        ("[Inconclusive]", "Undecided"),
        ("Supported", None),
        ("[Perhaps]", None),
        ("", None),
        ("<think>[Supported]", None),
        ("<think>[Supported]</think>[Contradicted]", "Contradicted"),
        ("[[Supported]]", "Supported"),
        ("[_Supported_]", "Supported"),
        ("[" + "_" * 50_000, None),
        ("[Supported" + "[" * 10_000, None),
    ],
)
def test_the_last_label_in_brackets_counts(answer: str, label: str | None) -> None:
    assert read_bracketed(answer) == label


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("###Supported### Both say so.", "Supported"),
        ("## contradicted ##", "Contradicted"),
        ("###Supported### at first, then ###Undecided###", "Undecided"),
        ("### Supported", None),
        ("#Supported#", None),
        ("#" * 20_000, None),
        ("##" + "_" * 50_000, None),
        ("###_Supported_###", "Supported"),
    ],
)
def test_the_last_label_in_hashes_counts(answer: str, label: str | None) -> None:
    assert read_hashed(answer) == label


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("[Supported]", "Supported"),
        ("[Supported] no: [Not Supported]", "Unsupported"),
        ("[unsupported]", "Unsupported"),
        ("No", None),
    ],
)
def test_safes_rating_has_two_ways(answer: str, label: str | None) -> None:
    assert read_rating(answer) == label


def test_factools_fields_are_read_as_json_and_as_models_write_them() -> None:
    fields = {"reasoning": 'It says "no", twice.', "error": "The year.", "correction": "It was 1911.", "factuality": False}
    whole = read_factuality(json.dumps(fields))
    assert (whole.factual, whole.error, whole.correction) == (False, "The year.", "It was 1911.")
    assert read_factual(json.dumps(fields)) == "False"
    python = read_factuality("{'reasoning': 'It agrees.', 'error': 'None', 'correction': 'None', 'factuality': True")
    assert python == Factuality(True, "It agrees.", "None", "None")
    assert read_factuality('Here: {"factuality": "true"}').factual is True
    assert read_factuality('{"reasoning": "cut in the mid') == Factuality(None, "cut in the mid")
    assert read_factual("The factuality is open.") is None
    assert factuality_told(json.dumps(fields)) == 'It says \\"no\\", twice.\nError: The year.\nCorrection: It was 1911.'
    assert factuality_told('{"factuality": true}') == '{"factuality": true}'


@given(
    st.text()
    | st.lists(st.sampled_from(["[", "]", "#", "###", *THREE_WAYS, '"', "factuality", ":", "true", "\\", " "])).map("".join)
)
def test_any_text_can_be_read(answer: str) -> None:
    assert read_bracketed(answer) in (None, *THREE_WAYS)
    assert read_hashed(answer) in (None, *THREE_WAYS)
    assert read_factuality(answer).factual in (None, True, False)


@PUBLISHED
@pytest.mark.parametrize(
    ("file", "read"),
    # By their prompts, the files of FactVerify and VeriScore look swapped.
    [("factverify", read_hashed), ("veriscore", read_bracketed)],
)
def test_the_published_answers_give_the_printed_predictions(file: str, read) -> None:
    results = json.loads((DATA / "flaherty" / f"{file}_output.json").read_text())["results"]
    assert len(results["raw_outputs"]) == len(results["predictions"]) >= 19
    assert {name: LETTERS[read(answer) or ""] for name, answer in results["raw_outputs"].items()} == results["predictions"]


@PUBLISHED
def test_of_the_published_answers_of_factool_nearly_all_are_read() -> None:
    rows = map(json.loads, (DATA / "openfactcheck" / "systems.jsonl").read_text().splitlines())
    answers = [row["llama3_verifier_raw"] for row in rows if row.get("llama3_verifier_raw")]
    unread = [answer for answer in answers if read_factuality(answer).factual is None]
    assert (len(answers), len(unread)) == (467, 15)
    assert not any('"factuality":' in answer for answer in unread)  # cut before it, or no answer at all
