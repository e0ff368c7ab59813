"""What every relation model promises (`stages.RelationModel`), held over all of them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tiny_albert import tiny_albert

from localfact.api.roc import Windowed
from localfact.errors import InputError
from localfact.llm.engine import Chat, Choice
from localfact.llm.scripted import ScriptedEngine
from localfact.models.cards import load_card
from localfact.prompts import Boundary, relation_chat
from localfact.records import Distribution, Failure, Pair
from localfact.relations.cache import CachedRelations, ReportingModel
from localfact.relations.crossencoder import CrossEncoderRelationModel
from localfact.relations.lexical.model import LexicalRelationModel
from localfact.relations.llm import LLMRelationModel
from localfact.stages import RelationModel

PREMISES = ("Mirela Vantos was born in Split in 1902.", "The lighthouse stands 35 metres tall. It was built in 1862.")
CLAIMS = ("Mirela Vantos was born in 1902.", "The lighthouse was never built.", "Granite floats.")
PAIRS = [Pair(premise, claim) for claim in CLAIMS for premise in PREMISES]
#: What no model of ours can read as it stands, or what only some can: alone it may fail, beside others it changes nothing.
ODD = [Pair("", ""), Pair("\ud800\x00", "🙂"), Pair("REFUSED", "a"), Pair("word " * 3_000, "REFUSED. " * 300)]


class Engine(ScriptedEngine):
    """Gives every prompt other probabilities, and refuses some."""

    def __init__(self) -> None:
        super().__init__(choose=self.probabilities)

    def probabilities(self, chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        share = sum(map(ord, chat[-1].content)) % 97 / 100
        return {labels[0]: 0.01 + share * 0.9, labels[1]: (1 - share) * 0.5}

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", stage: str) -> Choice:
        if "REFUSED" in chat[-1].content:
            raise InputError("The engine refuses the request.")
        return await super().choose(chat, labels, prefix=prefix, stage=stage)


@pytest.fixture(params=["lexical", "llm", "crossencoder", "kept"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RelationModel]:
    if request.param == "crossencoder":
        encoder = CrossEncoderRelationModel(load_card(str(tiny_albert(tmp_path, window=512))), device="cpu")
        yield encoder
        encoder.close()
    elif request.param == "kept":
        keeper = CachedRelations(LLMRelationModel(Engine()), tmp_path / "relations.sqlite")
        yield keeper
        keeper.close()
    else:
        yield LLMRelationModel(Engine()) if request.param == "llm" else LexicalRelationModel()


async def test_there_is_one_prediction_a_pair_in_the_order_of_the_pairs(model: RelationModel) -> None:
    predictions = await model.relate(PAIRS)
    assert len(predictions) == len(PAIRS)
    assert list(await model.relate(PAIRS[::-1]))[::-1] == list(predictions)
    assert [(await model.relate([pair]))[0] for pair in PAIRS] == list(predictions)
    assert len({str(prediction) for prediction in predictions}) == len(PAIRS)


@pytest.mark.parametrize("model", ["llm", "crossencoder"], indirect=True)
async def test_a_model_that_takes_long_tells_each_pair_once_and_the_same(model: RelationModel) -> None:
    assert isinstance(model, ReportingModel)
    told: list[tuple[Pair, Distribution | Failure]] = []
    pairs = [*ODD[:3], *PAIRS, *PAIRS[:2]]
    await model.relate_reporting(pairs, lambda said: told.extend(said.items()))
    assert len(told) == len(dict(told)) == len(set(pairs))
    assert [dict(told)[pair] for pair in pairs] == list(await model.relate(pairs))


async def test_predictions_are_distributions(model: RelationModel) -> None:
    for prediction in await model.relate(PAIRS):
        assert isinstance(prediction, Distribution)
        assert prediction.entailment + prediction.contradiction + prediction.neutral == pytest.approx(1)


async def test_equal_pairs_have_equal_predictions(model: RelationModel) -> None:
    predictions = await model.relate([PAIRS[0], PAIRS[1], PAIRS[0], Pair(*PAIRS[0])])
    assert predictions[0] == predictions[2] == predictions[3] != predictions[1]


@pytest.mark.slow
async def test_an_odd_pair_concerns_itself_alone(model: RelationModel) -> None:
    expected = list(await model.relate(PAIRS))
    mixed = await model.relate([ODD[0], *PAIRS[:3], *ODD[1:3], *PAIRS[3:], ODD[3]])
    assert [*mixed[1:4], *mixed[6:9]] == expected
    odd = [mixed[0], mixed[4], mixed[5], mixed[9]]
    assert all(isinstance(prediction, Distribution | Failure) for prediction in odd)


async def test_no_pairs_have_no_predictions(model: RelationModel) -> None:
    assert list(await model.relate([])) == []


async def test_the_identity_is_a_name_that_stays(model: RelationModel) -> None:
    before = model.identity
    await model.relate(PAIRS)
    assert before
    assert model.identity == before


def sized(words: int) -> Pair:
    """A pair whose premise is so many short sentences."""
    return Pair("Granite sinks in it. " * words, CLAIMS[0])


async def test_a_pair_fits_a_model_when_it_is_read_at_once_and_only_then(tmp_path: Path) -> None:
    around = await ScriptedEngine().count(relation_chat("", "", boundary=Boundary()))
    encoder = CrossEncoderRelationModel(load_card(str(tiny_albert(tmp_path / "albert"))))
    for model in (LLMRelationModel(ScriptedEngine(window=around + 200)), encoder):
        assert isinstance(model, Windowed)
        pairs = [sized(words) for words in (0, 1, 5, 10, 15, 20, 40, 80, 160)]
        read = [one.windows == 1 for one in await model.relate(pairs) if isinstance(one, Distribution)]
        assert read == [await model.fits(pair) for pair in pairs]
        assert read[0]
        assert not read[-1]
    encoder.close()
