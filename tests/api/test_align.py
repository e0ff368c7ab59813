"""A run beside people's annotation: responses and claims find their other side, and the table says by which rule."""

import csv
import json
from pathlib import Path

import pytest
from run_builders import assessment
from typer.testing import CliRunner

from localfact.api.align import align_run, pair_rows, word_similarity
from localfact.api.evaluate import evaluate
from localfact.api.leaderboard import rank
from localfact.cli.main import app
from localfact.errors import InputError
from localfact.inputs.annotations import AnnotatedClaim, AnnotatedResponse
from localfact.methods.options import Options
from localfact.records import Assessment
from localfact.vocabulary import GoldLabel

TEXT = "The mill opened in 1911. It has two wheels. It stands in Torsk."
ROWS = [
    {
        "id": "mill",
        "source": "bio",
        "response": TEXT,
        "claims": ["The mill opened in 1911.", "The mill has two wheels.", "The mill stands in Torsk."],
        "passages": [{"text": "The mill opened in 1911. The mill has two wheels."}],
    }
]
GOLD = {
    "id": "another id",
    "response": TEXT,
    "claims_lst": [
        {"claim": "The mill opened in 1911.", "annotator_label": "supported", "operation": "unchanged"},
        {"claim": "The mill has two big wheels.", "annotator_label": "supported", "operation": "revised"},
        {"claim": "The mill stood in 1912.", "annotator_label": "not enough evidence", "operation": "added"},
    ],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aligned")
    evaluate(ROWS, options=Options(relations="lexical", embedder="none"), out=folder / "run")
    (folder / "gold.jsonl").write_text(json.dumps(GOLD) + "\n" + json.dumps({**GOLD, "response": "Of others."}) + "\n")
    return folder / "run"


@pytest.mark.parametrize("embedder", ["none", pytest.param("minilm", marks=pytest.mark.slow)])
def test_claims_of_the_same_numbers_and_nearly_the_same_words_are_one_claim(run: Path, embedder: str) -> None:
    found = align_run(run, run.parent / "gold.jsonl", embedder=embedder)
    assert found.overall.n == 1
    assert found.overall.edits == {"removed": 1, "added": 1, "revised": 1, "unchanged": 1}
    assert (found.overall.scoring.n, found.overall.scoring.share) == (2, 1.0)
    assert found.unused == 1
    assert found.recorded_edits == {"unchanged": 1, "revised": 1, "added": 1}
    assert ("cosine" in found.rule) == (embedder == "minilm")
    assert list(found.by_source) == ["bio"]


def test_rows_of_the_annotation_that_cannot_be_used_are_told(run: Path, tmp_path: Path) -> None:
    bad = {"id": "bad", "response": TEXT, "claims": [{"text": "It is.", "label": "maybe"}]}
    (tmp_path / "gold.jsonl").write_text(f"{json.dumps(GOLD)}\n{json.dumps(bad)}\nnot json\n")
    done = CliRunner().invoke(app, ["align", str(run), "--gold", str(tmp_path / "gold.jsonl"), "--embedder", "none"])
    told = " ".join(done.stdout.split())
    assert "cannot be used: 2. bad: Claim 1 has the label 'maybe'" in told
    assert "row-3: The line is not JSON" in told
    assert done.exit_code == 1


def test_an_annotation_of_other_responses_is_refused(run: Path, tmp_path: Path) -> None:
    other = {"id": "x", "response": "Of others.", "claims": [{"text": "Of others.", "label": "S"}]}
    (tmp_path / "other.jsonl").write_text(json.dumps(other))
    with pytest.raises(InputError, match="1 no row in the annotation"):
        align_run(run, tmp_path / "other.jsonl", embedder="none")


@pytest.mark.parametrize(("exported", "told"), [({}, False), ({"how": "agreed", "annotators": ["ada"]}, True)])
def test_what_was_called_irrelevant_in_another_sense_is_told(
    run: Path, tmp_path: Path, exported: dict[str, object], told: bool
) -> None:
    gold = {"response": TEXT, "claims": [{"text": "The mill is nice.", "label": "irrelevant"}], **exported}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold))
    done = CliRunner().invoke(app, ["align", str(run), "--gold", str(tmp_path / "gold.jsonl"), "--embedder", "none"])
    assert ("1 claims of the annotation are called irrelevant as no evidence" in " ".join(done.stdout.split())) == told


@pytest.mark.parametrize(("labels", "told"), [(("supported", "NS"), True), (("S", "refuted"), False)])
def test_why_there_is_no_agreement_on_five_labels_is_told(
    run: Path, tmp_path: Path, labels: tuple[str, str], told: bool
) -> None:
    claims = [{"text": text, "label": label} for text, label in zip(TEXT.split(". "), labels, strict=False)]
    (tmp_path / "gold.jsonl").write_text(json.dumps({"response": TEXT, "claims": claims}))
    done = CliRunner().invoke(app, ["align", str(run), "--gold", str(tmp_path / "gold.jsonl"), "--embedder", "none"])
    assert (
        "1 of 2 labelled claims of the annotation are called not supported, and not how" in " ".join(done.stdout.split())
    ) == told


def test_words_are_compared_whatever_their_order() -> None:
    assert word_similarity(["A b c d."], ["d C b a", "e f"]).tolist() == [[1.0, 0.0]]


