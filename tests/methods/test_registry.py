"""The wiring: every option reaches the strategy that it is for, and the methods differ in what they promise."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from localfact.api.evaluate import execute, prepare
from localfact.api.sample import sample_corpus
from localfact.assess.factreasoner import FactReasoner
from localfact.claims.answer_only import AnswerOnly
from localfact.claims.given import GivenClaims
from localfact.claims.rules.extractor import RuleExtractor
from localfact.errors import CorpusError, InputError, MissingError
from localfact.methods.factreasoner import FactReasonerMethod
from localfact.methods.option_group import check_options
from localfact.methods.options import Options
from localfact.methods.registry import METHODS, find_method, method_for
from localfact.methods.settings import Settings
from localfact.methods.wiring import Configuration, configure, run_settings, wire
from localfact.pipeline import Pipeline, ignore_reports
from localfact.records import Claim, Evidence, Hit, Passage, passage_id

NO_VECTORS = Options(embedder="none")
BUILTIN = ("builtin-fr1", "builtin-fr2", "builtin-fr3")


def builtin(name: str) -> FactReasonerMethod:
    method = METHODS[name]
    assert isinstance(method, FactReasonerMethod)
    return method


def settings_of(name: str, options: Options) -> Settings:
    return run_settings(METHODS[name], options)


def judge_of(settings: Settings) -> FactReasoner:
    judge = METHODS[settings.method].assessor(settings, None)
    assert isinstance(judge, FactReasoner)
    return judge


def test_each_method_is_its_version_of_factreasoner_with_our_defaults() -> None:
    for version, name in enumerate(BUILTIN, start=1):
        method = builtin(name)
        settings = settings_of(name, NO_VECTORS)
        assert settings.plain()["assessment"]["relations"].startswith("lexical@")
        judge = judge_of(settings)
        assert (judge.version, judge.tables, judge.passage_prior, judge.solver) == (version, "balanced", 0.99, "auto")
        assert (judge.gate, dict(judge.host_priors)) == (method.gate, {})


def test_every_option_reaches_the_assessor() -> None:
    options = NO_VECTORS.model_copy(
        update={"tables": "paper", "passage_prior": 0.9, "hosts": {"x.example": 0.2}, "solver": "bp"}
    )
    judge = judge_of(settings_of("builtin-fr2", options))
    assert (judge.tables, judge.passage_prior, judge.solver) == ("paper", 0.9, "bp")
    assert judge.host_priors == {"x.example": 0.2}


async def test_options_decide_extraction_retrieval_and_merging() -> None:
    method = METHODS["builtin-fr2"]
    options = NO_VECTORS.model_copy(update={"corpus": sample_corpus(), "k": 2, "claims": "extract"})
    given = NO_VECTORS.model_copy(update={"claims": "given"})
    async with AsyncExitStack() as opened:
        road, _ = wire(Configuration(method, options, run_settings(method, options)), opened, observe=ignore_reports)
        other, _ = wire(Configuration(method, given, run_settings(method, given)), opened, observe=ignore_reports)
    assert isinstance(road.extractor, AnswerOnly)
    assert isinstance(road.extractor.extractor, RuleExtractor)
    assert isinstance(other.extractor, GivenClaims)


async def test_k_and_merging_reach_whoever_retrieves() -> None:
    options = NO_VECTORS.model_copy(update={"corpus": sample_corpus(), "k": 2, "claims": "extract"})
    async with AsyncExitStack() as opened:
        road, _ = wire(configure("builtin-fr2", options), opened, observe=ignore_reports)
        await retrieves_two_and_merges(road, options)


async def retrieves_two_and_merges(road: Pipeline, options: Options) -> None:
    claim = Claim(id="c1", text="Marie Curie was born in Warsaw.")
    (bare,) = prepare(options=options, limit=1).responses
    found = await road.retriever.retrieve(bare, [claim])
    assert len(found.hits["c1"]) == 2
    evidence = Evidence(passages=tuple(copies()), hits={"c1": tuple(hits())})
    merged = await road.retriever.retrieve(bare.model_copy(update={"claims": (claim,), "evidence": evidence}), [claim])
    assert len(merged.passages) == 1


def copies() -> list[Passage]:
    """Two passages that differ in their last word."""
    text = " ".join(f"word{number}" for number in range(120))
    return [Passage(id=passage_id(f"{text} {end}"), text=f"{text} {end}") for end in ("one", "two")]


def hits() -> list[Hit]:
    return [Hit(passage_id=passage.id, rank=rank, score=1 / rank) for rank, passage in enumerate(copies(), start=1)]


def test_what_cannot_be_used_is_refused_before_anything_is_loaded_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="solver"):
        prepare(options=NO_VECTORS.model_copy(update={"solver": "foo"}))
    with pytest.raises(InputError, match="--k"):
        check_options(Options, {"k": 0})
    with pytest.raises(InputError, match="builtin-fr2"):
        find_method("builtin-fr22")
    with pytest.raises(MissingError, match="corpus build"):
        prepare(options=NO_VECTORS.model_copy(update={"corpus": tmp_path}))


@pytest.mark.slow
def test_a_forced_start_that_fails_forgets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = prepare(options=NO_VECTORS, limit=1, out=tmp_path / "run")
    execute(job)
    before = (tmp_path / "run/assessments.jsonl").read_bytes()

    def damaged(*_: object, **__: object) -> None:
        raise CorpusError("the corpus is damaged")

    monkeypatch.setattr("localfact.api.evaluate.wire", damaged)
    with pytest.raises(CorpusError):
        execute(job, force=True)
    assert (tmp_path / "run/assessments.jsonl").read_bytes() == before


@pytest.mark.slow
def test_the_three_methods_differ_on_the_labelled_example(shared: Path, tmp_path: Path) -> None:
    pairs = []
    for name in BUILTIN:
        options = NO_VECTORS.model_copy(update={"relations": "lexical"})
        job = prepare(shared / "data/flaherty/flaherty_google.json", method=name, options=options, out=tmp_path / name)
        summary = execute(job)
        assert summary.claims == 26
        pairs.append(summary.usage["relate"]["pairs"])
        assert json.loads((tmp_path / name / "summary.json").read_text())["method"] == name
    assert pairs[0] < pairs[1] < pairs[2]


def test_factreasoner_as_published_has_the_papers_defaults() -> None:
    for version in (1, 2, 3):
        method = METHODS[f"factreasoner-fr{version}"]
        settings = run_settings(method, NO_VECTORS.model_copy(update={"relations": "lexical"}))
        judge = judge_of(settings)
        assert (judge.version, judge.tables, judge.passage_prior, judge.gate) == (version, "paper", 0.99, None)
        assert (settings.evidence.k, settings.evidence.merge_near_duplicates, settings.extraction.extractor) == (
            3,
            False,
            "rules",
        )


def test_factreasoner_asks_the_language_model_unless_another_relation_model_is_named() -> None:
    assert method_for("factreasoner-fr2", Options(relations="lexical")).name == "factreasoner-fr2"
    assert method_for("factreasoner-fr2", Options(model="qwen2.5-7b")).name == "factreasoner-fr2"
    with pytest.raises(InputError, match="--relations lexical"):
        method_for("factreasoner-fr2", Options())
    with pytest.raises(InputError, match="--queries llm"):
        method_for("factreasoner-fr2", Options(relations="lexical", queries="llm"))
    with pytest.raises(InputError, match="no relation model: its card has the roles embedder"):
        settings_of("builtin-fr2", Options(relations="minilm"))
    with pytest.raises(InputError, match=r"no relation model 'oracle'\. Take lexical, llm .* albert-vitaminc"):
        settings_of("builtin-fr2", Options(relations="oracle"))


def test_a_language_model_makes_localfact_the_default_and_fits_no_builtin_method() -> None:
    assert method_for(None, Options()).name == "builtin-fr2"
    assert method_for(None, Options(model="qwen2.5-7b")).name == "localfact"
    assert method_for(None, Options(replay=Path("calls.sqlite"))).name == "localfact"
    with pytest.raises(InputError, match="--model"):
        method_for("fastfact", Options())
    with pytest.raises(InputError, match="--model would change nothing in the method builtin-fr1: no language model is asked"):
        configure("builtin-fr1", Options(model="qwen2.5-7b"))
