"""Table 10 as it is printed: the paper's row beside ours, the difference, what is marked and what is told below."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from run_builders import assessment

from localfact.api.evaluate import Job
from localfact.llm.engine import EngineIdentity
from localfact.methods.options import Options
from localfact.methods.registry import find_method
from localfact.methods.settings import EvidenceSettings, ExtractionSettings, FactReasonerSettings, Settings
from localfact.methods.wiring import Configuration
from localfact.models.cards import list_cards
from localfact.papers.comparison import record_run
from localfact.papers.printed_tables import printed_table
from localfact.papers.table10 import COLUMNS, Row, RowJob
from localfact.papers.table10_view import (
    DIFFERENCE,
    MEASURED,
    PAPER,
    PAPER_MODELS,
    paper_rows,
    table10,
    warnings_of,
)
from localfact.records import Claim, Response
from localfact.report.run_figures import RunFacts
from localfact.report.summary import Summary, summarise
from localfact.report.table_data import Number, Table
from localfact.scoring import ScoreResult
from localfact.vocabulary import GoldLabel

LLAMA = {
    "model": "llama-3.1-70b",
    "revision": "1605565b47bb9346c5515c34102e054115b4f98b",
    "dtype": "bfloat16",
    "quantisation": None,
}
VALUES = (18.5, 2.0, 10.5, 0.625, 0.80, 0.60, 0.125, 0.0625, 0.20)


def responses(count: int = 157) -> tuple[Response, ...]:
    labels = [GoldLabel.SUPPORTED] * 20 + [GoldLabel.NOT_SUPPORTED] * 11
    claims = tuple(Claim(id=f"a{at}", text=f"claim {at}", gold=gold) for at, gold in enumerate(labels))
    return tuple(Response(id=f"r{at}", text="x", claims=claims) for at in range(count))


def row(
    relations: str = "llm",
    version: int = 2,
    *,
    count: int = 157,
    model: Mapping[str, Any] = LLAMA,
    values: Sequence[float | None] = VALUES,
    left_out: Mapping[str, int] | None = None,
    warnings: Sequence[str] = (),
    as_published: bool = True,
) -> Row:
    identity = EngineIdentity(**model, window=64) if relations == "llm" else None
    settings = Settings(
        method=f"factreasoner-fr{version}",
        seed=0,
        extraction=ExtractionSettings(claims="given", extractor="rules"),
        evidence=EvidenceSettings(
            embedder=None, corpus="0", passages="pages", k=3, queries="claim", merge_near_duplicates=False
        ),
        assessment=FactReasonerSettings(
            version=version,
            gate=None,
            relations="llm+reading=2" if relations == "llm" else f"{relations}@0123456789ab+float32",
            tables="paper",
            passage_prior=0.99,
        ),
        model=identity,
    )
    options = Options(corpus=Path("index/wiki"))
    chosen = Configuration(find_method(settings.method), options, settings)
    job = Job(Path("bios.jsonl"), responses(count), chosen, Path("out"))
    names = {"F1@K": "F1@K(median=31)"}
    scores = {
        column: ScoreResult(name=names.get(column, column), value=value, sd=0.25, n=count, left_out=left_out or {})
        for column, value in zip(COLUMNS, values, strict=True)
    }
    summary: Summary = summarise([], RunFacts(method="factreasoner"), warnings=warnings)
    plain = settings.plain()
    if as_published:
        plain["assessment"] |= {"solver": "wmb", "relations": f"{plain['assessment']['relations']}+p_star=raw"}
    run = [assessment("S" * 31, index=at, gold="s" * 20 + "n" * 11) for at in range(count)]
    return Row(RowJob(relations, version, job), summary, scores, record_run(plain, run))


def lines(table: Table, heading: str) -> dict[tuple[str, str], dict[str, Number | str]]:
    """(version, row) -> column -> cell, of the group whose heading begins so."""
    (group,) = [group for group in table.groups if group.heading.startswith(heading)]
    return {(str(cells[0]), str(cells[1])): dict(zip(COLUMNS, cells[2:], strict=True)) for cells in group.rows}


def test_on_the_papers_data_with_its_model_the_difference_stands_unmarked() -> None:
    table = table10([row()])
    found = lines(table, "llama-3.1-70b@1605565b47bb (bfloat16)")
    assert list(found) == [("FR2", MEASURED), ("FR2", PAPER), ("FR2", DIFFERENCE)]
    assert str(found["FR2", MEASURED]["Pr"]) == "0.62 ±0.25"
    assert str(found["FR2", PAPER]["Pr"]) == "0.60 ±0.20"
    difference = [str(found["FR2", DIFFERENCE][column]) for column in COLUMNS]
    assert difference == ["-0.5", "+0.0", "+1.5", "+0.03", "-0.03", "+0.01", "+0.01", "+0.00", "+0.02"]
    assert not any("Not comparable" in note for note in table.notes)
    assert any("whether the passages are (Wikipedia, 3 a claim) cannot be checked" in note for note in table.notes)


def test_all_that_is_not_the_papers_is_named_beside_the_difference_and_told_below() -> None:
    table = table10([row(as_published=False), row("albert-vitaminc", as_published=False)])
    assert ("FR2", f"{DIFFERENCE} (not comparable: solver, p*)") in lines(table, "llama-3.1-70b@")
    assert ("FR2", f"{DIFFERENCE} (not comparable: solver)") in lines(table, "albert-vitaminc@")
    assert "Not comparable: solver: auto, not wmb." in table.notes
    assert any(note.startswith("Not comparable: p* normalised") and note.endswith("(FR2 with llm).") for note in table.notes)


def test_on_other_data_every_difference_is_marked_and_the_reason_given() -> None:
    table = table10([row(count=20), row("albert-vitaminc", count=20)])
    assert ("FR2", f"{DIFFERENCE} (not comparable: data)") in lines(table, "llama-3.1-70b@")
    assert ("FR2", f"{DIFFERENCE} (not comparable: data)") in lines(table, "albert-vitaminc@")
    assert "Not comparable: 20 responses with labelled claims, not 157." in table.notes


def test_another_language_model_stands_beside_the_papers_and_is_marked() -> None:
    other = {**LLAMA, "model": "llama-3.1-8b", "revision": "f" * 40}
    table = table10([row(model=other), row("albert-vitaminc")])
    assert ("FR2", f"{DIFFERENCE} (not comparable: model)") in lines(table, "llama-3.1-8b@")
    assert ("FR2", DIFFERENCE) in lines(table, "albert-vitaminc@")
    assert "Not comparable: judged by llama-3.1-8b (FR2 with llm)." in table.notes


def test_the_papers_model_is_known_under_another_name_by_its_revision() -> None:
    assert ("FR2", DIFFERENCE) in lines(table10([row(model={**LLAMA, "model": "my-folder"})]), "my-folder@1605565b47bb")


def test_a_relation_model_that_the_paper_has_not_stands_alone_and_the_papers_rows_are_shown_all_the_same() -> None:
    table = table10([row("lexical", version) for version in (3, 2, 1)])
    assert list(lines(table, "lexical@")) == [("FR1", MEASURED), ("FR2", MEASURED), ("FR3", MEASURED)]
    for printed in ("albert-xlarge-vitaminc-mnli, as printed", "llama-3.1-70b-instruct, as printed"):
        assert list(lines(table, printed)) == [("FR1", PAPER), ("FR2", PAPER), ("FR3", PAPER)]


def test_the_papers_rows_beside_ours_are_not_shown_again() -> None:
    table = table10([row("albert-vitaminc", 1)])
    assert list(lines(table, "albert-xlarge-vitaminc-mnli, as printed")) == [("FR2", PAPER), ("FR3", PAPER)]


def test_scores_that_have_no_value_leave_their_cells_and_differences_empty() -> None:
    unlabelled = (*VALUES[:4], None, VALUES[5], None, VALUES[7], None)
    found = lines(table10([row(values=unlabelled)]), "llama-3.1-70b@")
    for column in ("F1", "MAE", "Brier"):
        assert found["FR2", MEASURED][column] == ""
        assert found["FR2", DIFFERENCE][column] == ""
    assert found["FR2", PAPER]["Brier"] == Number(0.18, 0.10)


def test_the_table_says_k_tables_solver_data_and_evidence() -> None:
    assert table10([row()]).facts == {
        "data": "bios.jsonl, 157 responses",
        "claims": "given for 157 responses (4867)",
        "passages": "from the corpus index/wiki for 157, 3 a claim",
        "tables": "paper, prior of a passage 0.99",
        "solver": "auto",
        "K of F1@K": "median=31",
        "seed": "0",
    }


def test_what_a_mean_leaves_out_is_told_once_with_its_rows() -> None:
    rows = [row("lexical", version, left_out={"abstained": 2}) for version in (1, 2)]
    (told,) = [note for note in table10(rows).notes if "leave out" in note]
    assert told == "All columns leave out 2 responses: abstained (FR1 with lexical; FR2 with lexical)."


def test_the_papers_faults_are_told_below() -> None:
    notes = table10([row()]).notes
    assert sum(note.startswith("About the paper's figures: ") for note in notes) == 4
    assert any(note.startswith("About the paper's figures: Tables 3 and 12 give Pr 0.42") for note in notes)


def test_deviations_and_the_brier_score_come_from_other_places_of_the_paper() -> None:
    paper = paper_rows(printed_table("10"))
    llama, encoder = PAPER_MODELS["llama-3.1-70b"], PAPER_MODELS["albert-vitaminc"]
    assert list(paper) == [(model, version) for model in (encoder, llama) for version in (1, 2, 3)]
    assert (paper[llama, 2]["#S"], paper[llama, 2]["Brier"], paper[llama, 3]["MAE"]) == ((19, 9), (0.18, 0.10), (0.11, 0.12))
    assert "Brier" not in paper[llama, 3]
    assert paper[encoder, 2]["Pr"] == 0.32


def test_the_papers_models_have_cards() -> None:
    assert set(PAPER_MODELS) <= {card.name for card in list_cards()}


def test_warnings_that_differ_in_numbers_alone_are_told_once() -> None:
    one = row("lexical", 3, warnings=("The mean fell to 0.08: look.", "The mean fell to 0.31: look.", "Read this."))
    other = row("lexical", 2, warnings=("The mean fell to 0.1: look.",))
    assert list(warnings_of([one, other])) == [
        "FR3 with lexical, FR2 with lexical: The mean fell to 0.08: look. And 2 more like this, with other numbers.",
        "FR3 with lexical: Read this.",
    ]