def test_a_row_is_a_responses_own_by_its_given_id_or_its_models_answer_to_the_prompt_or_its_text() -> None:
    def row(name: str, text: str, model: str | None, prompt: str | None, *, given: bool) -> AnnotatedResponse:
        claim = AnnotatedClaim(text="x", gold=GoldLabel.SUPPORTED)
        return AnnotatedResponse(id=name, id_given=given, text=text, prompt=prompt, model=model, claims=(claim,))

    def wrote(name: str, text: str, model: str | None = None, prompt: str | None = None, *, given: bool = False) -> Assessment:
        fields = {"response_id": name, "id_given": given, "text": text, "model": model, "prompt": prompt}
        return assessment("S").model_copy(update=fields)

    rows = [
        row("row-1", "Other.", None, None, given=False),
        row("q7", "By one.", "one", "P", given=False),  # one id for the answers of two models
        row("q7#2", "By two.", "two", "P", given=False),
        row("q8", "Edited.", None, "Q", given=True),
        row("q9", "Twice.", None, None, given=True),
    ]
    assert not pair_rows([wrote("row-1", "Mine.")], rows)[0]  # both files number their rows
    assert [beside.text for _, beside in pair_rows([wrote("row-2", "As it was.", "one", "P")], rows)[0]] == ["By one."]
    assert not pair_rows([wrote("row-2", "As it was.", "three", "P")], rows)[0]
    assert [beside.text for _, beside in pair_rows([wrote("q8", "As it was.", prompt="Q", given=True)], rows)[0]] == ["Edited."]
    other = pair_rows([wrote("q8", "Edited.", prompt="R", given=True)], rows)
    assert (other[0], dict(other[1])) == ([], {"another prompt under the same id": 1})
    found, left_out, _ = pair_rows([wrote("a", "Twice."), wrote("b", "Twice.")], rows)
    assert (found, dict(left_out)) == ([], {"ambiguous": 2})


def test_rows_of_failed_responses_and_rows_without_labels_are_of_the_run_and_not_compared() -> None:
    rows = [AnnotatedResponse(id=name, id_given=True, text=name, claims=(AnnotatedClaim(text="x"),)) for name in "abc"]
    ours = [
        assessment("S").model_copy(update={"response_id": "a"}),
        assessment(failed=True).model_copy(update={"response_id": "b"}),
    ]
    found, left_out, unused = pair_rows(ours, rows)
    assert (found, [one.id for one in unused]) == ([], ["c"])
    assert left_out == {"no labelled claim in the annotation": 1, "failed": 1}


def test_the_command_prints_the_rule_and_other_formats(run: Path) -> None:
    words = ["align", str(run), "--gold", str(run.parent / "gold.jsonl"), "--embedder", "none"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    said = " ".join(done.stdout.split())
    assert "claims are matched: one to one, by the F1 of their words, at least 0.8" in said
    assert "# revised 1.000" in said
    assert "Rows of the annotation that no response of the run has: 1." in said
    assert json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["overall"]["n"] == 1
    assert CliRunner().invoke(app, [*words, "--format", "csv"]).stdout.startswith("about,")


def test_models_of_runs_are_ranked_and_unequal_runs_are_told(run: Path) -> None:
    evaluate(
        [{**ROWS[0], "model": "other", "response": TEXT}],
        method="builtin-fr1",
        options=Options(relations="lexical", embedder="none"),
        out=run.parent / "second",
    )
    done = CliRunner().invoke(app, ["leaderboard", str(run), str(run.parent / "second"), "--format", "json"])
    assert done.exit_code == 0
    assert "not made alike" in done.stdout
    board = json.loads(CliRunner().invoke(app, ["leaderboard", str(run), "--json"]).stdout)
    assert [one["model"] for one in board["standings"]] == ["run"]
    assert CliRunner().invoke(app, ["leaderboard"]).exit_code == 2


def test_sources_and_models_may_be_called_as_our_own_columns(tmp_path: Path) -> None:
    names = ("n", "Pr", "claims", "responses", "model", "", "no source", "group", " ", "a b", "a\nb", "F1@K'", "all")
    rows = [{**ROWS[0], "id": f"{at}", "prompt": name, "source": name, "model": name} for at, name in enumerate(names)]
    evaluate(rows, method="builtin-fr1", options=Options(relations="lexical", embedder="none"), out=tmp_path / "n")
    for how in ("terminal", "csv", "json", "markdown", "latex"):
        done = CliRunner().invoke(app, ["leaderboard", str(tmp_path / "n"), "--format", how])
        assert done.exit_code == 0, done.exception
        if how == "csv":
            heads = next(csv.reader(done.stdout.splitlines()))
            assert len(set(heads)) == len(heads)
            assert {"n (source)", "Pr (source)", "model (source)"} <= set(heads)


def test_a_model_that_is_called_as_a_run_is_not_taken_for_it(tmp_path: Path) -> None:
    options = Options(relations="lexical", embedder="none")
    for name, model in (("x", None), ("y", "x")):
        row = {**ROWS[0], "prompt": f"asked of {name}", "response": TEXT, "model": model}
        evaluate([row], method="builtin-fr1", options=options, out=tmp_path / name)
    board = rank([tmp_path / "x", tmp_path / "y"])
    assert sorted(one.model for one in board.standings) == ["x", "x (model)"]
    said = CliRunner().invoke(app, ["leaderboard", str(tmp_path / "x"), str(tmp_path / "y"), "--format", "markdown"]).stdout
    assert "2 of 2 prompts were not answered by all models." in said
