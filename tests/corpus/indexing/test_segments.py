"""An index that grew in any number of segments answers like one that was made at once, and no kill leaves a broken one."""

import shutil
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.corpus.indexing import dense_index, segment_folders, segments
from localfact.corpus.indexing.bm25 import BM25
from localfact.corpus.indexing.index import Index
from localfact.corpus.indexing.lexical_index import ARRAYS
from localfact.corpus.indexing.passage_ids import PassageIds
from localfact.corpus.indexing.segment_folders import MOST_SEGMENTS
from localfact.corpus.indexing.segments import FLAT_VECTORS, Segments
from localfact.models.embedder import Embedder, InTurn, Vectors
from localfact.web.pages import Page

DIMENSION = 20
WORDS = ("harbour", "lighthouse", "sheep", "storm", "bridge", "puffin", "granite", "ferry")


class LettersAsVectors(InTurn):
    """Stands for an embedder where hundreds of texts are embedded: a seeded vector a part, "|" between parts. It counts."""

    identity, dimension = "letters@1", DIMENSION

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def parts(self, text: str) -> list[str]:
        return text.split("|")

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        rows = [np.random.default_rng(list(text.encode())).standard_normal(DIMENSION) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32).reshape(len(texts), DIMENSION)


def corpus(count: int, seed: int = 0) -> dict[str, str]:
    """Texts of a few words, of up to three parts; many texts are equal, so that there are ties to be ordered by id."""
    rng = np.random.default_rng(seed)
    drawn = [" ".join(rng.choice(WORDS, size=3)) for _ in range(count)]
    return {f"{number * 7919 % 10_007:05d}": text.replace(" ", "|", number % 3) for number, text in enumerate(drawn)}


