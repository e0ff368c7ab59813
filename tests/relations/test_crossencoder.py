"""The cross-encoder against the same model called plainly; labels, windows, batches, weights that cannot be used."""

import asyncio
import itertools
import math
import random
import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_albert import LABELS, SENTENCES, WINDOW, pairs_of, tiny_albert

from localfact.errors import InputError, MissingError
from localfact.models.cards import load_card
from localfact.models.cross_encoder import BatchShape, Tokens
from localfact.models.model_card import ModelCard
from localfact.records import Distribution, Failure, Pair
from localfact.relations.crossencoder import CrossEncoderRelationModel, Prepared, cross_encoder_identity
from localfact.relations.labels import label_of
from localfact.relations.windows import measure_cutting, windows

#: What the outputs of the tiny model stand for.
NAMES = ("entailment", "contradiction", "neutral")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_albert(tmp_path_factory.mktemp("albert"))


@pytest.fixture(scope="module")
def model(folder: Path) -> CrossEncoderRelationModel:
    return CrossEncoderRelationModel(load_card(str(folder)), device="cpu")


class Plain:
    """The same weights, a pair at a time, as transformers' own examples do it."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = AutoModelForSequenceClassification.from_pretrained(folder).eval()

    def tokens(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def __call__(self, pair: Pair) -> dict[str, float]:
        import torch

        encoded = self.tokenizer(pair.premise, pair.hypothesis, return_tensors="pt")
        assert encoded["input_ids"].shape[1] <= WINDOW
        with torch.no_grad():
            (probabilities,) = torch.softmax(self.model(**encoded).logits, dim=-1).tolist()
        return dict(zip(NAMES, probabilities, strict=True))


@pytest.fixture(scope="module")
def plain(folder: Path) -> Iterator[Plain]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several would wait for each other, for longer than this model takes
    yield Plain(folder)
    torch.set_num_threads(threads)


def numbers(prediction: Distribution | Failure) -> dict[str, float]:
    assert isinstance(prediction, Distribution)
    return {name: getattr(prediction, name) for name in NAMES}


def related(model: CrossEncoderRelationModel, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
    return asyncio.run(model.relate(pairs))


def test_pairs_that_fit_get_the_probabilities_that_the_model_gives_them(model: CrossEncoderRelationModel, plain: Plain) -> None:
    pairs = [pair for pair in pairs_of(50, 9, 4) if plain.tokens(pair.premise) + plain.tokens(pair.hypothesis) <= WINDOW - 3]
    assert len(pairs) > 25
    predictions = related(model, pairs)
    assert {prediction.label.value for prediction in predictions if isinstance(prediction, Distribution)} == set(NAMES)
    for pair, prediction in zip(pairs, predictions, strict=True):
        assert numbers(prediction) == pytest.approx(plain(pair), abs=1e-5)
        assert isinstance(prediction, Distribution)
        assert prediction.windows == 1
        assert math.fsum(numbers(prediction).values()) == pytest.approx(1, abs=1e-12)


def test_a_pair_that_fills_the_window_is_read_whole_and_a_token_more_is_read_in_two(
    model: CrossEncoderRelationModel, plain: Plain
) -> None:
    hypothesis = SENTENCES[0][:30]
    room = WINDOW - 3 - plain.tokens(hypothesis)
    words = " ".join(SENTENCES).split()
    word = next(word for word in words if plain.tokens(f"a {word}") == plain.tokens("a") + plain.tokens(word) == 4)
    fitting = f"{'x' * (room % 3 - 1)} {word}"
    while plain.tokens(f"{fitting} a") <= room:
        fitting += " a"
    while plain.tokens(fitting) < room:
        fitting += "x"
    assert plain.tokens(fitting) == room
    full, longer = related(model, [Pair(fitting, hypothesis), Pair(fitting + " a", hypothesis)])
    assert numbers(full) == pytest.approx(plain(Pair(fitting, hypothesis)), abs=1e-5)
    assert isinstance(full, Distribution)
    assert isinstance(longer, Distribution)
    assert (full.windows, longer.windows) == (1, 2)


@pytest.mark.parametrize(("premise", "hypothesis"), [(90, 5), (5, 90), (50, 50), (120, 0), (0, 120)])
def test_longer_pairs_get_those_of_their_most_decided_window(
    model: CrossEncoderRelationModel, plain: Plain, premise: int, hypothesis: int
) -> None:
    pairs = pairs_of(3, premise, hypothesis)
    for pair, prediction in zip(pairs, related(model, pairs), strict=True):
        read = measure_cutting(windows(pair, WINDOW - 3), plain.tokens)
        decided = max(map(plain, read), key=lambda one: max(one["entailment"], one["contradiction"]))
        assert numbers(prediction) == pytest.approx(decided, abs=1e-5)
        assert isinstance(prediction, Distribution)
        assert prediction.windows == len(read)


def test_only_the_premise_is_cut_beside_a_claim(model: CrossEncoderRelationModel, plain: Plain) -> None:
    claim = "Granite was cut in the quarries."
    read = measure_cutting(windows(Pair(" ".join(SENTENCES * 4), claim), WINDOW - 3), plain.tokens)
    assert len(read) > 4
    assert {pair.hypothesis for pair in read} == {claim}


@pytest.mark.parametrize("labels", list(itertools.permutations(("entailment", "Contradiction", "NEUTRAL"))))
def test_outputs_are_known_by_their_names_in_any_order(tmp_path: Path, plain: Plain, labels: tuple[str, ...]) -> None:
    pair = Pair(SENTENCES[1][:40], SENTENCES[2][:20])
    permuted = CrossEncoderRelationModel(load_card(str(tiny_albert(tmp_path, labels=labels))), device="cpu")
    outputs = list(plain(pair).values())
    (prediction,) = related(permuted, [pair])
    expected = {label.casefold(): output for label, output in zip(labels, outputs, strict=True)}
    assert numbers(prediction) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["ENTAILMENT", "Supports", "entails"])
def test_usual_spellings_are_known(name: str) -> None:
    assert label_of(name) == "entailment"


def test_other_spellings_are_known_and_generic_ones_are_not() -> None:
    assert [label_of(name) for name in ("REFUTES", "contradiction")] == ["contradiction"] * 2
    assert [label_of(name) for name in ("NOT ENOUGH INFO", "not_enough_info", "Neutral", "NEI")] == ["neutral"] * 4
    assert [label_of(name) for name in ("LABEL_0", "not_entailment", "")] == [None] * 3


def own_card(folder: Path, **stated: Any) -> ModelCard:
    return load_card(str(folder)).model_copy(update=stated)


def test_generic_names_are_refused_unless_the_card_gives_the_order(tmp_path: Path, plain: Plain) -> None:
    folder = tiny_albert(tmp_path, labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(InputError, match=r"LABEL_0, LABEL_1, LABEL_2.*labels: \[entailment, contradiction, neutral\]"):
        CrossEncoderRelationModel(own_card(folder), device="cpu")
    with pytest.raises(InputError, match="Say in its card which is which"):
        CrossEncoderRelationModel(own_card(folder, labels=("neutral", "neutral", "entailment")), device="cpu")
    card = own_card(folder, labels=("neutral", "contradiction", "entailment"))
    pair = Pair(SENTENCES[1][:40], SENTENCES[2][:20])
    (prediction,) = related(CrossEncoderRelationModel(card, device="cpu"), [pair])
    outputs = plain(pair)
    assert numbers(prediction) == pytest.approx(
        {"neutral": outputs["entailment"], "contradiction": outputs["contradiction"], "entailment": outputs["neutral"]},
        abs=1e-5,
    )
    assert cross_encoder_identity(card) != cross_encoder_identity(own_card(folder, labels=NAMES))


@pytest.mark.parametrize("labels", [("entailment", "not_entailment"), ("entailment", "LABEL_1", "neutral"), (*NAMES, "other")])
def test_a_model_that_tells_other_things_apart_is_refused(tmp_path: Path, labels: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="has the outputs entailment"):
        CrossEncoderRelationModel(load_card(str(tiny_albert(tmp_path, labels=labels))), device="cpu")


def test_a_card_that_contradicts_the_model_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="its card says neutral, contradiction, entailment"):
        CrossEncoderRelationModel(own_card(folder, labels=NAMES[::-1]), device="cpu")
    assert CrossEncoderRelationModel(own_card(folder, labels=NAMES), device="cpu").order == NAMES


def test_the_card_that_ships_says_the_order_that_vitaminc_has() -> None:
    card = load_card("albert-vitaminc")
    assert card.labels == tuple(label_of(name) for name in LABELS)
    assert card.window == 512


@pytest.mark.slow
def test_a_prediction_is_the_same_to_the_last_bit_whatever_is_asked_with_it(model: CrossEncoderRelationModel) -> None:
    pairs = pairs_of(40, 60, 20)
    together = related(model, pairs)
    assert list(related(model, pairs[::-1]))[::-1] == together
    assert [related(model, [pair])[0] for pair in pairs[:10]] == together[:10]
    assert related(model, [pairs[3], pairs[5], pairs[3]]) == [together[3], together[5], together[3]]


def in_batches(folder: Path, shape: BatchShape) -> CrossEncoderRelationModel:
    made = CrossEncoderRelationModel(load_card(str(folder)), device="cpu")
    made._encoder.shape = shape
    return made


@pytest.mark.slow
def test_batches_as_on_a_gpu_differ_by_rounding_only_whatever_is_in_them(
    model: CrossEncoderRelationModel, folder: Path
) -> None:
    pairs = pairs_of(40, 60, 20)
    batched = in_batches(folder, BatchShape(step=16, tokens=128))
    together = related(batched, pairs)
    for alone, other in zip(related(model, pairs), together, strict=True):
        assert numbers(other) == pytest.approx(numbers(alone), abs=1e-5)
    shuffled = list(range(40))
    random.Random(0).shuffle(shuffled)
    # Of equal shapes, some processors still round a row otherwise in another place of its batch.
    for place, moved in zip(shuffled, related(batched, [pairs[place] for place in shuffled]), strict=True):
        assert numbers(moved) == pytest.approx(numbers(together[place]), abs=1e-6)
    assert numbers(related(batched, pairs[7:8])[0]) == pytest.approx(numbers(together[7]), abs=1e-6)


def test_equal_pairs_and_windows_are_computed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = CrossEncoderRelationModel(load_card(str(folder)), device="cpu")
    computed: list[int] = []
    outputs = model._outputs
    monkeypatch.setattr(model, "_outputs", lambda batch: computed.append(len(batch)) or outputs(batch))
    pair = Pair("Granite was cut.", "Granite was cut in the town.")
    assert len({prediction.model_dump_json() for prediction in related(model, [pair] * 5)}) == 1
    assert sum(computed) == 1


async def test_many_responses_may_ask_at_once_and_the_loop_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = CrossEncoderRelationModel(load_card(str(folder)), device="cpu")
    threads: list[int] = []
    steps: list[str] = []
    prepare, predict = model._prepare, model._predict

    def prepared(pairs: Sequence[Pair]) -> Prepared:
        threads.append(threading.get_ident())
        steps.append("prepared")
        return prepare(pairs)

    async def predicted(*arguments: Any) -> None:
        await predict(*arguments)
        steps.append("predicted")

    monkeypatch.setattr(model, "_prepare", prepared)
    monkeypatch.setattr(model, "_predict", predicted)
    pairs = pairs_of(24, 20, 8)
    answers = await asyncio.gather(*(model.relate(pairs[begin : begin + 4]) for begin in range(0, 24, 4)))
    assert [one for several in answers for one in several] == await model.relate(pairs)
    assert threading.get_ident() not in threads
    assert len(set(threads)) == 1, "the tokenizer is asked by one thread"
    held = list(itertools.accumulate(1 if step == "prepared" else -1 for step in steps))
    assert max(held) <= 2, "one call is prepared while another is predicted, and no third"
    assert held[-1] == 0
    model.close()


def test_a_model_serves_one_event_loop_after_another(folder: Path) -> None:
    model = CrossEncoderRelationModel(load_card(str(folder)), device="cpu")

    async def both() -> list[Sequence[Distribution | Failure]]:
        return await asyncio.gather(*(model.relate(pairs_of(4, 20, 8)) for _ in range(3)))

    assert asyncio.run(both()) == asyncio.run(both())
    model.close()


async def test_pairs_are_told_batch_by_batch_and_long_ones_with_their_last_window(folder: Path) -> None:
    model = in_batches(folder, BatchShape(step=16, tokens=16 * 4))
    short = [Pair(f"{number}", "a") for number in range(10)]
    long = Pair(" ".join(SENTENCES * 2), "Granite was cut.")
    told: list[list[Pair]] = []
    await model.relate_reporting([*short, long], lambda said: told.append(list(said)))
    assert [long] in told
    assert sorted(len(pairs) for pairs in told if pairs != [long]) == [2, 4, 4]
    model.close()


def test_a_pair_whose_windows_are_equal_counts_them_all_and_is_told_once(
    model: CrossEncoderRelationModel, plain: Plain
) -> None:
    pair = Pair(" ".join([SENTENCES[0]] * 6), "Granite was cut.")
    read = measure_cutting(windows(pair, WINDOW - 3), plain.tokens)
    assert len(set(read)) < len(read)
    told: list[Distribution | Failure] = []
    asyncio.run(model.relate_reporting([pair], lambda said: told.extend(said.values())))
    assert [one.windows for one in told if isinstance(one, Distribution)] == [len(read)]


async def test_an_error_of_the_device_is_raised_as_it_is(folder: Path) -> None:
    model = CrossEncoderRelationModel(load_card(str(folder)), device="cpu")

    def broken(batch: Sequence[Tokens]) -> list[list[float]]:
        raise MemoryError("out of memory")

    model._outputs = broken  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        await model.relate(pairs_of(20, 9, 4))
    model.close()


@pytest.mark.slow
def test_text_of_any_kind_gets_a_distribution(model: CrossEncoderRelationModel) -> None:
    odd = ["", " ", "\x00", "\ud800 half", "北京是中国的首都。" * 40, "🙂" * 400, "x" * 5_000, "[CLS] [SEP] <pad>", "\n\n"]
    predictions = related(model, [Pair(premise, hypothesis) for premise in odd for hypothesis in odd])
    for prediction in predictions:
        assert all(math.isfinite(number) for number in numbers(prediction).values())


def test_marks_of_the_tokenizer_in_a_text_are_text(model: CrossEncoderRelationModel) -> None:
    marks = set(model._encoder.tokenizer.all_special_ids) - {model._encoder.tokenizer.unk_token_id}
    read = model._tokens(Pair("Granite sinks. [SEP] Granite floats. [SEP] <pad>", "[CLS] Granite floats. [SEP]"))
    assert sum(number in marks for number in read.fields["input_ids"]) == 3
    assert len(set(read.fields["attention_mask"])) == 1


def test_numbers_that_are_none_fail_their_pair(folder: Path) -> None:
    model = CrossEncoderRelationModel(load_card(str(folder)), device="cpu")
    model._encoder.model.classifier.bias.data.fill_(math.nan)
    (prediction,) = related(model, [Pair("a", "b")])
    assert isinstance(prediction, Failure)
    assert "NaN" in prediction.reason


def test_a_failed_window_fails_its_pair_and_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = CrossEncoderRelationModel(load_card(str(folder)), device="cpu")
    outputs = model._outputs
    monkeypatch.setattr(
        model, "_outputs", lambda batch: [[math.inf] * 3 if row.length > WINDOW // 2 else outputs([row])[0] for row in batch]
    )
    short, long = Pair("Granite", "stands"), Pair(" ".join(SENTENCES), "stands")
    answers = related(model, [short, long, short])
    assert [type(answer) for answer in answers] == [Distribution, Failure, Distribution]


def test_a_window_too_small_to_read_anything_in_fails_its_pairs(folder: Path) -> None:
    model = CrossEncoderRelationModel(own_card(folder, window=4), device="cpu")
    long, empty = related(model, [Pair("Granite was cut.", "It was."), Pair("", "")])
    assert isinstance(long, Failure)
    assert "too few" in long.reason
    assert isinstance(empty, Distribution)


def test_the_identity_is_known_before_the_model_is_loaded(
    model: CrossEncoderRelationModel, folder: Path, tmp_path: Path
) -> None:
    assert model.identity == cross_encoder_identity(load_card(str(folder)))
    assert model.identity.split("+")[1] == "float32"
    other = load_card(str(tiny_albert(tmp_path, seed=5))).model_copy(update={"name": folder.name})
    assert cross_encoder_identity(other) != model.identity
    assert cross_encoder_identity(own_card(folder, window=20)) != model.identity


def test_a_model_without_a_trained_head_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lack classifier\.bias.*trained for sequence classification"):
        CrossEncoderRelationModel(load_card(str(tiny_albert(tmp_path, head=False))), device="cpu")


def test_damaged_weights_are_told(tmp_path: Path) -> None:
    tiny_albert(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"these are not weights")
    with pytest.raises(InputError, match="could not be loaded as the relation model"):
        CrossEncoderRelationModel(load_card(str(tmp_path)), device="cpu")


def test_a_card_of_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match="no relation model; its roles are: embedder"):
        CrossEncoderRelationModel(load_card("minilm"))


def test_missing_weights_are_told_with_the_places_that_were_looked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("LOCALFACT_WEIGHTS", raising=False)
    card = ModelCard(name="own", hub="someone/own", revision="main", roles=("relations",))
    with pytest.raises(
        MissingError, match=r"models/weights/own; \$LOCALFACT_WEIGHTS.*Hugging Face cache.*models pull someone/own"
    ):
        CrossEncoderRelationModel(card)


def test_nothing_is_asked_from_the_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    CrossEncoderRelationModel(load_card(str(folder)), device="cpu")


def test_a_model_is_computed_in_the_precision_of_its_card(folder: Path) -> None:
    model = CrossEncoderRelationModel(own_card(folder, labels=NAMES, dtype="bfloat16"), device="cpu")
    assert str(model._encoder.model.dtype) == "torch.bfloat16"
    assert model.identity.split("+")[1] == "bfloat16"
    model.close()
