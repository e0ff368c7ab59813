"""A model that no longer ships: whoever names it is told why and what to take; runs that were made with it are still read."""

from pathlib import Path

import pytest

from localfact.api.correct_run import plan_correcting_run
from localfact.api.evaluate import evaluate
from localfact.api.report import write_report
from localfact.api.rescore import rescore
from localfact.errors import InputError, RunFolderError
from localfact.methods.options import Options
from localfact.methods.relations import relation_kind
from localfact.models.cards import load_card
from localfact.runs.record import read_record

TOLD = "builtin-nli no longer comes with localfact, .* word overlap. Take --relations lexical"
ROW = {
    "prompt": "p",
    "response": "The mill opened in 1911.",
    "claims": ["It opened in 1911."],
    "passages": [{"text": "It did."}],
}


def test_who_names_it_is_told_what_to_take() -> None:
    for named in (relation_kind, load_card):
        with pytest.raises(InputError, match=TOLD):
            named("builtin-nli")


def test_a_run_that_was_made_with_it_is_read_and_cannot_go_on(tmp_path: Path) -> None:
    chosen, out = {"method": "builtin-fr2", "options": Options(embedder="none", claims="given")}, tmp_path / "run"
    done = evaluate([ROW], out=out, **chosen)
    file = out / "run.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("lexical@", "builtin-nli@"), encoding="utf-8")
    assert rescore(out).scores == done.scores
    assert "demonstration" in write_report(out).read_text(encoding="utf-8")
    with pytest.raises(RunFolderError, match=f"other settings.*{TOLD}"):
        evaluate([ROW], out=out, **chosen)
    with pytest.raises(InputError, match=TOLD):
        plan_correcting_run(read_record(out), Options())