def answers(index: Index, embedder: LettersAsVectors, *, dense: bool = True) -> list[object]:
    """Everything that callers ask of an index."""
    queries = ("harbour sheep", "storm|storm", "granite ferry puffin", "Zzyzx")
    vectors = embedder.encode(queries) if dense else [None] * len(queries)
    some = list(index.ids)[:: max(1, len(index.ids) // 7)]
    found: list[object] = [list(index.ids), index.counts]
    for query, vector in zip(queries, vectors, strict=True):
        found += [index.search(query, vector, count) for count in (1, 5, 10_000)]
        found.append(index.affinity(query, vector, some))
    return [*found, *(rows.tolist() for passage in some if (rows := index.vectors_of(passage)) is not None)]


@pytest.mark.slow
@given(data=st.data())
def test_any_split_into_segments_answers_like_an_index_built_at_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    texts = corpus(data.draw(st.integers(1, 60)), seed=data.draw(st.integers(0, 3)))
    added = data.draw(st.lists(st.sets(st.sampled_from(sorted(texts))), max_size=4))
    by_codes = data.draw(st.booleans())
    folder, embedder = tmp_path_factory.mktemp("split"), LettersAsVectors()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "SEGMENT_PASSAGES", data.draw(st.integers(1, 20)))
        patch.setattr(segments, "TERMS_PASSAGES", data.draw(st.integers(1, 20)))
        patch.setattr(segment_folders, "MOST_SEGMENTS", data.draw(st.integers(1, 8)))
        patch.setattr(segment_folders, "LARGEST", data.draw(st.integers(1, 40)))
        patch.setattr(segments, "FLAT_VECTORS", 0 if by_codes else FLAT_VECTORS)
        for wanted in (10, 200) if by_codes else (200,):
            patch.setattr("localfact.corpus.indexing.dense_segments.LEAST_CODED_CANDIDATES", wanted)
            patch.setattr("localfact.corpus.indexing.dense_segments.CODED_CANDIDATES", 0)
            for some in added:
                Segments(folder, "pages").add({passage: texts[passage] for passage in some}, embedder)
            Segments(folder, "pages").add(texts, embedder, merge=data.draw(st.booleans()))
            once = tmp_path_factory.mktemp("once")
            patch.setattr(segments, "SEGMENT_PASSAGES", 10_000)
            patch.setattr(segments, "TERMS_PASSAGES", 10_000)
            Segments(once, "pages").add(texts, embedder)
            grown = answers(Segments(folder, "pages").open(dense=True), embedder)
            assert grown == answers(Segments(once, "pages").open(dense=True), embedder)
            if not by_codes or wanted == 200:  # more than there are vectors
                assert grown == answers(Index.of(texts, embedder), embedder)
            words = answers(Segments(folder, "pages").open(dense=False), embedder, dense=False)
            assert words == answers(Index.of(texts, None), embedder, dense=False)


def test_real_vectors_are_found_alike_after_pages_were_added(tmp_path: Path, pages: list[Page], minilm: Embedder) -> None:
    texts = {page.title: page.text for page in pages} | {"Long": "Nothing happened in that year. " * 60 + "A comet was seen."}
    grown, at_once = Segments(tmp_path, "pages"), Index.of(texts, minilm)
    grown.add({title: texts[title] for title in ("Storm", "Zürich")}, minilm)
    assert grown.add(texts, minilm) == at_once.counts
    index = grown.open(dense=True)
    for query in ("Seabirds breeding.", "The lamp of the lighthouse", "A comet"):
        vector = minilm.encode([query])[0]
        assert index.search(query, vector, 20) == at_once.search(query, vector, 20)
        assert index.affinity(query, vector, at_once.ids) == at_once.affinity(query, vector, at_once.ids)


@pytest.mark.slow
def test_nothing_is_embedded_twice_and_nothing_written_when_nothing_changed(tmp_path: Path) -> None:
    texts, embedder, seen = corpus(50), LettersAsVectors(), list[int]()
    folder = Segments(tmp_path, "pages")
    some = dict(list(texts.items())[:20])
    assert folder.add(some, embedder, seen.append) == (20, sum(len(text.split("|")) for text in some.values()))
    folder.add(texts, embedder, seen.append)
    assert seen == [20, 50]
    assert len(embedder.embedded) == sum(len(text.split("|")) for text in texts.values())
    before = {file: file.stat().st_mtime_ns for file in folder.files()}
    folder.add(texts, embedder, seen.append)
    assert seen == [20, 50]
    assert {file: file.stat().st_mtime_ns for file in folder.files()} == before


def test_files_are_all_that_is_there_and_all_that_is_needed(tmp_path: Path) -> None:
    texts, embedder = corpus(40), LettersAsVectors()
    for kind in ("pages", "chunks"):
        Segments(tmp_path / "a", kind).add(dict(list(texts.items())[:9]), embedder)
        Segments(tmp_path / "a", kind).add(texts, embedder)
    files = [file for kind in ("pages", "chunks") for file in Segments(tmp_path / "a", kind).files()]
    assert sorted(files) == sorted(file for file in (tmp_path / "a").rglob("*") if file.is_file())
    for file in Segments(tmp_path / "a", "pages").files():
        copy = tmp_path / "b" / file.relative_to(tmp_path / "a")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    indexes = [Segments(tmp_path / name, "pages").open(dense=True) for name in "ab"]
    assert answers(indexes[0], embedder) == answers(indexes[1], embedder)


def test_passages_that_are_no_longer_current_are_never_found_and_merging_drops_their_vectors(tmp_path: Path) -> None:
    texts, embedder, folder = corpus(60), LettersAsVectors(), Segments(tmp_path, "pages")
    folder.add(texts, embedder)
    current = dict(list(texts.items())[::3])
    folder.add(current, embedder)
    index = folder.open(dense=True)
    found = index.search("harbour", embedder.encode(["harbour"])[0], 100)
    assert sorted(passage for passage, _ in found) == sorted(current)
    at_once = Index.of(current, embedder)
    assert answers(index, embedder) == answers(at_once, embedder)
    opened_before = answers(index, embedder)
    folder.add(current, embedder, merge=True)
    assert [file.parent.name for file in folder.files() if file.name == "dense.faiss"] == ["pages-0002"]
    assert len(PassageIds.load(tmp_path / "pages-0002" / "passages.npy")) == len(current)
    assert answers(folder.open(dense=True), embedder) == opened_before
    assert answers(index, embedder) == opened_before  # what is mapped outlives its files
    embedder.embedded.clear()
    folder.add(texts, embedder)
    assert len(embedder.embedded) == sum(len(texts[name].split("|")) for name in texts.keys() - current.keys())


@pytest.mark.slow
def test_many_small_segments_are_merged_by_themselves(tmp_path: Path) -> None:
    texts, embedder, folder = corpus(2 * MOST_SEGMENTS), LettersAsVectors(), Segments(tmp_path, "pages")
    for count in range(1, len(texts) + 1):
        folder.add(dict(list(texts.items())[:count]), embedder)
        assert sum(file.name == "dense.faiss" for file in folder.files()) <= MOST_SEGMENTS
    assert answers(folder.open(dense=True), embedder) == answers(Index.of(texts, embedder), embedder)


def sizes(folder: Segments) -> dict[str, int]:
    """Folder of each segment -> how many passages it has."""
    return {
        file.parent.name: len(PassageIds.load(file))
        for file in folder.files()
        if file.name == "passages.npy" and "index" not in str(file)
    }


@pytest.mark.slow
def test_an_add_leaves_a_large_segment_alone_and_joins_what_it_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SEGMENT_PASSAGES", 30)
    monkeypatch.setattr(segments, "TERMS_PASSAGES", 45)
    texts, embedder, folder = corpus(200), LettersAsVectors(), Segments(tmp_path, "pages")
    names = list(texts)
    folder.add({name: texts[name] for name in names[:120]}, embedder)
    large = sizes(folder)
    assert sorted(large.values()) == [120, 120]  # four blocks of vectors and three of words became one of each
    for count in range(122, 200, 2):
        folder.add({name: texts[name] for name in names[:count]}, embedder)
        assert large.items() <= sizes(folder).items()
        assert len(sizes(folder)) <= 2 * MOST_SEGMENTS
    assert answers(folder.open(dense=True), embedder) == answers(
        Index.of({name: texts[name] for name in names[:198]}, embedder), embedder
    )


def test_no_segment_is_joined_to_more_than_the_largest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SEGMENT_PASSAGES", 10)
    monkeypatch.setattr(segments, "TERMS_PASSAGES", 10)
    monkeypatch.setattr(segment_folders, "LARGEST", 40)
    texts, embedder, folder = corpus(100), LettersAsVectors(), Segments(tmp_path, "pages")
    folder.add(texts, embedder)
    assert sorted(sizes(folder).values()) == [20, 20, 40, 40, 40, 40]
    assert answers(folder.open(dense=True), embedder) == answers(Index.of(texts, embedder), embedder)


class KilledError(Exception):
    """Stands for a kill."""


def killing(calls: int, function: Callable[..., object]) -> Callable[..., object]:
    """The function, which is killed at so many calls."""
    left = [calls]

    def call(*arguments: object, **named: object) -> object:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError
        return function(*arguments, **named)

    return call


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "most"),
    [("os.fsync", 3), ("pathlib.Path.rename", 3), ("numpy.save", 100), ("os.unlink", 100), ("shutil.rmtree", 100)],
)
def test_killed_anywhere_it_opens_as_before_or_after_and_the_next_add_repairs_it(
    tmp_path: Path, what: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "SEGMENT_PASSAGES", 7)
    monkeypatch.setattr(segments, "TERMS_PASSAGES", 9)
    monkeypatch.setattr(segment_folders, "MOST_SEGMENTS", most)
    texts, embedder = corpus(40), LettersAsVectors()
    few = dict(list(texts.items())[:12])
    before, after = (answers(Index.of(each, embedder), embedder) for each in (few, texts))
    module, _, name = what.rpartition(".")
    owner = Path if module == "pathlib.Path" else __import__(module)
    kills = 0
    for calls in (0, 1, 2, 3, 5, 8, 13, 21, 34):
        folder = Segments(tmp_path / str(calls), "pages")
        folder.add(few, embedder)
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, killing(calls, getattr(owner, name)))
            try:
                folder.add(texts, embedder)
                folder.add(texts, embedder, merge=True)
            except KilledError:
                kills += 1
        assert answers(folder.open(dense=True), embedder) in (before, after)
        folder.add(texts, embedder)
        assert answers(folder.open(dense=True), embedder) == after
        assert sorted(folder.files()) == sorted(file for file in (tmp_path / str(calls)).rglob("*") if file.is_file())
        assert not list((tmp_path / str(calls)).glob("*.new"))
    assert kills > 0


