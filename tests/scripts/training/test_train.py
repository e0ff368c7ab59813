"""The whole training on a few pairs: every stage runs, and a model with its card comes out."""

from pathlib import Path

import pytest

from scripts.training import train
from scripts.training.relation_model.curriculum import SENTENCE_EPOCHS, Reading
from scripts.training.relation_model.examples import LABELS, Example


def test_all_stages_run_in_their_order_and_write_a_model_and_its_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [
        Example("snli", "sentence pair", f"Boy {place} runs.", f"Child {place} runs.", LABELS[place % 3], (f"boy {place}",))
        for place in range(30)
    ]
    reading = Reading(pairs[:6], [pairs[:6], pairs[6:9]], [pairs[:3], pairs[3:6]], {"snli": pairs})
    monkeypatch.setattr(train, "read", lambda *_: reading)
    train.train(Path("nowhere"), tmp_path / "work", tmp_path / "out", seed=1)
    said = capsys.readouterr().out
    ends = [
        f"{stage} epoch {epoch}: "
        for stage, epochs in (("sentences", SENTENCE_EPOCHS), ("everything", 2), ("like the use", 2))
        for epoch in range(1, epochs + 1)
    ]
    places = [said.index(end) for end in ends]
    assert places == sorted(places)
    assert (tmp_path / "out/model.onnx").stat().st_size < 30_000_000
    assert (tmp_path / "work/float32/model.onnx").stat().st_size > 60_000_000
    assert "snli" in (tmp_path / "out/README.md").read_text(encoding="utf-8")
