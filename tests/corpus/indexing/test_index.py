"""Search by words, by vectors and by both; ties by id; what the libraries cannot take by themselves."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from localfact.corpus.indexing import index as index_module
from localfact.corpus.indexing.bm25 import BM25, LexicalPart
from localfact.corpus.indexing.dense_index import DenseIndex
from localfact.corpus.indexing.index import FUSION_CONSTANT, Index, best_positions, reciprocal_rank_fusion
from localfact.corpus.indexing.lexical_index import LexicalIndex, terms
from localfact.models.embedder import Embedder
from localfact.web.pages import Page

LONG = "Nothing of note happened on the island in that year, and the harbour book stays empty. " * 30


@pytest.fixture(scope="module")
def texts(pages: list[Page]) -> dict[str, str]:
    return {page.title: page.text for page in pages} | {"Empty": "...", "Long": LONG + "A comet was seen over Halla in 1811."}


@pytest.fixture(scope="module")
def index(texts: dict[str, str], minilm: Embedder) -> Index:
    return Index.of(texts, minilm)


def ids(found: list[tuple[str, float]]) -> list[str]:
    return [passage for passage, _ in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Lighthouse's lamp", ["the", "lighthouse", "lamp"]),
        ("Skłodowska’s well-known café", ["skłodowska", "well", "known", "cafe"]),
        ("It costs 1,000.50 in the U.S.", ["it", "costs", "1,000.50", "in", "the", "u.s"]),
        ("北京是中国", ["北京", "京是", "是中", "中国"]),
        ("东 Tokyo 京", ["东", "tokyo", "京"]),
        ("ประเทศไทย", ["ปร", "ระ", "ะเ", "เท", "ทศ", "ศไ", "ไท", "ทย"]),
        ("Ёлка ЁЛКА", ["елка", "елка"]),
        ("— ' - ...", []),
    ],
)
def test_terms_of_many_scripts(text: str, expected: list[str]) -> None:
    assert list(terms(text)) == expected


def test_bm25_agrees_with_its_formula() -> None:
    # Lucene's variant: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), tf / (tf + k1 (1 - b + b length / mean)), k1 = 1.5, b = 0.75.
    scores = BM25.of(["red red fox", "blue fox", "dog"]).scores("red fox")
    mean = 2.0
    idf = {"red": np.log(1 + 2.5 / 1.5), "fox": np.log(1 + 1.5 / 2.5)}

    def weight(count: int, length: int) -> float:
        return count / (count + 1.5 * (0.25 + 0.75 * length / mean))

    expected = [idf["red"] * weight(2, 3) + idf["fox"] * weight(1, 3), idf["fox"] * weight(1, 2), 0.0]
    assert np.allclose(scores, expected, atol=1e-6)


def test_a_query_of_unknown_words_finds_nothing_by_words_and_something_by_meaning(index: Index, minilm: Embedder) -> None:
    query = "Zzyzx qwerty"
    assert index.search(query, None, 5) == []
    assert index.search("", None, 5) == []
    assert len(index.search(query, minilm.encode([query])[0], 5)) == 5


def test_asking_for_more_than_there_is_gives_all_there_is(index: Index, minilm: Embedder) -> None:
    found = index.search("The lamp", minilm.encode(["The lamp"])[0], 10_000)
    assert sorted(ids(found)) == sorted(index.ids)


def test_words_and_meaning_are_both_heard(index: Index, minilm: Embedder) -> None:
    by_meaning = "Seabirds breeding."
    assert ids(index.search(by_meaning, minilm.encode([by_meaning])[0], 1)) == ["Bird"]
    by_both = "The lamp of the lighthouse was lit in 1862."
    assert index.search(by_both, minilm.encode([by_both])[0], 1) == [("Lighthouse", 2 / (FUSION_CONSTANT + 1))]


def test_other_scripts_are_found_by_words(index: Index) -> None:
    assert ids(index.search("长城在北京附近", None, 3)) == ["Zürich"]


def test_a_long_passage_is_as_good_as_its_best_part(index: Index, minilm: Embedder) -> None:
    claim = "A comet was seen over Halla in 1811."
    vector = minilm.encode([claim])[0]
    parts = minilm.encode(minilm.parts(LONG + claim))
    assert len(parts) > 2
    assert ids(index.search(claim, vector, 1)) == ["Long"]
    assert index.affinity(claim, vector, ["Long"])["Long"] == pytest.approx(float((parts @ vector).max()), abs=1e-6)
    assert np.allclose(index.vectors_of("Long"), parts)


def test_affinity_without_vectors_is_relative_to_the_best(index: Index) -> None:
    found = index.affinity("The lighthouse lamp on Cape Orm", None, list(index.ids))
    assert found["Lighthouse"] == 1.0
    assert found["Empty"] == 0.0
    assert all(0 <= value <= 1 for value in found.values())
    assert set(index.affinity("Zzyzx", None, list(index.ids)).values()) == {0.0}


def test_equal_scores_are_ordered_by_id(minilm: Embedder) -> None:
    names = [f"p{number:03d}" for number in range(40)]
    shuffled = random.Random(0).sample(names, len(names))
    index = Index.of(dict.fromkeys(shuffled, "The same text."), minilm)
    vector = minilm.encode(["The same text."])[0]
    assert ids(index.search("The same text.", vector, 7)) == names[:7]
    assert ids(index.search("The same text.", None, 7)) == names[:7]
    assert index.dense is not None
    assert index.dense.best(vector, 3) == [0, 1, 2]


def test_fusion_adds_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([[7, 5, 3], [5, 9]])
    assert fused == [(5, 1 / 62 + 1 / 61), (7, 1 / 61), (9, 1 / 62), (3, 1 / 63)]
    assert [position for position, _ in reciprocal_rank_fusion([[4, 2], [2, 4]])] == [2, 4]


def test_best_positions_are_those_of_a_full_sort() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 5, 50, 500):
        scores = rng.integers(0, 6, size).astype(np.float32)
        expected = [int(i) for i in np.lexsort((np.arange(size), -scores)) if scores[i] > 0]
        for count in (1, 3, size, size + 5):
            assert best_positions(scores, count) == expected[:count]


def test_dense_search_is_exact(minilm: Embedder) -> None:
    import faiss

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3_000, 16)).astype(np.float32)
    rows[1:2_000:2] = rows[0:2_000:2] + 0.001  # two parts of one passage are alike, so they rank side by side
    vectors = faiss.IndexFlatIP(16)
    vectors.add(rows)
    first_part = np.concatenate([np.arange(0, 2_000, 2), np.arange(2_000, 3_001)])
    dense = DenseIndex(vectors, first_part)
    query = rng.standard_normal(16).astype(np.float32)
    best = np.maximum.reduceat(rows @ query, first_part[:-1])
    assert dense.best(query, 50) == np.argsort(-best, kind="stable")[:50].tolist()


@pytest.mark.filterwarnings("error")
def test_texts_without_a_single_word_can_be_indexed(tmp_path: Path) -> None:
    lexical = LexicalIndex.of(["...", ""])
    lexical.save(tmp_path)
    for index in (lexical, LexicalIndex.load(tmp_path), LexicalIndex.join([(lexical, np.array([1, 0]))], 2)):
        assert BM25([LexicalPart(index)], 2, 0).scores("word").tolist() == [0, 0]


@pytest.mark.slow
def test_the_files_are_the_same_whatever_the_hash_seed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from localfact.corpus.indexing.segments import Segments;"
        "texts = {f'p{i}': f'word{i} and word{i // 2} of many' for i in range(50)};"
        "Segments(Path(sys.argv[1]), 'pages').add(texts, None)"
    )
    for seed in "12":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", program, tmp_path / seed], check=True, env=environment)
    files = [file.relative_to(tmp_path / "1") for file in sorted((tmp_path / "1").rglob("*")) if file.is_file()]
    assert len(files) > 4
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes(), file


def test_ties_beyond_what_faiss_returns_are_ordered_by_position() -> None:
    import faiss

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((1_000, 16)).astype(np.float32)
    rows[1::2] = rows[1]
    vectors = faiss.IndexFlatIP(16)
    vectors.add(rows)
    for width in (1, 4):  # parts of a passage
        dense = DenseIndex(vectors, np.arange(0, 1_001, width))
        scores = dense.similarities(rows[1], np.arange(len(dense)))
        assert dense.best(rows[1], 120) == np.lexsort((np.arange(len(dense)), -scores))[:120].tolist()


@pytest.mark.slow
def test_importing_loads_no_heavy_library() -> None:
    program = (
        f"import sys, {index_module.__name__}, localfact.evidence.given, localfact.corpus.build;"
        "heavy = {'faiss', 'bm25s', 'torch', 'sentence_transformers', 'trafilatura', 'numba'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
