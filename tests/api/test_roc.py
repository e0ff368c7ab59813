import csv
import json
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from localfact.api.roc import BATCH, RocReport, fitting_premise, relation_roc
from localfact.errors import EngineError, InputError, MissingError, RunFolderError
from localfact.inputs.factor import COLUMNS, Question
from localfact.methods.options import Options
from localfact.methods.relations import FoundRelationModel
from localfact.records import Distribution, Failure, Pair
from localfact.stages import RelationModel

WITHOUT_EMBEDDER = Options(embedder="none")


def said(entailment: float, contradiction: float) -> Distribution:
    return Distribution(entailment=entailment, contradiction=contradiction, neutral=1 - entailment - contradiction)


@dataclass
class Oracle:
    """A relation model that answers by a rule, and remembers what it was asked and how often it was opened and closed.

    `seeded`: the seed of the options is part of its identity, as it is of a language model's.
    """

    rule: Callable[[Pair], Distribution | Failure]
    identity: str = "oracle@1"
    asked: list[Pair] = field(default_factory=list)
    opened: int = 0
    closed: int = 0
    seeded: bool = False

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        self.asked += pairs
        return [self.rule(pair) for pair in pairs]

    async def close(self) -> None:
        self.closed += 1


@dataclass
class Narrow(Oracle):
    """One that reads so many words at once, of premise and hypothesis together."""

    words: int = 8

    async def fits(self, pair: Pair) -> bool:
        return len(f"{pair.premise} {pair.hypothesis}".split()) <= self.words


def right(pair: Pair) -> Distribution:
    return said(0.9, 0.05) if "true" in pair.hypothesis else said(0.1, 0.6)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> dict[str, Oracle]:
    """Relation models by name, opened in place of ours."""
    models: dict[str, Oracle] = {}

    def find_one(options: Options) -> FoundRelationModel:
        name = options.relations or ""
        if name not in models:
            raise MissingError(f"no weights of {name}")
        model = models[name]

        def open_one(stack: AsyncExitStack) -> RelationModel:
            model.opened += 1
            stack.push_async_callback(model.close)
            return model

        return FoundRelationModel(f"{model.identity}+{options.seed}" if model.seeded else model.identity, open_one)

    monkeypatch.setattr("localfact.api.roc.find_relation_model", find_one)
    return models


def questions_file(folder: Path, count: int = 3, name: str = "data.csv") -> Path:
    file = folder / name
    with file.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(COLUMNS)
        for number in range(count):
            writer.writerow([f"Text {number}. ", f"The true one {number}.", *(f"A false one {number}{end}." for end in "abc")])
    return file


def curve_numbers(report: RocReport, index: int = 0) -> list[tuple[float, int, int] | None]:
    model = report.models[index]
    return [curve and (curve.area, curve.positives, curve.negatives) for curve in (model.contradiction, model.entailment)]


