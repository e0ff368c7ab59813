"""Runs made by the first version, which wrote settings without parts, are read, go on, and keep their names.

Those of the paper's methods: by our own rules verdicts changed since, and a run goes on only under the rules it began with.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from localfact.api.evaluate import execute, prepare, run_name
from localfact.api.rescore import rescore
from localfact.errors import RunFolderError
from localfact.llm.engine import EngineIdentity
from localfact.methods.options import Options
from localfact.methods.settings import upgraded, without_parts

#: Settings as the first version wrote them, and what it called the folder of such a run.
PUBLISHED = """
data: {sha256: 055e01b3dcd060659a936677926f42451367462dce90fe1254268dfa83a1436b, limit: 4}
method: factreasoner-fr2
claims: extract
embedder: null
corpus: eec23d4172cadffcc9b1163a8b5b76a0de27c0cff175ff27454973a372bdbcad
passages: pages
k: 3
scope: corpus
queries: claim
merge_near_duplicates: false
seed: 0
extractor: rules
version: 2
gate: null
relations: lexical@6ec07a2703a3+no-embedder
tables: paper
passage_prior: 0.99
hosts: {}
solver: auto
"""
PUBLISHED_NAME = "d208fbca61c1"
FASTFACT = """
data: {sha256: 3093e9ea4beb7d66c7b7ff8c78d3924ed9b66fe5bef9af8d2e31fde63bdba822, limit: null}
method: fastfact
claims: given
embedder: null
corpus: 5385e37c951f40f2841109e3ce4892c9ef2a6d76116e812d7353c2d6abcf01f8
passages: chunks
k: 10
scope: corpus
queries: claim
merge_near_duplicates: false
seed: 0
extractor: chunked
extraction_tokens: 192
stride: max
confidence: token
keep_duplicates: false
theta: 0.995
verification_tokens: 128
model: {model: any, revision: '1', dtype: float32, quantisation: null, template: t, window: 2048}
prompts: {extraction: ff598484fb5d, verification: d4d37f57f95c}
"""
LEXICAL = Options(relations="lexical", embedder="none")
METHOD = "factreasoner-fr2"


def older(settings: dict[str, Any]) -> dict[str, Any]:
    """Today's settings as the first version wrote them: the options of the stages stood among the others."""
    stages = [settings.pop(stage) for stage in ("extraction", "evidence", "assessment")]
    return {**settings, **stages[0], **stages[1], **stages[2]}


@pytest.mark.parametrize("written", [PUBLISHED, FASTFACT])
def test_older_settings_have_todays_parts_and_lose_nothing(written: str) -> None:
    plain = yaml.safe_load(written)
    new = upgraded(plain)
    assert {"extraction", "evidence", "assessment"} < new.keys()
    assert (new["extraction"]["extractor"], new["evidence"]["k"]) == (plain["extractor"], plain["k"])
    assert without_parts(new) == plain
    assert upgraded(new) == new


def test_the_settings_of_today_are_older_ones_in_parts() -> None:
    job = prepare(method=METHOD, options=LEXICAL, limit=4)
    plain = job.chosen.settings.plain()
    assert upgraded(older(job.chosen.settings.plain())) == plain
    assert older(plain) == yaml.safe_load(PUBLISHED)


def test_a_run_is_called_what_the_first_version_called_it() -> None:
    settings = prepare(method=METHOD, options=LEXICAL, limit=4).chosen.settings
    assert run_name(settings.plain()) == PUBLISHED_NAME
    named = [
        EngineIdentity(model=name, revision=f"sha256:{'0' * 64}", dtype="float32", window=8) for name in ("one", "another")
    ]
    assert len({run_name(settings.model_copy(update={"model": identity}).plain()) for identity in named}) == 1


@pytest.mark.slow
def test_a_run_that_the_first_version_began_goes_on_to_the_same_bytes_and_is_scored(tmp_path: Path) -> None:
    whole = execute(prepare(method=METHOD, options=LEXICAL, limit=3, out=tmp_path / "whole"))
    begun = tmp_path / "begun"
    execute(prepare(method=METHOD, options=LEXICAL, limit=3, out=begun))
    run = yaml.safe_load((begun / "run.yaml").read_text())
    (begun / "run.yaml").write_text(yaml.safe_dump(run | {"settings": older(run["settings"])}, sort_keys=False))
    for name in ("assessments.jsonl", "timings.jsonl"):
        (begun / name).write_text((begun / name).read_text().splitlines(keepends=True)[0])
    (begun / "summary.json").unlink()
    assert rescore(begun).method == whole.method
    assert rescore(begun).responses == 1
    assert execute(prepare(method=METHOD, options=LEXICAL, limit=3, out=begun)).scores == whole.scores
    for name in ("assessments.jsonl", "summary.json"):
        written = (begun / name).read_text().replace(str(begun), str(tmp_path / "whole"))
        assert written == (tmp_path / "whole" / name).read_text()


def test_other_settings_are_refused_in_an_older_run_too(tmp_path: Path) -> None:
    execute(prepare(method=METHOD, options=LEXICAL, limit=1, out=tmp_path / "run"))
    file = tmp_path / "run/run.yaml"
    run = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump(run | {"settings": older(run["settings"])}, sort_keys=False))
    other = LEXICAL.model_copy(update={"tables": "balanced"})
    with pytest.raises(RunFolderError, match="tables: paper -> balanced"):
        execute(prepare(method=METHOD, options=other, limit=1, out=tmp_path / "run"))


def test_a_run_of_ours_from_before_our_rules_is_not_mixed_with_them(tmp_path: Path) -> None:
    ours = {"options": LEXICAL, "limit": 1, "out": tmp_path / "run"}
    execute(prepare(method="builtin-fr2", **ours))
    file = tmp_path / "run/run.yaml"
    run = yaml.safe_load(file.read_text())
    assert run["settings"]["assessment"].pop("rules") == "own"
    file.write_text(yaml.safe_dump(run, sort_keys=False))
    with pytest.raises(RunFolderError, match="rules"):
        execute(prepare(method="builtin-fr2", **ours))
