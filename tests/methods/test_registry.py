"""The wiring: every option reaches the strategy that it is for, and the methods differ in what they promise."""

import json
from pathlib import Path

import pytest

from localfact.api.evaluate import execute, prepare, sample_corpus
from localfact.claims.given import GivenClaims
from localfact.claims.rules.extractor import RuleExtractor
from localfact.errors import CorpusError, InputError, MissingError
from localfact.methods.extraction import factreasoner, resolve
from localfact.methods.options import Options, options_of, read_engine_args, read_hosts
from localfact.methods.registry import METHODS, FactReasonerMethod, find_method, method_for
from localfact.methods.wiring import wire
from localfact.records import Claim, Evidence, Hit, Passage, passage_id

NO_VECTORS = Options(embedder="none")
BUILTIN = ("builtin-fr1", "builtin-fr2", "builtin-fr3")


def builtin(name: str) -> FactReasonerMethod:
    method = METHODS[name]
    assert isinstance(method, FactReasonerMethod)
    return method


def test_each_method_is_its_version_of_factreasoner_with_our_defaults() -> None:
    for version, name in enumerate(BUILTIN, start=1):
        method = builtin(name)
        assert resolve(method, NO_VECTORS)["relations"].startswith("builtin-nli@")
        judge = factreasoner(resolve(method, NO_VECTORS))
        assert (judge.version, judge.tables, judge.passage_prior, judge.solver) == (version, "balanced", 0.99, "auto")
        assert (judge.gate, dict(judge.host_priors)) == (method.gate, {})


def test_every_option_reaches_the_assessor() -> None:
    options = NO_VECTORS.model_copy(
        update={"tables": "paper", "passage_prior": 0.9, "hosts": {"x.example": 0.2}, "solver": "bp", "seed": 7}
    )
    judge = factreasoner(resolve(METHODS["builtin-fr2"], options))
    assert (judge.tables, judge.passage_prior, judge.solver, judge.seed) == ("paper", 0.9, "bp", 7)
    assert judge.host_priors == {"x.example": 0.2}


async def test_options_decide_extraction_retrieval_and_merging() -> None:
    method = METHODS["builtin-fr2"]
    options = NO_VECTORS.model_copy(update={"corpus": sample_corpus(), "k": 2, "claims": "extract"})
    road = wire(method, options, resolve(method, options))
    assert isinstance(road.extractor, RuleExtractor)
    given = NO_VECTORS.model_copy(update={"claims": "given"})
    assert isinstance(wire(method, given, resolve(method, given)).extractor, GivenClaims)
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
        options_of(k=0)
    with pytest.raises(InputError, match="builtin-fr2"):
        find_method("builtin-fr22")
    with pytest.raises(MissingError, match="corpus build"):
        prepare(options=NO_VECTORS.model_copy(update={"corpus": tmp_path}))


def test_a_forced_start_that_fails_forgets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = prepare(options=NO_VECTORS, limit=1, out=tmp_path / "run")
    execute(job)
    before = (tmp_path / "run/assessments.jsonl").read_bytes()

    def damaged(*_: object) -> None:
        raise CorpusError("the corpus is damaged")

    monkeypatch.setattr("localfact.api.evaluate.wire", damaged)
    with pytest.raises(CorpusError):
        execute(job, force=True)
    assert (tmp_path / "run/assessments.jsonl").read_bytes() == before


def test_a_table_of_hosts_is_read_in_lower_case_and_checked_by_host(tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text("Hearsay.Example: 0.5\n")
    assert read_hosts(file) == {"hearsay.example": 0.5}
    file.write_text("hearsay.example: 3\n")
    with pytest.raises(InputError, match="prior of hearsay"):
        read_hosts(file)
    file.write_text("")
    assert read_hosts(file) == read_hosts(None) == {}


def test_the_three_methods_differ_on_the_labelled_example(shared: Path, tmp_path: Path) -> None:
    pairs = []
    for name in BUILTIN:
        job = prepare(shared / "data/flaherty/flaherty_google.json", method=name, options=NO_VECTORS, out=tmp_path / name)
        summary = execute(job)
        assert summary.claims == 26
        pairs.append(summary.usage["relate"]["pairs"])
        assert json.loads((tmp_path / name / "summary.json").read_text())["method"] == name
    assert pairs[0] < pairs[1] < pairs[2]


def test_factreasoner_as_published_has_the_papers_defaults() -> None:
    for version in (1, 2, 3):
        method = METHODS[f"factreasoner-fr{version}"]
        settings = resolve(method, NO_VECTORS.model_copy(update={"relations": "lexical"}))
        judge = factreasoner(settings)
        assert (judge.version, judge.tables, judge.passage_prior, judge.gate) == (version, "paper", 0.99, None)
        assert (settings["k"], settings["merge_near_duplicates"], settings["extractor"]) == (3, False, "rules")


def test_factreasoner_asks_the_language_model_unless_another_relation_model_is_named() -> None:
    assert method_for("factreasoner-fr2", Options(relations="lexical")).name == "factreasoner-fr2"
    assert method_for("factreasoner-fr2", Options(model="qwen2.5-7b")).name == "factreasoner-fr2"
    with pytest.raises(InputError, match="--relations builtin-nli"):
        method_for("factreasoner-fr2", Options())
    with pytest.raises(InputError, match="--queries llm"):
        method_for("factreasoner-fr2", Options(relations="lexical", queries="llm"))
    with pytest.raises(InputError, match="no relation model: its card has the roles embedder"):
        resolve(METHODS["builtin-fr2"], Options(relations="minilm"))
    with pytest.raises(InputError, match=r"no relation model 'oracle'\. Take lexical, llm .* albert-vitaminc"):
        resolve(METHODS["builtin-fr2"], Options(relations="oracle"))


def test_a_language_model_makes_localfact_the_default_and_fits_no_builtin_method() -> None:
    assert method_for(None, Options()).name == "builtin-fr2"
    assert method_for(None, Options(model="qwen2.5-7b")).name == "localfact"
    assert method_for(None, Options(replay=Path("calls.sqlite"))).name == "localfact"
    with pytest.raises(InputError, match="--model"):
        method_for("fastfact", Options())
    with pytest.raises(InputError, match="uses no language model"):
        method_for("builtin-fr1", Options(model="qwen2.5-7b"))


def test_a_stride_is_a_number_or_max_as_typed() -> None:
    assert (options_of().stride, options_of(stride="3").stride) == ("max", 3)
    for typed in ("0", "²", "-1", "some"):
        with pytest.raises(InputError, match=f"--stride cannot be '?{typed}'?"):
            options_of(stride=typed)


def test_engine_arguments_are_read_once_each_with_dashes_or_underscores() -> None:
    assert read_engine_args(["max-model-len=8192", "dtype = float32"]) == {"max_model_len": "8192", "dtype": "float32"}
    with pytest.raises(InputError, match="key=value"):
        read_engine_args(["dtype"])
    with pytest.raises(InputError, match="twice"):
        read_engine_args(["dtype=float32", "dtype=bfloat16"])