@pytest.mark.slow
def test_three_false_completions_stand_against_one_true_one_and_the_reverse(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    model = opened["m"] = Oracle(right)
    report = relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m"])
    assert curve_numbers(report) == [(1.0, 9, 3), (1.0, 3, 9)]
    assert model.asked[:2] == [
        Pair("Text 0. The true one 0.", "The true one 0."),
        Pair("Text 0. The true one 0.", "A false one 0a."),
    ]
    assert model.closed == 1


@pytest.mark.slow
def test_each_curve_reads_its_own_probability(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    """Contradiction is told rightly here, and entailment the wrong way round."""
    opened["m"] = Oracle(lambda pair: said(0.1, 0.2) if "true" in pair.hypothesis else said(0.3, 0.6))
    assert curve_numbers(relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m"])) == [
        (1.0, 9, 3),
        (0.0, 3, 9),
    ]


@pytest.mark.slow
def test_the_folder_holds_the_numbers_and_two_figures_a_curve(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    opened["m"] = Oracle(right)
    report = relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m"])
    assert RocReport.model_validate_json((tmp_path / "out" / "roc.json").read_text()) == report
    assert [Path(figure).name for figure in report.figures] == [
        *("contradiction.png", "contradiction.svg", "entailment.png", "entailment.svg"),
    ]
    assert all(Path(figure).stat().st_size > 1000 for figure in report.figures)


@pytest.mark.slow
def test_several_models_share_a_figure_and_each_has_its_predictions(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    opened["good"] = Oracle(right, "good@1")
    opened["models/blind"] = Oracle(lambda pair: said(0.3, 0.3), "blind@1")
    report = relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["good", "models/blind", "good"])
    assert [(model.relations, model.identity) for model in report.models] == [("good", "good@1"), ("models/blind", "blind@1")]
    assert curve_numbers(report, 1) == [(0.5, 9, 3), (0.5, 3, 9)]
    svg = (tmp_path / "out" / "contradiction.svg").read_text()
    assert "good" in svg
    assert "models/blind" in svg
    assert sorted(file.name for file in (tmp_path / "out").glob("*.jsonl")) == ["good.jsonl", "models-blind.jsonl"]


@pytest.mark.slow
def test_what_cannot_be_related_is_counted_left_out_and_tried_again(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    model = opened["m"] = Oracle(lambda pair: Failure(reason="no answer") if "false one 1b" in pair.hypothesis else right(pair))
    report = relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m"])
    assert curve_numbers(report) == [(1.0, 8, 3), (1.0, 3, 8)]
    assert report.models[0].failed == 1
    assert report.models[0].warnings == ("1 hypotheses could not be related; the first: no answer",)
    model.rule, model.asked = right, []
    again = relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m"])
    assert {pair.premise for pair in model.asked} == {"Text 1. The true one 1."}
    assert (again.models[0].failed, curve_numbers(again)) == (0, [(1.0, 9, 3), (1.0, 3, 9)])


@pytest.mark.slow
def test_a_model_that_relates_nothing_has_no_curve_and_stops_no_other(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    opened["dumb"] = Oracle(lambda pair: Failure(reason="no answer"), "dumb@1")
    opened["m"] = Oracle(right)
    report = relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["dumb", "m"])
    assert curve_numbers(report) == [None, None]
    assert report.models[0].failed == 12
    assert "0 positives and 0 negatives" in report.models[0].warnings[1]
    assert curve_numbers(report, 1) == [(1.0, 9, 3), (1.0, 3, 9)]


@pytest.mark.slow
def test_an_interrupted_command_goes_on_and_asks_nothing_twice(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    data = questions_file(tmp_path, BATCH + 4)

    def dies(pair: Pair) -> Distribution:
        if pair.premise.startswith(f"Text {BATCH + 1}."):
            raise EngineError("The engine died.")
        return right(pair)

    broken = opened["m"] = Oracle(dies)
    with pytest.raises(EngineError):
        relation_roc(data, tmp_path / "out", relations=["m"])
    assert broken.closed == 1
    model = opened["m"] = Oracle(right)
    told: list[tuple[int, int]] = []
    resumed = relation_roc(data, tmp_path / "out", relations=["m"], progress=lambda name, done, of: told.append((done, of)))
    assert len(model.asked) == 4 * 4
    assert told == [(BATCH, BATCH + 4), (BATCH + 4, BATCH + 4)]
    assert resumed.models == relation_roc(data, tmp_path / "whole", relations=["m"]).models


@pytest.mark.slow
def test_predictions_of_other_data_or_another_model_are_refused_unless_forced(
    tmp_path: Path, opened: dict[str, Oracle]
) -> None:
    opened["m"] = Oracle(right)
    relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m"])
    model = opened["m"] = Oracle(right, "oracle@2")
    with pytest.raises(RunFolderError, match="oracle@2"):
        relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m"])
    assert model.opened == 0
    with pytest.raises(RunFolderError, match="other settings"):
        relation_roc(questions_file(tmp_path, 4, "other.csv"), tmp_path / "out", relations=["m"])
    relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m"], force=True)
    assert len(model.asked) == 12


@pytest.mark.slow
def test_a_limit_counts_rows_and_bad_rows_are_told(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    opened["m"] = Oracle(right)
    data = questions_file(tmp_path, 4)
    lines = data.read_text().splitlines()
    data.write_text("\n".join([*lines[:2], "Text,,a,b,c", *lines[2:]]))
    report = relation_roc(data, tmp_path / "out", relations=["m"], limit=3)
    assert (report.questions, report.unusable) == (2, ("Row 2 has no text in completion.",))


def test_data_without_a_usable_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row that can be used"):
        relation_roc(questions_file(tmp_path, 0), tmp_path / "out")


async def test_a_premise_beyond_the_window_keeps_its_end() -> None:
    question = Question("1", "one two three four five six seven", ("a b c", "a b"))
    assert await fitting_premise(question, Narrow(right, words=6)) == "five six seven"
    assert await fitting_premise(question, Narrow(right, words=4)) == "seven"
    assert await fitting_premise(question, Narrow(right, words=10)) == question.premise
    assert await fitting_premise(question, Oracle(right)) == question.premise


async def test_a_hypothesis_beyond_the_window_is_left_to_the_model() -> None:
    question = Question("1", "one two three", ("a b c d e", "a"))
    assert await fitting_premise(question, Narrow(right, words=5)) == question.premise


@pytest.mark.slow
def test_cut_premises_are_counted(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    model = opened["m"] = Narrow(right, words=9)
    report = relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m"])
    assert report.models[0].premises_cut == 3
    assert {pair.premise for pair in model.asked} == {f"{number}. The true one {number}." for number in range(3)}


@pytest.mark.slow
def test_the_seed_is_of_the_intervals_alone(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    """Not of what a language model is asked: the predictions of another seed are those of this one."""

    def unsure(pair: Pair) -> Distribution:
        number = int("".join(filter(str.isdigit, pair.hypothesis)))
        return said(0.5 + number % 3 * 0.1, 0.1) if "true" in pair.hypothesis else said(0.65 - number % 5 * 0.05, 0.3)

    model = opened["m"] = Oracle(unsure, seeded=True)
    data = questions_file(tmp_path, 12)
    reports = [relation_roc(data, tmp_path / "out", relations=["m"], seed=seed) for seed in (0, 1)]
    assert curve_numbers(reports[0]) == curve_numbers(reports[1])
    assert ["seed 1" in report.interval for report in reports] == [False, True]
    assert reports[0].models[0].entailment != reports[1].models[0].entailment
    assert len(model.asked) == 12 * 4


@pytest.mark.slow
def test_a_finished_command_draws_again_without_opening_a_model(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    model = opened["m"] = Oracle(right)
    data = questions_file(tmp_path)
    report = relation_roc(data, tmp_path / "out", relations=["m"])
    assert (model.opened, model.closed) == (1, 1)
    (tmp_path / "out/entailment.svg").unlink()
    told: list[tuple[str, int, int]] = []
    assert relation_roc(data, tmp_path / "out", relations=["m"], progress=lambda *args: told.append(args)) == report
    assert (model.opened, model.closed) == (1, 1)
    assert told == [("m", 3, 3)]
    assert (tmp_path / "out/entailment.svg").exists()


def test_every_model_is_looked_for_before_the_first_is_asked(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    model = opened["m"] = Oracle(right)
    with pytest.raises(MissingError, match="no weights of gone"):
        relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["m", "gone"])
    assert (model.opened, model.asked) == (0, [])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["albert-vitaminc", "llm"])
def test_weights_that_are_not_here_are_said_before_word_overlap_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("LOCALFACT_WEIGHTS", raising=False)
    options = WITHOUT_EMBEDDER.model_copy(update={"model": "llama-3.1-70b" if name == "llm" else None})
    with pytest.raises(MissingError, match="models pull"):
        relation_roc(questions_file(tmp_path), tmp_path / "out", relations=["lexical", name], options=options)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_lexical_model_tells_experts_completions_apart(shared: Path, tmp_path: Path) -> None:
    data = shared / "data" / "factor" / "expert_factor.csv"
    report = relation_roc(data, tmp_path / "out", limit=40)
    for curve in (report.models[0].contradiction, report.models[0].entailment):
        assert curve is not None
        assert curve.ci is not None
        assert 0.8 < curve.ci[0] < curve.area < curve.ci[1]
    numbers = json.loads((tmp_path / "out" / "roc.json").read_text())
    assert numbers["models"][0]["contradiction"]["positives"] == 120


@pytest.mark.slow
def test_word_overlap_is_asked_where_none_is_named(tmp_path: Path, opened: dict[str, Oracle]) -> None:
    opened["lexical"] = Oracle(right)
    report = relation_roc(questions_file(tmp_path), tmp_path / "out")
    assert [one.relations for one in report.models] == ["lexical"]
