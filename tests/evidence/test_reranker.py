"""The reranker against the same model called plainly; long texts, batches, threads, weights that cannot be used."""

import itertools
import json
import math
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tiny_albert import LABELS, SENTENCES, WINDOW, tiny_albert

from localfact.errors import EngineError, InputError
from localfact.evidence import reranker as module
from localfact.evidence.reranker import Reranker, open_reranker, reranker_identity
from localfact.models.cards import list_cards, load_card
from localfact.models.cross_encoder import BatchShape, Tokens
from localfact.models.embedder import fitting_pieces
from localfact.models.model_card import ModelCard

ROOM = WINDOW - 3
QUERY = "Granite was cut."
WORDS = " ".join(SENTENCES).split()


def single_logit(folder: Path, **made: Any) -> Path:
    return tiny_albert(folder, **{"labels": ("relevance",), **made})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return single_logit(tmp_path_factory.mktemp("reranker"))


def fresh(folder: Path, **stated: Any) -> Reranker:
    return Reranker(own_card(folder, **stated), device="cpu")


def own_card(folder: Path, **stated: Any) -> ModelCard:
    return load_card(str(folder)).model_copy(update=stated)


@pytest.fixture(scope="module")
def reranker(folder: Path) -> Iterator[Reranker]:
    made = fresh(folder)
    yield made
    made.close()


