"""Relation models by themselves: what is known of one before it is loaded."""

from pathlib import Path

from tiny_albert import tiny_albert

from localfact.llm.scripted import ScriptedEngine
from localfact.llm.transcript import RecordingEngine
from localfact.options import Options
from localfact.relations.llm import llm_identity
from localfact.run import complete
from localfact.wiring import find_relation_model


def test_what_is_found_has_the_identity_of_what_is_opened(tmp_path: Path) -> None:
    albert = str(tiny_albert(tmp_path / "albert"))
    for options in (Options(embedder="none"), Options(), Options(relations=albert)):
        found = find_relation_model(options)
        model, close = found.open()
        assert found.identity == model.identity
        complete(close())


def test_a_language_model_is_found_by_its_transcript(tmp_path: Path) -> None:
    file = tmp_path / "calls.sqlite"
    complete(RecordingEngine(engine := ScriptedEngine(), file).aclose())
    found = find_relation_model(Options(relations="llm", replay=file, seed=3))
    assert found.identity == llm_identity(engine.identity, 3)
    model, close = found.open()
    assert model.identity == found.identity
    complete(close())
