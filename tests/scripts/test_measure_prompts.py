"""Ways to ask for relations are compared by what their answers are worth on labelled pairs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from asked_models import shown

from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedAnswer, ScriptedEngine
from localfact.methods.options import Options
from localfact.prompts.own import read_own_prompts
from localfact.records import Distribution, Failure, Pair
from localfact.relations.calibration import LabelledPair
from localfact.relations.reference import reference_pairs
from localfact.vocabulary import VerdictLabel
from scripts.measure_prompts import (
    LABELS,
    SAID,
    TASKS,
    VARIANTS,
    WRITERS,
    Judged,
    Maker,
    decide,
    judge,
    judge_truth,
    variants,
)

PAIRS = [LabelledPair(Pair(f"Stone {label}.", "A stone."), label) for label in LABELS]


@pytest.mark.parametrize("folder", sorted(VARIANTS.iterdir()), ids=lambda folder: folder.name)
def test_each_variant_is_a_prompt_that_differs_from_the_one_that_ships(folder: Path) -> None:
    assert read_own_prompts(folder)


def test_right_answers_are_worth_more_than_none() -> None:
    def said(label: str) -> Distribution:
        return Distribution(**{"entailment": 0.1, "contradiction": 0.1, "neutral": 0.1, label: 0.8})  # type: ignore[arg-type]

    reference = {one.pair: said(one.label) for one in reference_pairs()}
    right = judge({**reference, **{one.pair: said(one.label) for one in PAIRS}}, PAIRS)
    assert right.f1 == 1
    assert right.losses.max() < 0.2
    unanswered = judge({**reference, **{one.pair: Failure(reason="no answer") for one in PAIRS}}, PAIRS)
    assert unanswered.losses.tolist() == pytest.approx([1.0986] * len(PAIRS), abs=1e-4)


@pytest.fixture
def truth_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float, float], Judged]:
    """What a judge is worth on PAIRS, one true and two false, that says True of true and of false claims with these shares."""

    def judge_by(true: float, false: float) -> Judged:
        async def say(options: Options, sets: list[list[LabelledPair]]) -> list[list[float]]:
            return [[true if one.label == "entailment" else false for one in labelled] for labelled in sets]

        monkeypatch.setattr("scripts.measure_prompts.ask_truth", say)
        (found,) = judge_truth(Options(), [PAIRS], tmp_path)
        return found

    return judge_by


def test_a_judge_that_says_true_of_everything_is_worth_what_its_calibrated_answers_are(
    truth_of: Callable[[float, float], Judged],
) -> None:
    found = truth_of(0.95, 0.7)
    assert found.f1 == 1
    assert found.losses.max() < 0.5


def test_true_and_false_claims_weigh_the_same(truth_of: Callable[[float, float], Judged]) -> None:
    losses = dict(zip(LABELS, truth_of(0.5, 0.5).losses / np.log(2), strict=True))
    assert losses == pytest.approx({"entailment": 1.5, "contradiction": 0.75, "neutral": 0.75})


async def test_a_written_verdict_is_of_its_claim_and_its_one_passage() -> None:
    def answer(chat: Chat) -> ScriptedAnswer:
        label = {"entailment": "Supported", "contradiction": "Contradicted", "neutral": "Undecided"}
        (named,) = [one for one in label if f"Stone {one}." in shown(chat, "evidence")]
        return f"###{label[named]}### So it stands there."

    said = await decide(WRITERS["veriscore"](ScriptedEngine(answer)), PAIRS)
    assert [SAID.get(verdict, "neutral") for verdict in said] == [one.label for one in PAIRS]


def test_a_verdict_that_failed_is_wrong_whatever_the_passage_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def say(options: Options, sets: list[list[LabelledPair]], made: Maker) -> list[list[VerdictLabel]]:
        settled = {"entailment": VerdictLabel.SUPPORTED, "contradiction": VerdictLabel.CONFLICTING}
        return [[settled.get(one.label, VerdictLabel.FAILED) for one in labelled] for labelled in sets]

    monkeypatch.setattr("scripts.measure_prompts.ask_verdicts", say)
    (found,) = TASKS["veriscore"](Options(), [PAIRS], tmp_path)
    assert dict(zip((one.label for one in PAIRS), found.losses, strict=True)) == {
        "entailment": 0,
        "contradiction": 1,
        "neutral": 1,
    }
    assert found.f1 == pytest.approx(1 / 3)


def test_a_task_has_the_variants_of_its_template() -> None:
    named = {task: {folder.name for folder in variants(task)} for task in ("relation", "factscore")}
    assert "claim-first" in named["factscore"] - named["relation"]
    assert "no-examples" in named["relation"] - named["factscore"]