class Plain:
    """The same weights, a pair at a time, as transformers' own examples do it."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = AutoModelForSequenceClassification.from_pretrained(folder).eval()

    def starts(self, text: str) -> list[int]:
        offsets = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        return [start for start, _ in offsets]

    def __call__(self, query: str, text: str) -> float:
        import torch

        encoded = self.tokenizer(query, text, return_tensors="pt")
        assert encoded["input_ids"].shape[1] <= WINDOW
        with torch.no_grad():
            return float(self.model(**encoded).logits.item())


@pytest.fixture(scope="module")
def plain(folder: Path) -> Iterator[Plain]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several would wait for each other, for longer than this model takes
    yield Plain(folder)
    torch.set_num_threads(threads)


def texts_of(number: int, longest: int) -> list[str]:
    random_ = random.Random(number)
    return [" ".join(random_.choices(WORDS, k=random_.randint(1, longest))) for _ in range(number)]


def test_a_score_is_the_output_that_the_model_has_for_query_and_text(reranker: Reranker, plain: Plain) -> None:
    texts = [text for text in texts_of(40, 9) if len(plain.starts(text)) + len(plain.starts(QUERY)) <= ROOM]
    assert len(texts) > 20
    scores = reranker.scores(QUERY, texts)
    assert scores == pytest.approx([plain(QUERY, text) for text in texts], abs=1e-5)
    assert any(not 0 <= score <= 1 for score in scores), "as it stands, not as a probability"
    assert len(set(scores)) == len(set(texts))
    assert reranker.scores(texts[0], [QUERY]) != reranker.scores(QUERY, texts[:1]), "the query is read first"
    assert reranker.scores(QUERY, []) == []


def test_a_text_longer_than_the_window_has_the_score_of_its_best_piece(reranker: Reranker, plain: Plain) -> None:
    texts = [" ".join(texts_of(5 + number, 40)) for number in range(6)]
    best_places = set()
    for text, score in zip(texts, reranker.scores(QUERY, texts), strict=True):
        pieces = fitting_pieces(text, plain.starts(text), ROOM - len(plain.starts(QUERY)))
        assert len(pieces) > 1
        assert "".join("".join(pieces).split()) == "".join(text.split()), "every word is read"
        scores = [plain(QUERY, piece) for piece in pieces]
        assert score == pytest.approx(max(scores), abs=1e-5)
        best_places.add(scores.index(max(scores)))
    assert best_places - {0}, "the beginning alone would have done for these texts"


def test_a_text_that_fills_the_window_is_read_whole(reranker: Reranker, plain: Plain) -> None:
    room = ROOM - len(plain.starts(QUERY))
    text = " ".join(WORDS)
    text = text[: plain.starts(text)[room]].rstrip()
    assert len(plain.starts(text)) == room
    assert reranker.scores(QUERY, [text]) == pytest.approx([plain(QUERY, text)], abs=1e-5)


def test_of_a_long_query_the_beginning_is_read_and_the_texts_have_half_of_the_room(reranker: Reranker, plain: Plain) -> None:
    query = " ".join(SENTENCES)
    beginning = query[: plain.starts(query)[ROOM // 2]].rstrip()
    text = " ".join(WORDS[10:])
    text = text[: plain.starts(text)[ROOM // 2]].rstrip()
    assert reranker.scores(query, [text]) == pytest.approx([plain(beginning, text)], abs=1e-5)


@pytest.mark.slow
def test_scores_are_the_same_to_the_last_bit_whatever_is_asked_with_them(folder: Path) -> None:
    texts = texts_of(40, 60)
    together = fresh(folder).scores(QUERY, texts)
    assert fresh(folder).scores(QUERY, texts[::-1])[::-1] == together
    alone = fresh(folder)
    assert [alone.scores(QUERY, [text])[0] for text in texts[:10]] == together[:10]


@pytest.mark.slow
def test_a_process_on_one_core_makes_the_same_scores_to_the_last_bit(folder: Path, reranker: Reranker) -> None:
    texts = texts_of(40, 60)
    program = (
        "import json, os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from localfact.evidence.reranker import open_reranker;"
        "folder, query, texts = json.load(sys.stdin);"
        "print(json.dumps(open_reranker(folder).scores(query, texts)))"
    )
    asked = json.dumps([str(folder), QUERY, texts])
    done = subprocess.run([sys.executable, "-c", program], input=asked, capture_output=True, check=True, text=True)
    assert json.loads(done.stdout) == reranker.scores(QUERY, texts)
    assert done.stderr == "", "loading must not write progress bars or warnings"


def test_batches_as_on_a_gpu_differ_by_rounding_only(reranker: Reranker, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = fresh(folder)
    made._encoder.shape = BatchShape(step=16, tokens=128)
    counted = counting(made, monkeypatch)
    texts = texts_of(40, 60)
    assert made.scores(QUERY, texts) == pytest.approx(reranker.scores(QUERY, texts), abs=1e-5)
    assert max(counted) > 1


def counting(reranker: Reranker, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counted: list[int] = []
    outputs = reranker._encoder.outputs

    def counted_outputs(batch: Sequence[Tokens]) -> list[list[float]]:
        counted.append(len(batch))
        return outputs(batch)

    monkeypatch.setattr(reranker._encoder, "outputs", counted_outputs)
    return counted


def test_pairs_that_come_again_are_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = fresh(folder)
    counted = counting(made, monkeypatch)
    first = made.scores(QUERY, ["stone", "water", "stone"])
    assert (sum(counted), first[0]) == (2, first[2])
    assert made.scores(QUERY, ["water", "stone"]) == first[1::-1]
    assert sum(counted) == 2
    assert made.scores("Water?", ["stone"]) != first[:1]
    assert sum(counted) == 3


def test_the_memory_of_scores_is_bounded_and_loses_what_was_not_asked_for_longest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MEMO_SCORES", 2)
    made = fresh(folder)
    counted = counting(made, monkeypatch)
    made.scores(QUERY, ["a"])
    made.scores(QUERY, ["b"])
    made.scores(QUERY, ["a"])
    made.scores(QUERY, ["c"])
    assert (len(counted), len(made._memo)) == (3, 2)
    made.scores(QUERY, ["a"])
    assert len(counted) == 3
    made.scores(QUERY, ["b"])
    assert len(counted) == 4


@pytest.mark.slow
def test_many_threads_may_ask_at_once(folder: Path, reranker: Reranker) -> None:
    made = fresh(folder)
    queries, texts = [f"Granite {number}?" for number in range(30)], texts_of(4, 60)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda query: made.scores(query, texts), queries))
    assert answers == [reranker.scores(query, texts) for query in queries]


def test_a_reranker_that_is_closed_gives_up_what_waits_and_takes_nothing_new(folder: Path) -> None:
    made = fresh(folder)
    begun, gate, read = threading.Event(), threading.Event(), itertools.count()
    outputs = made._encoder.outputs

    def waiting(batch: Sequence[Tokens]) -> list[list[float]]:
        next(read)
        begun.set()
        gate.wait(60)
        return outputs(batch)

    made._encoder.outputs = waiting  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as threads:
        call = threads.submit(made.scores, QUERY, texts_of(200, 9))
        assert begun.wait(60)
        closing = threads.submit(made.close)
        while not made._closed.is_set():
            pass
        gate.set()
        closing.result(60)
        with pytest.raises(EngineError, match="closed while it was asked"):
            call.result(60)
    assert next(read) <= made._encoder.workers_count
    with pytest.raises(EngineError):
        made.scores(QUERY, ["stone"])


@pytest.mark.slow
def test_text_of_any_kind_gets_a_finite_score(reranker: Reranker) -> None:
    odd = ["", " ", "\x00", "\ud800 half", "北京是中国的首都。" * 40, "🙂" * 400, "x" * 5_000, "[CLS] [SEP] <pad>", "\n\n"]
    for query in odd:
        assert all(map(math.isfinite, reranker.scores(query, odd)))


def test_marks_of_the_tokenizer_in_a_text_are_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = fresh(folder)
    seen: list[Tokens] = []
    outputs = made._encoder.outputs

    def kept(batch: Sequence[Tokens]) -> list[list[float]]:
        seen.extend(batch)
        return outputs(batch)

    monkeypatch.setattr(made._encoder, "outputs", kept)
    made.scores("[CLS] Granite [SEP]", ["Granite floats. [SEP] Granite sinks. <pad>"])
    marks = set(made._encoder.tokenizer.all_special_ids) - {made._encoder.tokenizer.unk_token_id}
    assert sum(number in marks for number in seen[0].fields["input_ids"]) == 3


def test_numbers_that_are_none_are_told_as_damaged_weights(folder: Path) -> None:
    made = fresh(folder)
    made._encoder.model.classifier.bias.data.fill_(math.nan)
    with pytest.raises(InputError, match=r"NaN.*damaged"):
        made.scores(QUERY, ["stone"])
    assert not made._memo


def test_a_model_of_several_outputs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has 3 outputs; a reranker has one"):
        Reranker(load_card(str(tiny_albert(tmp_path, labels=LABELS))))


def test_a_model_without_a_trained_head_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no reranker: its weights lack classifier"):
        Reranker(load_card(str(single_logit(tmp_path, head=False))))


def test_a_card_of_another_kind_and_a_window_too_small_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="no reranker; its roles are: embedder"):
        open_reranker("minilm")
    with pytest.raises(InputError, match=r"window of 4 tokens .* too small"):
        fresh(folder, window=4)


def test_in_the_smallest_window_every_text_is_still_read(folder: Path) -> None:
    made = fresh(folder, window=5)
    assert all(map(math.isfinite, made.scores("Granite was cut.", ["🙂🙂", "Granite sinks.", ""])))


def test_the_identity_is_known_before_the_model_is_loaded(reranker: Reranker, folder: Path, tmp_path: Path) -> None:
    assert reranker.identity == reranker_identity(load_card(str(folder)))
    other = own_card(single_logit(tmp_path, seed=5), name=folder.name)
    assert reranker_identity(other) != reranker.identity
    assert reranker_identity(own_card(folder, window=20)) != reranker.identity
    assert reranker_identity(own_card(folder, dtype="bfloat16")) != reranker.identity


def test_the_cards_that_ship_are_rerankers_only_and_say_their_window() -> None:
    cards = [card for card in list_cards() if "reranker" in card.roles]
    assert {card.name for card in cards} == {"ms-marco-minilm", "bge-reranker-base"}
    assert all(card.roles == ("reranker",) and card.window == 512 and card.weights_gib for card in cards)


def test_nothing_is_asked_from_the_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    Reranker(load_card(str(folder)))
