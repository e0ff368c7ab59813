"""The embedder: one text, one vector, whatever stands beside it; pieces that fit the window."""

import json
import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.models import embedder as module
from localfact.models.cards import load_card, weights_folder
from localfact.models.embedder import Embedder, fitting_pieces, load_embedder
from localfact.models.model_card import ModelCard
from localfact.runtime.locations import data_folder

SENTENCE = "The lighthouse on the northern cape was built of granite and lit for the first time in 1862. "
TEXTS = ["The moon is round.", "A cat sat on the mat.", "Granite is a hard rock, and so is basalt.", SENTENCE * 9, SENTENCE]


def fresh(embedder: Embedder) -> Embedder:
    """The same model with nothing remembered."""
    return Embedder(embedder.identity, embedder._model)


def test_rows_are_unit_vectors_in_the_order_of_the_texts(minilm: Embedder) -> None:
    vectors = minilm.encode([*TEXTS, TEXTS[0]])
    assert vectors.shape == (6, minilm.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert (vectors[0] == vectors[5]).all()
    assert minilm.encode([]).shape == (0, minilm.dimension)


def test_near_meanings_are_nearer_than_far_ones(minilm: Embedder) -> None:
    anchor, near, far = minilm.encode(
        ["The lighthouse was built in 1862.", "In 1862 they erected the light tower.", "I like soup."]
    )
    assert anchor @ near > anchor @ far + 0.3


def test_a_vector_does_not_depend_on_its_neighbours_to_the_last_bit(minilm: Embedder) -> None:
    together = fresh(minilm).encode(TEXTS)
    backwards = fresh(minilm).encode(TEXTS[::-1])[::-1]
    alone = np.concatenate([fresh(minilm).encode([text]) for text in TEXTS])
    assert together.tobytes() == backwards.tobytes() == alone.tobytes()


@pytest.mark.slow
def test_a_process_on_one_core_makes_the_same_vectors_to_the_last_bit(minilm: Embedder, tmp_path: Path) -> None:
    texts = tmp_path / "texts.json"
    texts.write_text(json.dumps(sample_texts()), encoding="utf-8")
    program = (
        "import json, os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
        "from localfact.models.embedder import load_embedder; from localfact.models.cards import load_card;"
        "texts = json.load(open(sys.argv[1], encoding='utf-8'));"
        "sys.stdout.buffer.write(load_embedder(load_card('minilm')).encode(texts).tobytes())"
    )
    done = subprocess.run([sys.executable, "-c", program, texts], capture_output=True, check=True)
    assert done.stdout == fresh(minilm).encode(sample_texts()).tobytes()
    assert done.stderr == b"", "loading must not write progress bars or warnings"


def sample_texts() -> list[str]:
    """A hundred texts of all lengths: in a few short ones the last bits are the same by chance."""
    responses = map(json.loads, (data_folder("index") / "sample-responses.jsonl").read_text(encoding="utf-8").splitlines())
    return [claim["quote"] for response in responses for claim in response["claims"]][:100]


def test_the_fixed_shapes_of_a_gpu_give_the_same_vectors_up_to_rounding_whatever_the_order(
    minilm: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GPU_BATCH", 8)
    texts = [*TEXTS, "", *(f"Number {number} of many." for number in range(10))]
    padded = np.stack(fresh(minilm)._embed_in_fixed_shapes(texts))
    assert np.allclose(padded, minilm.encode(texts), atol=1e-5)
    assert (np.stack(fresh(minilm)._embed_in_fixed_shapes(texts[::-1]))[::-1] == padded).all()


@pytest.mark.slow
def test_many_threads_may_ask_at_once(minilm: Embedder) -> None:
    embedder = fresh(minilm)
    texts = [f"{SENTENCE} Boat number {number} passed it." for number in range(100)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda text: (embedder.parts(text * 20), embedder.encode([text])[0]), texts))
    assert (np.stack([vector for _, vector in answers]) == minilm.encode(texts)).all()


def test_remembered_vectors_are_given_back_and_the_memory_is_bounded(minilm: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEMO_VECTORS", 2)
    embedder = fresh(minilm)
    marks = np.eye(3, minilm.dimension, dtype=np.float32)
    embedder.remember(["a", "b", "c"], marks)
    assert (embedder.encode(["c", "b"]) == marks[[2, 1]]).all()
    assert (embedder.encode(["b"]) == marks[1]).all()
    assert (embedder.encode(["a"]) != marks[0]).any(), "the oldest had to go"
    assert (embedder.encode(["b"]) == marks[1]).all()
    assert (embedder.encode(["c"]) != marks[2]).any(), "the one that was not asked for longest had to go"


def test_text_of_any_kind_gets_a_vector(minilm: Embedder) -> None:
    odd = ["", " ", "\x00", "\ud800 half", "北京是中国的首都。", "🙂" * 400, "x" * 5_000, "[CLS] [SEP]"]
    assert np.isfinite(minilm.encode(odd)).all()
    halves = "\ud800 half a character. " * 100
    assert " ".join(minilm.parts(halves)) == halves.strip()


def tokens(embedder: Embedder, text: str) -> int:
    return len(embedder._tokenizer(text, verbose=False)["input_ids"])


def test_a_text_that_fits_is_its_own_only_part(minilm: Embedder) -> None:
    assert minilm.parts("  Short. ") == ["  Short. "]
    assert minilm.parts("") == [""]


def test_parts_end_with_sentences_and_fill_the_window(minilm: Embedder) -> None:
    parts = minilm.parts(SENTENCE * 40)
    assert " ".join(parts) == (SENTENCE * 40).strip()
    assert all(part.endswith("1862.") and tokens(minilm, part) <= minilm.window for part in parts)
    assert all(tokens(minilm, part + " " + SENTENCE) > minilm.window for part in parts[:-1])


def test_a_sentence_longer_than_the_window_is_cut_between_words(minilm: Embedder) -> None:
    text = " ".join(["extraordinarily"] * 700)
    parts = minilm.parts(text)
    assert len(parts) > 2
    assert " ".join(parts) == text


@given(
    st.lists(
        st.sampled_from(
            ["a", "Granite", "stone,", "end.", "1862", "北京", "。", "naïve", "\n\n", "🙂", "antidisestablishment", "ไทย"]
        ),
        min_size=200,
        max_size=900,
    ),
    st.sampled_from([" ", ""]),
)
def test_parts_lose_nothing_and_fit(minilm: Embedder, words: list[str], space: str) -> None:
    text = space.join(words)
    parts = minilm.parts(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(tokens(minilm, part) <= minilm.window for part in parts)


def test_nothing_is_asked_from_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    load_embedder(load_card("minilm"))


def test_a_card_that_is_no_embedders_or_says_otherwise_than_its_weights_is_refused() -> None:
    card = load_card("minilm")
    with pytest.raises(InputError, match="no embedder"):
        load_embedder(card.model_copy(update={"roles": ("llm",)}))
    with pytest.raises(InputError, match="dimension 300"):
        load_embedder(card.model_copy(update={"dimension": 300}))


@pytest.mark.parametrize("whole", [True, False])
def test_damaged_weights_are_told(tmp_path: Path, whole: bool) -> None:
    if whole:
        shutil.copytree(weights_folder(load_card("minilm")), tmp_path, dirs_exist_ok=True)
    (tmp_path / "model.safetensors").write_bytes(b"these are not weights")
    with pytest.raises(InputError, match="could not be loaded"):
        load_embedder(load_card(str(tmp_path)))


def test_a_folder_of_weights_is_loaded_like_the_card(minilm: Embedder) -> None:
    folder = ModelCard(name="own", revision="abc", roles=("embedder",), folder=weights_folder(load_card("minilm")))
    assert (load_embedder(folder).encode(["The moon is round."]) == minilm.encode(["The moon is round."])).all()


def prefixed(embedder: Embedder, query: str, passage: str) -> Embedder:
    """The same model, nothing remembered, with something to read before texts."""
    return Embedder(embedder.identity, embedder._model, query_prefix=query, passage_prefix=passage)


def test_a_prefix_is_read_before_a_text_of_its_role(minilm: Embedder) -> None:
    asking = prefixed(minilm, "query: ", "passage: ")
    queries, passages = asking.encode(TEXTS, role="query"), asking.encode(TEXTS, role="passage")
    assert (queries == minilm.encode([f"query: {text}" for text in TEXTS])).all()
    assert (passages == minilm.encode([f"passage: {text}" for text in TEXTS])).all()
    assert (queries != passages).any(axis=1).all()
    assert (asking.encode(TEXTS) == passages).all(), "a text of which nothing is said is a passage"
    assert (asking.encode(TEXTS, role="query") == queries).all(), "what is remembered of one role is not the other's"


def test_without_prefixes_a_query_has_the_vector_of_a_passage(minilm: Embedder) -> None:
    assert fresh(minilm).encode(TEXTS, role="query").tobytes() == fresh(minilm).encode(TEXTS).tobytes()


def test_vectors_are_remembered_for_their_role_alone(minilm: Embedder) -> None:
    asking = prefixed(minilm, "query: ", "")
    marks = np.eye(2, minilm.dimension, dtype=np.float32)
    asking.remember(["a"], marks[:1])
    asking.remember(["b"], marks[1:], role="query")
    assert (asking.encode(["a"]) == marks[0]).all()
    assert (asking.encode(["a"], role="query") == minilm.encode(["query: a"])).all()
    assert (asking.encode(["b"], role="query") == marks[1]).all()
    assert (asking.encode(["b"]) == minilm.encode(["b"])).all()


def test_parts_leave_room_for_the_prefix_of_their_role(minilm: Embedder) -> None:
    prefix = "read this before a passage: " * 20
    asking = prefixed(minilm, "", prefix)
    text = SENTENCE * 40
    parts = asking.parts(text)
    assert " ".join(parts) == text.strip()
    assert len(parts) > len(minilm.parts(text))
    assert all(tokens(minilm, prefix + part) <= minilm.window for part in parts)
    assert asking.parts(text, role="query") == minilm.parts(text)


def test_a_prefix_that_leaves_no_room_is_refused_with_its_model(minilm: Embedder) -> None:
    card = load_card("minilm").model_copy(update={"query_prefix": "too long " * 200})
    with pytest.raises(InputError, match=r"leaves texts no room in the window of 256 tokens of minilm@.*model's card"):
        load_embedder(card)


def test_the_prefixes_of_a_card_reach_the_embedder_and_its_identity(minilm: Embedder) -> None:
    card = load_card("minilm").model_copy(update={"query_prefix": "query: ", "passage_prefix": "passage: "})
    loaded = load_embedder(card)
    assert (loaded.encode(TEXTS[:2], role="query") == minilm.encode([f"query: {text}" for text in TEXTS[:2]])).all()
    assert loaded.identity == card.identity != minilm.identity


def test_the_fixed_shapes_of_a_gpu_hold_the_prefix_too(minilm: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GPU_BATCH", 4)
    asking = prefixed(minilm, "query: " * 20, "")
    alone = asking.encode(TEXTS, role="query")
    padded = prefixed(minilm, "query: " * 20, "")
    padded._workers = None
    assert np.allclose(padded.encode(TEXTS, role="query"), alone, atol=1e-5)


def test_a_character_of_more_tokens_than_fit_stands_alone() -> None:
    assert fitting_pieces("ab", [0, 0, 0, 1], 2) == ["a", "b"]
    assert fitting_pieces(" a b", [1, 1, 1, 3, 3, 3], 1) == ["a", "b"]
