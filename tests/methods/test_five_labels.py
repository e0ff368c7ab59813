"""FaStfact's five labels through the whole road: from its annotated file, by a verifier that follows it, to full agreement."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

import pytest
from asked_models import shown
from tiny_models import tiny_llama

from localfact.api.align import align_run
from localfact.api.evaluate import evaluate
from localfact.llm.engine import Chat
from localfact.llm.placing.settings import EngineSettings
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.options import Options
from localfact.runs.assessments import read_assessments
from localfact.vocabulary import VerdictLabel

LABELLED = {
    "Ada was a poet's daughter.": ("supported", VerdictLabel.SUPPORTED),
    "Ada was born in 1820.": ("refuted", VerdictLabel.CONTRADICTED),
    "Ada wrote the notes alone.": ("conflicting evidence", VerdictLabel.CONFLICTING),
    "Ada liked plums.": ("not enough evidence", VerdictLabel.NOT_ENOUGH_EVIDENCE),
    "Ada is best.": ("unverifiable", VerdictLabel.UNVERIFIABLE),
}
ROW = {
    "question_id": "ada",
    "question": "Who was Ada?",
    "prompt_source": "HelloBench",
    "response": " ".join(LABELLED),
    "claims_lst": [{"claim": claim, "annotator_label": label} for claim, (label, _) in LABELLED.items()],
    "passages": [{"title": "Ada", "text": "Ada was a daughter of the poet. She was born in 1815."}],
}


def follower(settings: EngineSettings) -> ScriptedEngine:
    """A model that is unsure before any evidence, and then says what the annotation says."""

    def choose(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        return {label: 0.9 for label in labels if label.lower() == "unsure"}

    made = ScriptedEngine(lambda chat: f"It says so.\nDecision: ###{LABELLED[shown(chat, 'claim')][0]}###", choose)
    made.identity = settings.identity
    return made


@pytest.mark.slow
def test_each_of_five_labels_comes_out_as_it_was_annotated(tmp_path: Path) -> None:
    gold = tmp_path / "annotated.jsonl"
    gold.write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    options = Options(model=str(tiny_llama(tmp_path / "model", window=8192)), embedder="none")
    with patch("localfact.llm.cores.vllm.VLLMEngine", follower):
        summary = evaluate(gold, method="fastfact", options=options, out=tmp_path / "run")
    (assessment,) = read_assessments(tmp_path / "run")
    assert [verdict.label for verdict in assessment.verdicts] == [label for _, label in LABELLED.values()]
    assert (assessment.source, assessment.gold_supported, assessment.gold_not_supported) == ("hellobench", 1, 3)
    assert {score.name: score.value for score in summary.scores}["Pr"] == 0.25
    found = align_run(tmp_path / "run", gold, embedder="none").overall
    assert (found.exact.n, found.exact.share, found.exact.kappa, found.exact.alpha) == (5, 1.0, 1.0, 1.0)
    assert found.scoring.share == 1.0
    assert found.edits == {"removed": 0, "added": 0, "revised": 0, "unchanged": 5}
    assert found.f1 is not None
    assert found.f1.absolute == 0.0