def test_a_killed_add_keeps_what_it_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SEGMENT_PASSAGES", 10)
    monkeypatch.setattr(dense_index, "PROGRESS_STEP", 5)
    texts, embedder, folder = corpus(50), LettersAsVectors(), Segments(tmp_path, "pages")

    def killed(done: int) -> None:
        if done > 30:
            raise KilledError

    with pytest.raises(KilledError):
        folder.add(texts, embedder, killed)
    with pytest.raises(FileNotFoundError):
        folder.open(dense=True)
    embedder.embedded.clear()
    seen: list[int] = []
    folder.add(texts, embedder, seen.append)
    assert seen == [35, 40, 45, 50]
    assert embedder.embedded == [part for passage in sorted(texts)[30:] for part in texts[passage].split("|")]


@pytest.mark.parametrize(
    "name",
    [
        *("dense.faiss", "parts.npy", "codes.npy", "passages.npy", "generation.json"),
        *(f"{name}.npy" for name in ARRAYS),
    ],
)
def test_files_that_do_not_belong_together_are_not_opened(tmp_path: Path, name: str) -> None:
    embedder, texts = LettersAsVectors(), corpus(30)
    Segments(tmp_path / "one", "pages").add(texts, embedder)
    Segments(tmp_path / "two", "pages").add(dict(list(texts.items())[:11]) | {"z": "anemone"}, embedder)
    for file in Segments(tmp_path / "one", "pages").files():
        if file.name == name:
            whole = file.read_bytes()
            file.write_bytes((tmp_path / "two" / file.relative_to(tmp_path / "one")).read_bytes())
            with pytest.raises(ValueError, match=r"names|has|not|holds|belong"):
                Segments(tmp_path / "one", "pages").open(dense=True)
            file.write_bytes(whole[: len(whole) // 2])
            with pytest.raises((ValueError, OSError, RuntimeError)):
                Segments(tmp_path / "one", "pages").open(dense=True)
            file.write_bytes(whole)
    Segments(tmp_path / "one", "pages").open(dense=True)


def test_without_an_embedder_words_alone_are_indexed_and_vectors_left_alone(tmp_path: Path) -> None:
    texts, embedder, folder = corpus(20), LettersAsVectors(), Segments(tmp_path, "pages")
    assert folder.add(texts, None) == (20, None)
    with pytest.raises(ValueError, match="no vectors"):
        folder.open(dense=True)
    assert answers(folder.open(dense=False), embedder, dense=False) == answers(Index.of(texts, None), embedder, dense=False)
    folder.add(texts, embedder)
    folder.add(texts, None)
    embedder.embedded.clear()
    folder.add(texts, embedder)
    assert embedder.embedded == []


def test_texts_are_taken_one_by_one_and_not_held(tmp_path: Path) -> None:
    class Text(str):
        __slots__ = ("__weakref__",)

    class Made(Mapping[str, str]):
        """Makes each text when it is asked for, and knows how many are alive."""

        texts = corpus(200)
        alive: ClassVar[list[weakref.ref[Text]]] = []
        most = 0

        def __len__(self) -> int:
            return len(self.texts)

        def __iter__(self) -> Iterator[str]:
            return iter(self.texts)

        def __getitem__(self, passage: str) -> str:
            text = Text(self.texts[passage])
            self.alive[:] = [one for one in self.alive if one() is not None] + [weakref.ref(text)]
            self.most = max(self.most, len(self.alive))
            return text

    made = Made()
    assert Segments(tmp_path, "pages").add(made, None) == (200, None)
    assert 0 < made.most <= 3


def test_of_no_passages_there_is_no_index(tmp_path: Path) -> None:
    folder = Segments(tmp_path, "snippets")
    folder.add(corpus(3), None)
    assert folder.add({}, None) == (0, None)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        folder.open(dense=False)


def test_bm25_weighs_terms_over_all_segments(tmp_path: Path) -> None:
    folder = Segments(tmp_path, "pages")
    texts = {"a": "red red fox", "b": "blue fox", "c": "dog"}
    for count in (1, 2, 3):
        folder.add(dict(list(texts.items())[:count]), None)
    assert folder.open(dense=False).lexical.scores("red fox").tolist() == BM25.of([*texts.values()]).scores("red fox").tolist()
