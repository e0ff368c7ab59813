"""Settings become a pipeline: what a user chose reaches the strategy that it is for."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal, cast

import pytest
import yaml
from asked_models import all_shown
from tiny_albert import tiny_albert

from localfact.api.evaluate import evaluate
from localfact.api.sample import sample_corpus
from localfact.assess.priormap import PriorMap
from localfact.evidence.queries import WRITTEN_QUERIES
from localfact.llm.engine import Chat
from localfact.llm.layers.recording import RecordingLayer
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.engine import EngineFacts, start_settings
from localfact.methods.options import Options
from localfact.methods.registry import METHODS
from localfact.methods.relations import find_relation_model
from localfact.methods.retrieval import is_replayed
from localfact.methods.settings import Settings
from localfact.methods.wiring import Configuration, configure, run_settings, wire
from localfact.models.model_card import ModelCard
from localfact.pipeline import Pipeline, ignore_reports
from localfact.records import Claim, Evidence, Pair, PreVerification, Response
from localfact.relations.llm import llm_identity
from localfact.relations.windows import READING_VERSION
from localfact.runs.assessments import read_assessments
from localfact.vocabulary import PreVerificationLabel

TEXT = "Johannes Kepler was born in 1571. He moved to Graz."
RESPONSE = Response(id="r", text=TEXT, prompt="Who was Kepler?")
MODEL = Options(model="scripted", embedder="none")


@pytest.mark.slow
async def test_what_is_found_has_the_identity_of_what_is_opened(tmp_path: Path) -> None:
    albert = str(tiny_albert(tmp_path / "albert"))
    for options in (Options(embedder="none"), Options(), Options(relations=albert)):
        found = find_relation_model(options)
        async with AsyncExitStack() as opened:
            assert found.identity == found.open(opened).identity


async def test_a_language_model_is_found_by_its_transcript(tmp_path: Path) -> None:
    file = tmp_path / "calls.sqlite"
    await RecordingLayer(engine := ScriptedEngine(), file).aclose()
    found = find_relation_model(Options(relations="llm", replay=file, seed=3))
    assert found.identity == llm_identity(engine.identity, 3)
    async with AsyncExitStack() as opened:
        assert found.open(opened).identity == found.identity


def settings_of(name: str, **chosen: object) -> Settings:
    facts = EngineFacts(ScriptedEngine().identity)
    return run_settings(METHODS[name], MODEL.model_copy(update=chosen), facts)


def answer(chat: Chat) -> str:
    """Takes the response apart, and puts the name for the pronoun of the one claim that it is then shown."""
    claims = all_shown(chat, "claim")
    if not claims:
        return "[1] Johannes Kepler was born in 1571.\n[2] He moved to Graz."
    return claims[-1].replace("He moved", "Johannes Kepler moved")


def wired(name: str, options: Options, engine: ScriptedEngine) -> Pipeline:
    """The pipeline of a method, with a scripted engine where vLLM would be started."""
    facts = EngineFacts(engine.identity, settings=cast("Any", object()))
    chosen = Configuration(METHODS[name], options, run_settings(METHODS[name], options, facts), facts)
    road, _ = wire(chosen, AsyncExitStack(), observe=ignore_reports, start=lambda _: engine)
    return road


async def test_factreasoner_with_a_model_takes_a_response_apart_and_revises_the_claims() -> None:
    road = wired("factreasoner-fr2", MODEL, ScriptedEngine(answer))
    extraction = await road.extractor.extract(RESPONSE)
    assert [claim.text for claim in extraction.claims] == [
        "Johannes Kepler was born in 1571.",
        "Johannes Kepler moved to Graz.",
    ]
    assert extraction.claims[1].original == "He moved to Graz."


async def test_a_model_is_not_asked_for_claims_that_are_given_nor_for_relations_of_another_model() -> None:
    engine = ScriptedEngine(answer)
    road = wired("factreasoner-fr2", MODEL.model_copy(update={"relations": "lexical"}), engine)
    given = RESPONSE.model_copy(update={"claims": (Claim(id="a", text="He moved to Graz."),)})
    assert (await road.extractor.extract(given)).claims == given.claims
    assert road.relation_model is not None
    await road.relation_model.relate([Pair("Kepler moved to Graz.", "He moved to Graz.")])
    assert not engine.calls


@pytest.mark.parametrize(("queries", "asked"), [("claim", 0), ("llm", 1)])
async def test_a_model_writes_the_queries_where_it_is_told_to(queries: Literal["claim", "llm"], asked: int) -> None:
    engine = ScriptedEngine(lambda chat: "Marie Curie birthplace Warsaw")
    options = MODEL.model_copy(update={"queries": queries, "corpus": sample_corpus()})
    claim = Claim(id="c1", text="Marie Curie was born in Warsaw.")
    evidence = await wired("factreasoner-fr2", options, engine).retriever.retrieve(RESPONSE, [claim])
    assert evidence.hits["c1"]
    assert len(engine.calls) == asked
    assert (WRITTEN_QUERIES in evidence.notes) == bool(asked)


def test_settings_name_the_prompts_that_a_method_sends_and_how_long_pairs_are_read() -> None:
    told = {name: settings_of(name) for name in ("fastfact", "localfact", "factreasoner-fr2")}
    assert {name: set(settings.prompts or ()) for name, settings in told.items()} == {
        "fastfact": {"extraction", "verification"},
        "localfact": {"extraction", "relation"},
        "factreasoner-fr2": {"atomization", "revision", "relation"},
    }
    relations = [told[name].plain()["assessment"]["relations"] for name in ("localfact", "factreasoner-fr2")]
    assert relations == [f"llm+reading={READING_VERSION}"] * 2
    assert told["localfact"].plain()["extraction"]["confidence"] == "distribution"
    assert told["fastfact"].plain()["extraction"]["confidence"] == "token"
    assert "query" in (settings_of("factreasoner-fr2", queries="llm").prompts or ())


async def test_a_map_of_priors_reaches_the_assessor(tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    file.write_text(PriorMap(knots=((0.0, 0.3), (1.0, 0.3))).model_dump_json())
    road = wired("localfact", MODEL.model_copy(update={"prior_map": file}), ScriptedEngine())
    likely = PreVerification(label=PreVerificationLabel.LIKELY_SUPPORTED, confidence=0.9)
    claim = Claim(id="c1", text="He moved to Graz.", preverification=likely)
    judgement = await road.assessor.assess(RESPONSE, [claim], Evidence(), {})
    assert judgement.verdicts[0].posterior == pytest.approx(0.3)


def test_memory_is_left_for_a_relation_model_beside_the_language_model(monkeypatch: pytest.MonkeyPatch) -> None:
    reserved: list[float] = []
    settings = "localfact.llm.placing.settings.engine_settings"
    monkeypatch.setattr(settings, lambda card, **more: reserved.append(more["reserved_gib"]))
    card = ModelCard(name="some-encoder", revision="abc", roles=("relations",))
    monkeypatch.setattr("localfact.methods.engine.load_card", lambda name: card)
    for relations in (None, "lexical", "llm", "some-encoder"):
        start_settings(Options(model="some-model", embedder="none", relations=relations))
    assert reserved[:3] == [0, 0, 0]
    assert reserved[3] > 0


@pytest.mark.slow
def test_a_second_opinion_is_asked_about_what_would_decide_and_kept_in_a_file_of_its_own(tmp_path: Path) -> None:
    options = Options(
        relations="lexical", second_opinion=str(tiny_albert(tmp_path / "encoder")), claims="given", embedder="none"
    )
    row = {
        "prompt": "Tell me about the mill.",
        "response": "The mill of Torsk opened in 1911.",
        "claims": ["The mill of Torsk opened in 1911."],
        "passages": [{"text": "The mill of Torsk opened in 1911.", "title": "Mill"}],
    }
    evaluate([row], method="builtin-fr2", options=options, out=tmp_path / "run")
    (assessment,) = read_assessments(tmp_path / "run")
    assert assessment.counts["relate"]["second_opinions"] == 1
    settings = yaml.safe_load((tmp_path / "run/run.yaml").read_text(encoding="utf-8"))["settings"]["assessment"]
    assert settings["second_opinion"].startswith("encoder@")
    assert (tmp_path / "run/second-relations.sqlite").is_file()


def test_settings_know_of_a_second_opinion_only_where_there_is_one() -> None:
    assert "second_opinion" not in settings_of("factreasoner-fr2").plain()["assessment"]
    asked = settings_of("factreasoner-fr2", relations="lexical", second_opinion="llm")
    assert asked.plain()["assessment"]["second_opinion"].startswith("llm+reading")
    assert "relation" in (asked.prompts or ())


@pytest.mark.parametrize(("method", "label"), [("builtin-fr2", "unverifiable"), ("factreasoner-fr2", "undecided")])
async def test_what_the_relation_model_cannot_read_is_withheld_by_our_own_rules_alone(method: str, label: str) -> None:
    options = Options(relations="lexical", embedder="none", corpus=sample_corpus())
    claim = Claim(id="a", text="Der Turm steht in Paris, und er ist 324 Meter hoch.")
    async with AsyncExitStack() as opened:
        road, _ = wire(configure(method, options), opened, observe=ignore_reports)
        judgement = await road.assessor.assess(Response(id="r", text=claim.text), [claim], Evidence(), {})
    assert judgement.verdicts[0].label == label


@pytest.mark.parametrize(
    ("chosen", "replayed"), [({}, True), ({"queries": "llm"}, False), ({"providers": ("duckduckgo",)}, False)]
)
def test_passages_come_from_a_transcript_unless_the_model_writes_queries_or_the_web_is_searched(
    chosen: dict[str, Any], replayed: bool, tmp_path: Path
) -> None:
    queries = {"queries": chosen["queries"]} if "queries" in chosen else {}
    options = MODEL.model_copy(update={"replay": tmp_path / "calls.sqlite", **chosen})
    assert is_replayed(options, settings_of("localfact", **queries).evidence) is replayed
