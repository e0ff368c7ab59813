"""Relations by a language model: what is asked and in which order, exact probabilities, long pairs, what goes wrong."""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from engines import NEEDS_VLLM, Engines
from tiny_models import settings_of, tiny_llama

from localfact.errors import EngineError, InputError
from localfact.llm.engine import Chat, Choice, EngineIdentity
from localfact.llm.layers.metering import MeteringLayer
from localfact.llm.layers.policy import AskingPolicy, PolicyLayer
from localfact.llm.scripted import ScriptedEngine
from localfact.prompts import Boundary, relation_chat
from localfact.records import Distribution, Failure, Pair
from localfact.relations import llm
from localfact.relations.llm import LABELS, OPENED, LLMRelationModel, by_premise, llm_identity
from localfact.runtime.usage import Ledger, usage_counted_in

PASSAGES = ("The tower stands in Paris. It is 324 metres high.", "The bridge was opened in 1932 in Sydney.")
CLAIMS = ("The tower is in Paris.", "The bridge is in Perth.", "The tower was painted red.")
EVEN = {"entailment": 0.2, "contradiction": 0.3}


def asked(engine: ScriptedEngine) -> list[Pair]:
    """The pairs that the engine was asked, read from its prompts."""
    texts = [chat[-1].content.rpartition("Now answer for this pair.")[2] for chat in engine.calls]
    shown = [re.findall(r"<<(?:premise|hypothesis) \w+>>\n(.*?)\n<<end", text, re.DOTALL) for text in texts]
    return [Pair(*pair) for pair in shown]


def scripted(answers: Mapping[str, Mapping[str, float]], window: int = 32_768) -> ScriptedEngine:
    """Answers by a word that the asked pair has; `EVEN` where it has none of them."""

    def choose(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        text = chat[-1].content.rpartition("Now answer for this pair.")[2]
        return next((said for word, said in answers.items() if word in text), EVEN)

    return ScriptedEngine(choose=choose, window=window)


def one(prediction: Distribution | Failure) -> Distribution:
    assert isinstance(prediction, Distribution)
    return prediction


async def test_each_pair_gets_the_normalised_probabilities_of_the_three_words() -> None:
    engine = scripted({"Perth": {"entailment": 0.01, "contradiction": 0.06, "neutral": 0.03}})
    predictions = await LLMRelationModel(engine).relate([Pair(PASSAGES[1], CLAIMS[1]), Pair(PASSAGES[0], CLAIMS[0])])
    read = [one(prediction) for prediction in predictions]
    assert (read[0].entailment, read[0].contradiction, read[0].neutral) == pytest.approx((0.1, 0.6, 0.3))
    assert (read[1].entailment, read[1].contradiction, read[1].neutral) == pytest.approx((0.2, 0.3, 0.5))
    assert [prediction.windows for prediction in read] == [1, 1]


async def test_a_raw_probability_is_that_of_the_labels_own_tokens() -> None:
    engine = scripted({"Perth": {"entailment": 0.1, "contradiction": 0.4, "neutral": 0.1}})
    pair = Pair(PASSAGES[1], CLAIMS[1])
    (said,) = map(one, await LLMRelationModel(engine).relate([pair]))
    (raw,) = map(one, await LLMRelationModel(engine, p_star="raw").relate([pair]))
    assert (raw.label, raw.probability, said.probability) == (said.label, pytest.approx(0.4), pytest.approx(2 / 3))
    assert LLMRelationModel(engine, p_star="raw").identity != LLMRelationModel(engine).identity


async def test_a_pair_is_one_choice_and_nothing_is_decoded() -> None:
    ledger = Ledger()
    with usage_counted_in(ledger):
        await LLMRelationModel(MeteringLayer(scripted({}))).relate([Pair(PASSAGES[0], claim) for claim in CLAIMS])
    usage = ledger.stages["relate"]
    assert (usage.calls, usage.output_tokens) == (3, 0)


async def test_pairs_are_asked_passage_by_passage_whatever_their_order_and_equal_ones_once() -> None:
    engine = scripted({})
    mixed = [Pair(passage, claim) for claim in CLAIMS for passage in PASSAGES]
    predictions = await LLMRelationModel(engine).relate([*mixed, mixed[0]])
    assert len(predictions) == 7
    assert predictions[0] == predictions[6]
    assert asked(engine) == [Pair(passage, claim) for passage in PASSAGES for claim in CLAIMS]


def test_premises_come_in_the_order_in_which_they_are_first_named() -> None:
    pairs = [Pair("b", "1"), Pair("a", "1"), Pair("b", "2"), Pair("b", "1"), Pair("a", "0")]
    assert by_premise(pairs) == [Pair("b", "1"), Pair("b", "2"), Pair("a", "1"), Pair("a", "0")]


async def test_the_prompts_of_a_passage_have_all_but_the_claim_in_common() -> None:
    engine = scripted({})
    await LLMRelationModel(engine, seed=3).relate([Pair(PASSAGES[0], claim) for claim in CLAIMS])
    boundary = Boundary(3)
    begun = engine.calls[0][-1].content.partition(boundary.enclose("hypothesis", CLAIMS[0]))[0]
    assert PASSAGES[0] in begun
    assert all(chat[-1].content.startswith(begun) for chat in engine.calls)


async def test_no_more_pairs_than_an_engine_runs_wait_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm, "PAIRS_AT_ONCE", 4)
    waiting = most = 0

    class Slow(ScriptedEngine):
        async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", stage: str) -> Choice:
            nonlocal waiting, most
            waiting += 1
            most = max(most, waiting)
            await asyncio.sleep(0)
            waiting -= 1
            return await super().choose(chat, labels, prefix=prefix, stage=stage)

    await LLMRelationModel(Slow()).relate([Pair(PASSAGES[0], f"Claim {number}.") for number in range(20)])
    assert most == 4


