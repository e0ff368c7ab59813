import csv
import io

from localfact.records import Assessment, Claim, CountedPassage, Passage, Sample, Span, Verdict
from localfact.report.claim_rows import COLUMNS, claim_rows, claims_table
from localfact.report.formats import csv_text, markdown
from localfact.vocabulary import Flag, GoldLabel, RelationLabel, VerdictLabel

PASSAGE = Passage(id="p", text="Ice is cold. Ice floats on water.", links=("https://ice.example/",))
JUDGED = Assessment(
    index=0,
    response_id="ice",
    status="scored",
    claims=(Claim(id="c1", text="Ice floats.", gold=GoldLabel.SUPPORTED), Claim(id="c2", text="=1+1 is ice.")),
    verdicts=(
        Verdict(
            claim_id="c1",
            label=VerdictLabel.SUPPORTED,
            posterior=0.9,
            passages=(
                CountedPassage(
                    passage_id="p", relation=RelationLabel.ENTAILMENT, probability=0.8, sentence=Span(start=13, end=33)
                ),
            ),
            flags=(Flag.SINGLE_SOURCE,),
        ),
        Verdict(claim_id="c2", label=VerdictLabel.NOT_ENOUGH_EVIDENCE),
    ),
    passages=(PASSAGE,),
)


def test_a_row_has_the_verdict_and_the_sentence_that_it_rests_on() -> None:
    first, second = claim_rows([JUDGED])
    assert first == {
        "response": "ice",
        "claim": "c1",
        "text": "Ice floats.",
        "verdict": "supported",
        "posterior": 0.9,
        "flags": "single_source",
        "label": "supported",
        "relation": "entailment",
        "probability": 0.8,
        "sentence": "Ice floats on water.",
        "source": "https://ice.example/",
        "task": None,
        "sample": None,
        "epoch": None,
    }
    assert list(second) == list(first)
    assert (second["verdict"], second["posterior"], second["source"]) == ("not_enough_evidence", None, None)


def test_rows_and_cards_show_the_passage_that_speaks_for_the_verdict_where_a_stronger_one_speaks_against_it() -> None:
    against = CountedPassage(
        passage_id="q", relation=RelationLabel.CONTRADICTION, probability=0.7, sentence=Span(start=0, end=10)
    )
    verdict = JUDGED.verdicts[0].model_copy(
        update={"label": VerdictLabel.CONTRADICTED, "passages": (*JUDGED.verdicts[0].passages, against)}
    )
    sinks = Passage(id="q", text="Ice sinks.")
    found = JUDGED.model_copy(update={"verdicts": (verdict, JUDGED.verdicts[1]), "passages": (PASSAGE, sinks)})
    row = next(claim_rows([found]))
    assert (row["relation"], row["sentence"], row["source"]) == ("contradiction", "Ice sinks.", None)
    assert [claim.sentence for claim in found.contradicted] == ["Ice sinks."]


def test_the_rows_of_a_run_are_read_back_from_csv_and_no_cell_is_a_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(claims_table([JUDGED])))))
    assert [row["response"] for row in rows] == ["ice", "ice"]
    assert (rows[0]["posterior"], rows[0]["sentence"]) == ("0.9", "Ice floats on water.")
    assert (rows[1]["text"], rows[1]["posterior"]) == ("'=1+1 is ice.", "")
    assert "| **ice** |" in markdown(claims_table([JUDGED]))


def test_a_run_without_claims_has_a_table_without_rows() -> None:
    assert csv_text(claims_table([])) == f"response,{','.join(COLUMNS)}\n"


def test_rows_of_a_log_say_which_sample_they_are_of_and_so_does_their_table() -> None:
    found = JUDGED.model_copy(update={"sample": Sample(id="17", task="frozen things", epoch=2)})
    assert {(row["task"], row["sample"], row["epoch"]) for row in claim_rows([found])} == {("frozen things", "17", 2)}
    rows = list(csv.DictReader(io.StringIO(csv_text(claims_table([found])))))
    assert [(row["task"], row["sample"], row["epoch"]) for row in rows] == [("frozen things", "17", "2")] * 2
    assert "epoch" not in csv_text(claims_table([JUDGED]))
