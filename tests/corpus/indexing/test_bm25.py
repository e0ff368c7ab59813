"""BM25 over counts in any number of parts: to the bit what bm25s says of all passages at once."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.corpus.indexing import bm25, lexical_index
from localfact.corpus.indexing.bm25 import BM25, LexicalPart
from localfact.corpus.indexing.lexical_index import LexicalIndex, terms

WORDS = ("harbour", "lighthouse", "sheep", "Storm", "puffin's", "well-known", "灯台", "é", "\ud800", "...")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=20)


def by_bm25s(texts: list[str], query: str) -> list[float]:
    import bm25s

    known = {term: place for place, term in enumerate(dict.fromkeys(term for text in texts for term in terms(text)))}
    if not known:
        return [0.0] * len(texts)
    reference = bm25s.BM25()
    found = [[known[term] for term in terms(text)] for text in texts]
    reference.index((found, known), create_empty_token=False, show_progress=False)
    scores: list[float] = reference.get_scores_from_ids([known[term] for term in terms(query) if term in known]).tolist()
    return scores


@pytest.mark.slow
@given(TEXTS, st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join))
def test_scores_are_those_of_bm25s_however_the_passages_are_distributed(texts: list[str], query: str) -> None:
    expected = by_bm25s(texts, query)
    assert BM25.of(texts).scores(query).tolist() == expected
    # Three parts, each with passages of its own and some that are no longer current, in an order of its own.
    generator = np.random.default_rng(len(texts))
    owner = generator.integers(0, 3, len(texts))
    parts = []
    for part in range(3):
        own = generator.permutation(np.flatnonzero(owner == part))
        held = [texts[place] for place in own] + ["harbour storm of old"] * part
        parts.append((LexicalIndex.of(held), np.concatenate([own, np.full(part, -1)]).astype(np.int64)))
    total = sum(len(list(terms(text))) for text in texts)
    apart = BM25([LexicalPart(lexical, current) for lexical, current in parts], len(texts), total)
    assert apart.scores(query).tolist() == expected
    joined = LexicalIndex.join(parts, len(texts))
    assert BM25([LexicalPart(joined)], len(texts), total).scores(query).tolist() == expected


@pytest.mark.slow
@given(TEXTS)
def test_a_joined_index_is_to_the_byte_the_one_that_is_made_at_once(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    generator = np.random.default_rng(len(texts))
    owner = generator.integers(0, 2, len(texts))
    at_once = int(generator.integers(1, 9))
    parts = [
        (LexicalIndex.of([texts[place] for place in own] + ["gone"]), np.append(own, -1))
        for own in (np.flatnonzero(owner == part) for part in range(2))
    ]
    once, joined = (tmp_path_factory.mktemp(name) for name in ("once", "joined"))
    LexicalIndex.of(texts).save(once)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical_index, "POSTINGS_AT_ONCE", at_once)
        LexicalIndex.join(parts, len(texts)).save(joined)
    assert {file.name: file.read_bytes() for file in once.iterdir()} == {
        file.name: file.read_bytes() for file in joined.iterdir()
    }
    query, total = "sheep Storm 灯台", sum(len(list(terms(text))) for text in texts)
    loaded = BM25([LexicalPart(LexicalIndex.load(joined))], len(texts), total)
    assert loaded.scores(query).tolist() == by_bm25s(texts, query)


def test_the_weights_of_terms_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "TERM_BYTES", 0)
    monkeypatch.setattr(bm25, "KEPT_BYTES", 12 * 8)
    texts = ["sheep storm", "sheep storm bridge", "sheep storm bridge", "sheep bridge", "ferry"]
    kept = BM25.of(texts)
    for query in ("sheep", "storm sheep sheep", "bridge ferry", "sheep storm bridge ferry", "storm"):
        assert kept.scores(query).tolist() == by_bm25s(texts, query)
        assert kept.scores(query).tolist() == by_bm25s(texts, query)
    assert sum(len(weights.positions) for weights, _ in kept._kept._values.values()) <= 8


def test_a_count_that_no_byte_holds_is_kept(tmp_path: Path) -> None:
    texts = ["a " * 300, "a b", "b"]
    LexicalIndex.of(texts).save(tmp_path)
    assert np.load(tmp_path / "counts.npy").dtype == np.uint16
    index = LexicalIndex.load(tmp_path)
    assert index.postings("a").counts.tolist() == [300, 1]
    assert BM25([LexicalPart(index)], 3, 303).scores("a").tolist() == by_bm25s(texts, "a")
    assert index.postings("c").positions.tolist() == []
