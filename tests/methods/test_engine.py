"""Which engine the options open: the one whose identity is written down; and who is meant by a name in a replay."""

import json
import shutil
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from counting_engine import CountingEngine, generate

from localfact.api.evaluate import execute, prepare
from localfact.errors import InputError
from localfact.llm.engine import EngineIdentity
from localfact.llm.layers.recording import RecordingLayer, describe_identity
from localfact.llm.placing.settings import EngineSettings, engine_settings
from localfact.llm.scripted import ScriptedEngine
from localfact.methods import engine
from localfact.methods.engine import EngineFacts, engine_facts, open_engine, read_recorded_identity
from localfact.methods.options import Options
from localfact.models.cards import find_card, load_card
from localfact.runtime.locations import data_folder

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "dtype": "float32",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "vocab_size": 10,
    "max_position_embeddings": 512,
}
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
CARD = find_card("llama-3.1-8b")


def model_folder(folder: Path, weights: str = "w") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "model.safetensors").write_text(weights)
    return folder


def identity_of(model: str | Path) -> EngineIdentity:
    return engine_settings(load_card(str(model))).identity


def identity(model: str, revision: str, **more: Any) -> EngineIdentity:
    return EngineIdentity(model=model, revision=revision, dtype="bfloat16", window=64, **more)


async def record(file: Path, *recorded: EngineIdentity) -> Path:
    """A transcript in which each of these answered the same call, with its own revision."""
    for one in recorded:
        engine = RecordingLayer(CountingEngine(one.revision[-6:], one), file)
        await generate(engine, "same")
        await engine.aclose()
    return file


async def replayed(file: Path, model: str | Path | None) -> str:
    async with AsyncExitStack() as opened:
        engine = open_engine(Options(replay=file, model=None if model is None else str(model)), opened)
        return (await generate(engine, "same")).text


async def test_a_card_is_replayed_by_every_name_that_it_can_be_recorded_by(tmp_path: Path) -> None:
    file = await record(tmp_path / "calls.sqlite", identity(CARD.name, CARD.revision), identity("other", "1"))
    (tmp_path / "own.yaml").write_text(f"{{name: my-llama, hub: {LLAMA}, revision: {CARD.revision}, roles: [llm]}}")
    names = [CARD.name, LLAMA, str(data_folder("models") / "llama-3.1-8b.yaml"), str(tmp_path / "own.yaml")]
    names += ["gone/llama-3.1-8b.yaml", f"{CARD.name}@{CARD.revision}", describe_identity(identity(CARD.name, CARD.revision))]
    for name in names:
        assert read_recorded_identity(file, name).model == CARD.name, name
        assert await replayed(file, name) == f"{CARD.revision[-6:]} 1"


async def test_a_hub_id_without_a_card_is_replayed_by_it(tmp_path: Path) -> None:
    file = await record(tmp_path / "calls.sqlite", identity("Some-Model_1.0", "a" * 40), identity("other", "1"))
    assert read_recorded_identity(file, "someone/Some-Model_1.0").model == "Some-Model_1.0"


@pytest.mark.parametrize("name", ["tiny", "tiny@home", "tiny.yaml"])
async def test_a_folder_is_replayed_by_its_path_there_or_gone(tmp_path: Path, name: str) -> None:
    folder = model_folder(tmp_path / "models" / name)
    file = await record(tmp_path / "calls.sqlite", identity_of(folder), identity("other", "1"))
    assert read_recorded_identity(file, str(folder)).model == name
    moved = folder.rename(tmp_path / "under-another-name")
    assert read_recorded_identity(file, str(moved)).model == name
    shutil.rmtree(moved)
    for gone in (str(folder), f"{folder}/", name):
        assert read_recorded_identity(file, gone).model == name


async def test_of_two_models_of_one_name_the_folder_s_files_tell_which(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "tiny")
    first = identity_of(folder)
    (folder / "model.safetensors").write_text("trained on")
    second = identity_of(folder)
    file = await record(tmp_path / "calls.sqlite", first, second)
    assert read_recorded_identity(file, str(folder)) == second
    (folder / "model.safetensors").write_text("w")
    assert read_recorded_identity(file, str(folder)) == first
    shutil.rmtree(folder)
    with pytest.raises(InputError, match="answers of several models: 'tiny@sha256"):
        read_recorded_identity(file, str(folder))