def sized(engine: ScriptedEngine, words: int) -> ScriptedEngine:
    """The engine with a window that leaves a pair so many tokens."""
    around = asyncio.run(engine.count(relation_chat("", "", boundary=Boundary()), prefix="contradiction"))
    engine.identity = engine.identity.model_copy(update={"window": around + llm.SEAM_TOKENS + words})
    return engine


def test_a_long_premise_is_read_in_windows_of_sentences_and_the_most_decided_speaks() -> None:
    said = {"SURE": {"entailment": 0.7, "contradiction": 0.1}, "WEAK": {"entailment": 0.1, "contradiction": 0.5}}
    engine = sized(scripted(said), 200)
    sentence = "Rivers run to the sea and mountains stand where they always stood. "
    premise = sentence * 12 + "WEAK word here. " + sentence * 12 + "SURE word here. " + sentence * 12
    (prediction,) = asyncio.run(LLMRelationModel(engine).relate([Pair(premise, CLAIMS[0])]))
    read = asked(engine)[1:]
    assert len(read) > 3
    assert {pair.hypothesis for pair in read} == {CLAIMS[0]}
    assert " ".join(pair.premise for pair in read) == premise.strip()
    assert all(pair.premise.endswith((".", "stood.")) for pair in read)
    assert one(prediction).windows == len(read)
    assert one(prediction).entailment == pytest.approx(0.7)


def test_claims_share_the_windows_of_a_premise() -> None:
    engine = sized(scripted({}), 200)
    premise = "Rivers run to the sea and mountains stand where they always stood. " * 30
    asyncio.run(LLMRelationModel(engine).relate([Pair(premise, claim) for claim in CLAIMS]))
    shown = {claim: [pair.premise for pair in asked(engine) if pair.hypothesis == claim][1:] for claim in CLAIMS}
    assert shown[CLAIMS[0]] == shown[CLAIMS[1]] == shown[CLAIMS[2]]
    assert len(shown[CLAIMS[0]]) > 1


def test_of_two_long_passages_both_are_read_in_windows() -> None:
    engine = sized(scripted({}), 100)
    premise = " ".join(f"Rivers run {number} miles to the sea, and mountains stand where they stood." for number in range(8))
    (prediction,) = asyncio.run(LLMRelationModel(engine).relate([Pair(premise, premise.replace("Rivers", "Streams"))]))
    read = asked(engine)[1:]
    assert one(prediction).windows == len(read) == len(set(read))
    assert all("Streams" not in pair.premise and "Rivers" not in pair.hypothesis for pair in read)
    assert len({pair.premise for pair in read}) * len({pair.hypothesis for pair in read}) == len(read)


async def test_a_window_that_not_even_the_instructions_fit_fails_each_pair_alone() -> None:
    predictions = await LLMRelationModel(scripted({}, window=50)).relate([Pair("a", "b"), Pair("", "")])
    assert all(isinstance(prediction, Failure) for prediction in predictions)


