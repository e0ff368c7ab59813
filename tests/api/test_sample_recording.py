"""The recording that ships: a language model's run of the sample, replayed without weights, corpus or embedder."""

from pathlib import Path

import pytest

from localfact.api.evaluate import execute, prepare
from localfact.api.sample import RECORDING
from localfact.errors import InputError
from localfact.methods import wiring
from localfact.methods.options import Options
from localfact.runs.assessments import read_assessments

#: What the language model makes of the sample's claims.
VERDICTS = {"supported": 160, "contradicted": 12, "not_enough_evidence": 26, "undecided": 18}
MEAN_POSTERIOR = 0.72073
#: 20 texts are taken apart and 2,304 relations asked; no label, as the model's card trusts no opinion of it.
CALLS = 2_324
REPLAY = Options(replay=RECORDING)


def unopened(*_: object) -> None:
    raise AssertionError("a replay of the sample opens neither embedder nor corpus")


@pytest.mark.slow
def test_the_recording_holds_all_that_a_replay_of_the_sample_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "open_search", unopened)
    monkeypatch.setattr("localfact.methods.retrieval.open_search", unopened)
    summary = execute(prepare(options=REPLAY, out=tmp_path / "run"))
    assert summary.responses_failed == 0
    assert {label: count for label, count in summary.verdicts.items() if count} == VERDICTS
    assert summary.accounting.calls_sent == CALLS
    posteriors = [one.posterior for each in read_assessments(tmp_path / "run") for one in each.verdicts]
    assert sum(one or 0 for one in posteriors) / len(posteriors) == pytest.approx(MEAN_POSTERIOR, abs=1e-4)


def test_the_recording_is_of_the_sample_alone(tmp_path: Path) -> None:
    data = tmp_path / "answers.jsonl"
    data.write_text('{"text": "The bridge has six arches."}\n')
    with pytest.raises(InputError, match="for the shipped sample alone"):
        prepare(data, options=REPLAY)