@pytest.mark.slow
async def test_a_model_under_two_names_is_one_model_and_its_answers_are_found_under_either(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "tiny")
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    file = tmp_path / "calls.sqlite"
    asked = []
    for path in (folder, copy):
        engine = CountingEngine("first", identity_of(path))
        recording = RecordingLayer(engine, file)
        assert (await generate(recording, "same")).text == "first 1"
        await recording.aclose()
        asked.append(engine.calls)
    assert asked == [1, 0]
    for model in (None, folder, copy, "tiny", "copy", "gone/copy"):
        assert await replayed(file, model) == "first 1"


async def test_who_is_not_in_a_transcript_is_named_as_typed(tmp_path: Path) -> None:
    file = await record(tmp_path / "calls.sqlite", identity("tiny", "1"))
    for model in ("owner/Other-Model", "gone/other", "qwen2.5-7b", "x" * 5000):
        with pytest.raises(InputError, match=f"keeps no answers of {model}, but of: 'tiny@1"):
            read_recorded_identity(file, model)


async def test_arguments_of_an_engine_that_is_not_started_are_refused(tmp_path: Path) -> None:
    file = await record(tmp_path / "calls.sqlite", identity("tiny", "1"))
    with pytest.raises(InputError, match=r"--engine-arg \(dtype\) would change nothing; leave it out"):
        open_engine(Options(replay=file, engine_args={"dtype": "float32"}), AsyncExitStack())


async def test_whoever_opened_an_engine_closes_it_with_the_rest(tmp_path: Path) -> None:
    closed = []

    class Closing(ScriptedEngine):
        async def aclose(self) -> None:
            closed.append(self)

    options = Options(model=str(model_folder(tmp_path / "tiny")))
    async with AsyncExitStack() as opened:
        open_engine(options, opened, start=lambda settings: Closing())
        assert not closed
    assert len(closed) == 1


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[EngineSettings]:
    """What engines were started from; scripted ones, in vLLM's place."""
    settings: list[EngineSettings] = []

    def start(given: EngineSettings) -> ScriptedEngine:
        settings.append(given)
        engine = ScriptedEngine()
        engine.identity = given.identity
        return engine

    monkeypatch.setattr("localfact.llm.cores.vllm.VLLMEngine", start)
    return settings


def test_the_engine_of_a_run_is_the_one_that_its_settings_name(
    tmp_path: Path, started: list[EngineSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = model_folder(tmp_path / "tiny")
    looked: list[Options] = []
    real = engine.start_settings
    monkeypatch.setattr(engine, "start_settings", lambda options, **_: looked.append(options) or real(options))
    job = prepare(options=Options(model=str(folder), embedder="none", calibrated=False), limit=1, out=tmp_path / "run")
    (folder / "model.safetensors").write_text("changed between the two")
    execute(job)
    written = yaml.safe_load((tmp_path / "run" / "run.yaml").read_text())["settings"]["model"]
    assert [settings.identity.model_dump(mode="json") for settings in started] == [written]
    assert len(looked) == 1


def test_a_run_goes_on_with_its_model_under_another_name_and_not_with_another(
    tmp_path: Path, started: list[EngineSettings]
) -> None:
    def job(model: Path, out: Path | None = tmp_path / "run") -> Any:
        return prepare(options=Options(model=str(model), embedder="none", calibrated=False), limit=1, out=out)

    folder = model_folder(tmp_path / "tiny")
    default = job(folder, out=None).out
    summary = execute(job(folder))
    moved = folder.rename(tmp_path / "moved")
    assert execute(job(moved)) == summary
    assert job(moved, out=None).out == default
    (moved / "model.safetensors").write_text("another")
    assert job(moved, out=None).out != default
    with pytest.raises(Exception, match=r"other settings \(model.model: tiny -> moved; model.revision"):
        execute(job(moved))


def test_facts_of_a_replay_open_no_engine_and_name_who_answered(tmp_path: Path, started: list[EngineSettings]) -> None:
    with pytest.raises(InputError, match="name only one of them"):
        engine_facts(Options(replay=tmp_path / "a", transcript=tmp_path / "b"))
    with pytest.raises(InputError, match="Name a language model with --model"):
        engine_facts(Options())
    assert not started


def test_replicas_are_kept_busy_and_a_cpu_has_no_more_rows_than_it_needs() -> None:
    found = {
        device: EngineFacts(identity("m", "r"), {"device": device, "replicas": 4}).at_once(256) for device in ("cuda", "cpu")
    }
    assert found == {"cuda": 1024, "cpu": 128}
    assert EngineFacts(identity("m", "r")).at_once(256) == 256  # a server, or a replay