class Refusing(ScriptedEngine):
    """Raises an error for prompts with the word "broken"."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", stage: str) -> Choice:
        if "broken" in chat[-1].content:
            raise self.error
        return await super().choose(chat, labels, prefix=prefix, stage=stage)


async def test_what_concerns_one_pair_is_a_failure_of_that_pair() -> None:
    model = LLMRelationModel(Refusing(InputError("The engine refuses the request.")))
    good, broken, other = await model.relate([Pair("a", "b"), Pair("a", "broken"), Pair("c", "d")])
    assert broken == Failure(reason="The engine refuses the request.")
    assert isinstance(good, Distribution)
    assert isinstance(other, Distribution)


async def test_an_engine_that_died_is_raised() -> None:
    with pytest.raises(EngineError, match="died"):
        await LLMRelationModel(Refusing(EngineError("It died."))).relate([Pair("a", "b"), Pair("a", "broken")])


def test_the_identity_holds_all_that_decides_an_answer_and_no_more() -> None:
    engine = EngineIdentity(model="tiny", revision="sha256:" + "0" * 64, dtype="float32", template="plain", window=2048)
    known = llm_identity(engine)
    assert LLMRelationModel(ScriptedEngine()).identity == llm_identity(ScriptedEngine().identity)
    for change in ({"revision": "sha256:" + "1" * 64}, {"dtype": "float16"}, {"quantisation": "fp8"}, {"template": "sha256:2"}):
        assert llm_identity(engine.model_copy(update=change)) != known
    assert llm_identity(engine, seed=1) != known
    assert llm_identity(engine.model_copy(update={"window": 4096, "model": "the same files under another name"})) == known


def test_the_identity_changes_with_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    before = llm_identity(ScriptedEngine().identity)
    monkeypatch.setattr(llm, "prompt_hashes", lambda *tasks, own: {"relation": "other"})
    assert llm_identity(ScriptedEngine().identity) != before


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama(tmp_path_factory.mktemp("models") / "pieces", "pieces", window=4096)


@pytest.fixture(scope="module")
def engine(folder: Path, engines: Engines) -> Any:
    return engines(settings_of(folder))


def expected(folder: Path, pair: Pair) -> dict[str, float]:
    """The labels' probabilities in transformers, where their tokens branch, normalised over the three."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval()
    (message,) = relation_chat(*pair, boundary=Boundary())
    chat = [{"role": message.role, "content": message.content}]
    begun = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(begun, add_special_tokens=False)["input_ids"]
    paths = {label: tokenizer(begun + label, add_special_tokens=False)["input_ids"][len(ids) :] for label in LABELS}
    firsts = {label: path[0] for label, path in paths.items()}
    assert len(set(firsts.values())) == 3, "one request a pair"
    with torch.no_grad():
        log_probs = torch.log_softmax(model(torch.tensor([ids])).logits[0, -1], dim=-1)
    weights = {label: math.exp(float(log_probs[token])) for label, token in firsts.items()}
    return {label: weight / sum(weights.values()) for label, weight in weights.items()}


@pytest.mark.slow
@NEEDS_VLLM
async def test_a_real_engine_gives_the_models_own_probabilities_with_one_prefill_a_pair(engine: Any, folder: Path) -> None:
    pairs = [Pair(passage, claim) for passage in PASSAGES for claim in CLAIMS]
    ledger = Ledger()
    with usage_counted_in(ledger):
        predictions = await LLMRelationModel(MeteringLayer(engine)).relate(pairs)
    for pair, prediction in zip(pairs, predictions, strict=True):
        probabilities = one(prediction).model_dump(include={*LABELS})
        assert probabilities == pytest.approx(expected(folder, pair), abs=1e-5)
    usage = ledger.stages["relate"]
    assert (usage.requests, usage.output_tokens) == (6, 0)


@pytest.mark.slow
@NEEDS_VLLM
async def test_a_real_engine_reads_a_pair_beyond_its_window_in_windows(engine: Any) -> None:
    long = "The tower is 324 metres high, and the answer to the question is true or false. " * 150
    (over,) = await LLMRelationModel(engine).relate([Pair(long, CLAIMS[0])])
    (both,) = await LLMRelationModel(engine).relate([Pair(long, long.replace("tower", "bridge"))])
    assert one(over).windows > 1
    assert one(both).windows > one(over).windows


def hesitant(behind_opening: float) -> PolicyLayer:
    """A model that gives the bare labels nothing, and so much to each of them behind the beginning of an answer."""

    def choose(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        return dict.fromkeys(labels, behind_opening if chat[-1].content == OPENED else 1e-6)

    return PolicyLayer(ScriptedEngine(choose=choose), AskingPolicy())


async def test_labels_that_the_model_would_not_write_are_asked_for_again_behind_the_beginning_of_an_answer() -> None:
    (said,) = await LLMRelationModel(hesitant(0.2)).relate([Pair("Ice is light.", "Ice floats.")])
    assert one(said).neutral == pytest.approx(1 / 3)


async def test_a_pair_whose_labels_mean_nothing_in_either_place_fails_alone() -> None:
    (said,) = await LLMRelationModel(hesitant(0.001)).relate([Pair("Ice is light.", "Ice floats.")])
    assert isinstance(said, Failure)
    assert "--min-mass" in said.reason


def test_the_least_mass_is_part_of_the_identity() -> None:
    engine = ScriptedEngine()
    assert LLMRelationModel(engine).identity != LLMRelationModel(engine, policy=AskingPolicy(min_mass=0.01)).identity
