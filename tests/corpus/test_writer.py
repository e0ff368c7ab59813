"""A corpus grows, is finished, and says when it is not; a kill in the middle leaves what was added."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from puffins import LINK, exchange

from localfact.corpus import files as files_module
from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import Corpus, CorpusDescription, read_description
from localfact.corpus.store import Fetch
from localfact.corpus.verify import verify
from localfact.corpus.writer import CorpusWriter
from localfact.errors import CorpusError, InputError, WriteError
from localfact.models.embedder import Embedder
from localfact.web.pages import Page


def test_pages_added_in_any_number_of_goes_make_the_corpus_that_one_go_makes(
    tmp_path: Path, pages: list[Page], minilm: Embedder
) -> None:
    once = build_corpus(pages, tmp_path / "once", minilm)
    for begin in range(0, len(pages), 3):
        with CorpusWriter(tmp_path / "grown", minilm) as writer:
            assert writer.add_pages(pages[begin : begin + 3]) == len(pages[begin : begin + 3])
            grown = writer.finish(("chunks", "pages"))
    assert (grown.content, grown.pages, grown.segments) == (once.content, once.pages, once.segments)
    one, other = (Corpus.open(tmp_path / name, minilm) for name in ("once", "grown"))
    assert verify(other) == []
    for query in ("Of what stone is the lighthouse?", "Puffins nest", "harbour 1884"):
        assert one.search(query, "chunks", 5) == other.search(query, "chunks", 5)


def test_merging_leaves_one_segment_a_kind_and_the_same_content(tmp_path: Path, pages: list[Page], minilm: Embedder) -> None:
    for page in pages[:3]:
        with CorpusWriter(tmp_path / "corpus", minilm) as writer:
            writer.add_pages([page])
            grown = writer.finish(("pages",))
    found = Corpus.open(tmp_path / "corpus", minilm).search("harbour", "pages", 5)
    with CorpusWriter(tmp_path / "corpus", minilm) as writer:
        merged = writer.finish((), merge=True)
    assert merged.content == grown.content
    assert len(list((tmp_path / "corpus" / "segments").glob("pages-0*"))) == 1
    corpus = Corpus.open(tmp_path / "corpus", minilm)
    assert verify(corpus) == []
    assert corpus.search("harbour", "pages", 5) == found


def test_a_folder_whose_path_is_not_utf8_takes_words_and_refuses_vectors_at_once(
    tmp_path: Path, pages: list[Page], minilm: Embedder
) -> None:
    folder = tmp_path / os.fsdecode(b"corpus-\xff")
    with pytest.raises(InputError, match=r"corpus-.* is no place for vectors"):
        build_corpus(pages, folder, minilm)
    assert not folder.exists()
    build_corpus(pages, folder, None)
    assert verify(Corpus.open(folder, None)) == []


def test_a_further_kind_of_passages_can_be_indexed_later(tmp_path: Path, pages: list[Page]) -> None:
    build_corpus(pages, tmp_path / "corpus", None, kinds=("pages",))
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        assert set(writer.finish(("chunks",)).segments) == {"chunks", "pages"}
    assert Corpus.open(tmp_path / "corpus", None).search("puffins", "chunks", 1)


def test_an_unfinished_corpus_is_refused_with_what_to_do_and_can_be_finished(tmp_path: Path, pages: list[Page]) -> None:
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        writer.add_pages(pages)
    assert read_description(tmp_path / "corpus").unfinished
    with pytest.raises(CorpusError, match=r"unfinished.*localfact corpus merge"):
        Corpus.open(tmp_path / "corpus", None)
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        assert writer.finish(("pages",)).pages == len(pages)
    assert verify(Corpus.open(tmp_path / "corpus", None)) == []


def test_a_writer_that_adds_nothing_changes_nothing(tmp_path: Path, pages: list[Page]) -> None:
    build_corpus(pages, tmp_path / "corpus", None)
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "corpus").rglob("*")}
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        assert writer.store.search("nobody asked", 5) is None
        assert writer.store.page_at(pages[0].link) == pages[0]
        writer.finish(("pages",))
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "corpus").rglob("*")} == before


def test_two_do_not_add_at_once_nor_does_one_read_while_another_adds(tmp_path: Path, pages: list[Page]) -> None:
    build_corpus(pages, tmp_path / "corpus", None)
    with CorpusWriter(tmp_path / "corpus", None):
        with pytest.raises(InputError, match="being added to by another process"):
            CorpusWriter(tmp_path / "corpus", None)
        with pytest.raises(InputError, match="being added to by another process"):
            Corpus.open(tmp_path / "corpus", None)
    with (
        Corpus.open(tmp_path / "corpus", None),
        Corpus.open(tmp_path / "corpus", None),
        pytest.raises(InputError, match="being read by another process"),
    ):
        CorpusWriter(tmp_path / "corpus", None)
    CorpusWriter(tmp_path / "corpus", None).close()
    corpus: Corpus | None = Corpus.open(tmp_path / "corpus", None)
    assert corpus is not None
    corpus = None  # forgotten, not closed
    CorpusWriter(tmp_path / "corpus", None).close()


def test_where_the_file_system_has_no_locks_a_corpus_can_be_read_but_not_added_to(
    tmp_path: Path, pages: list[Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    build_corpus(pages, tmp_path / "corpus", None)
    monkeypatch.setattr("fcntl.flock", without_locks)
    with Corpus.open(tmp_path / "corpus", None) as corpus:
        assert corpus.search("puffins", "pages", 1)
    with pytest.raises(WriteError, match="No locks available"):
        CorpusWriter(tmp_path / "corpus", None)


def test_a_corpus_that_cannot_be_opened_is_held_by_nobody(tmp_path: Path, pages: list[Page], minilm: Embedder) -> None:
    build_corpus(pages, tmp_path / "corpus", minilm)
    with pytest.raises(CorpusError) as kept:
        Corpus.open(tmp_path / "corpus", Embedder("other@1", minilm._model))
    with pytest.raises(CorpusError) as kept_too:
        CorpusWriter(tmp_path / "corpus", Embedder("other@1", minilm._model))
    CorpusWriter(tmp_path / "corpus", minilm).close()
    assert kept.value.args
    assert kept_too.value.args


def test_vectors_are_not_dropped_by_a_writer_without_an_embedder(tmp_path: Path, pages: list[Page], minilm: Embedder) -> None:
    description = build_corpus(pages, tmp_path / "corpus", minilm)
    with pytest.raises(CorpusError, match=r"built with the embedder minilm@.*--embedder minilm$"):
        CorpusWriter(tmp_path / "corpus", None)
    assert read_description(tmp_path / "corpus") == description


def test_pages_that_are_all_there_leave_a_finished_corpus_as_it_is(tmp_path: Path, pages: list[Page]) -> None:
    build_corpus(pages, tmp_path / "corpus", None)
    before = {file: file.read_bytes() for file in (tmp_path / "corpus").rglob("*") if file.is_file()}

    def broken() -> Iterator[Page]:
        yield pages[0]
        raise InputError("cannot be read")

    with CorpusWriter(tmp_path / "corpus", None) as writer:
        assert writer.add_pages([]) == writer.add_pages(pages) == 0
        with pytest.raises(InputError, match="cannot be read"):
            writer.add_pages(broken())
        assert not writer.description.unfinished
    assert {file: file.read_bytes() for file in (tmp_path / "corpus").rglob("*") if file.is_file()} == before
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        assert writer.add_pages([*pages, Page(link="new", text="New."), pages[0]]) == 1
        assert writer.finish(()).pages == len(pages) + 1


@pytest.mark.parametrize("name", ["corpus.sqlite", "segments/pages-terms-0001/passages.npy"])
def test_a_finished_corpus_that_lacks_a_file_is_not_begun_anew(tmp_path: Path, pages: list[Page], name: str) -> None:
    build_corpus(pages, tmp_path / "corpus", None)
    (tmp_path / "corpus" / name).unlink()
    with pytest.raises(CorpusError, match=f"lacks its file {name}"):
        CorpusWriter(tmp_path / "corpus", None)
    assert not (tmp_path / "corpus" / name).exists()


def test_an_unfinished_corpus_that_lacks_what_it_had_is_not_begun_anew(tmp_path: Path) -> None:
    for name, finished in (("once", True), ("never", False)):
        with CorpusWriter(tmp_path / name, None) as writer:
            fetch = Fetch(link=LINK, final_link=LINK, time="now", page=Page(link=LINK, text="Puffins."))
            writer.add_fetch(fetch, [answer := exchange(LINK)], answer)
            if finished:
                writer.finish(("pages",))
                writer.add_pages([Page(link="x", text="X.")])
        (tmp_path / name / "corpus.sqlite").rename(tmp_path / "kept")
        with pytest.raises(CorpusError, match=r"lacks its file corpus\.sqlite"):
            CorpusWriter(tmp_path / name, None)
        (tmp_path / "kept").rename(tmp_path / name / "corpus.sqlite")
        (tmp_path / name / "pages" / "pages-00001.warc.gz").unlink()
        lacking = r"lacks (its file pages/)?pages-00001\.warc\.gz"
        with pytest.raises(CorpusError, match=lacking), CorpusWriter(tmp_path / name, None) as writer:
            writer.add_fetch(fetch, [answer], answer)
        assert list((tmp_path / name / "pages").iterdir()) == []


def test_a_store_that_was_asked_for_before_anything_was_added_sees_what_is_added(tmp_path: Path, pages: list[Page]) -> None:
    build_corpus(pages[:1], tmp_path / "corpus", None)
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        store = writer.store
        assert store.page_at(pages[0].link) == pages[0]
        for page in pages[1:]:
            writer.add_pages([page])
            assert store.page_at(page.link) == page
        writer.finish(())
        assert len(list(store.pages())) == len(pages)


def test_segments_of_another_corpus_are_passed_over_told_and_removed(
    tmp_path: Path, pages: list[Page], minilm: Embedder
) -> None:
    ours, segments = tmp_path / "ours", tmp_path / "ours" / "segments"
    build_corpus(pages[:4], ours, minilm, kinds=("pages",))
    build_corpus(pages[4:], tmp_path / "theirs", minilm)
    before = Corpus.open(ours, minilm).search("harbour", "pages", 5)
    for name in ("pages-0001", "pages-terms-0001", "pages-index-0001", "chunks-0001", "chunks-terms-0001", "chunks-index-0001"):
        shutil.copytree(tmp_path / "theirs" / "segments" / name, segments / name.replace("0001", "0007"))
    with Corpus.open(ours, minilm) as corpus:
        assert corpus.search("harbour", "pages", 5) == before
        assert any("pages-index-0007" in problem and "no part" in problem for problem in verify(corpus))
    with CorpusWriter(ours, minilm) as writer:
        writer.add_pages(pages[4:5])
        writer.finish(())
    assert not list(segments.glob("*-0007"))
    with Corpus.open(ours, minilm) as corpus:
        assert verify(corpus) == []
        build_corpus(pages[:5], tmp_path / "once", minilm, kinds=("pages",))
        once = Corpus.open(tmp_path / "once", minilm)
        assert corpus.search("harbour", "pages", 5) == once.search("harbour", "pages", 5)


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        CorpusWriter(tmp_path, None)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_another_embedder_is_refused(tmp_path: Path, pages: list[Page], minilm: Embedder) -> None:
    build_corpus(pages, tmp_path / "corpus", minilm)
    with pytest.raises(CorpusError, match="not other@1"):
        CorpusWriter(tmp_path / "corpus", Embedder("other@1", minilm._model))


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="could not be written"):
        CorpusWriter(tmp_path / "file" / "corpus", None)


KILLED = """
import sys
from pathlib import Path
from localfact.corpus.writer import CorpusWriter
from localfact.web.pages import WEB, Page
writer = CorpusWriter(Path(sys.argv[1]), None)
for number in range(int(sys.argv[2]), 10_000):
    writer.add_pages([Page(link=str(number), text=f"Fact {number}.")])
    print(number, flush=True)
"""


@pytest.mark.slow
def test_killed_while_adding_the_corpus_has_every_page_that_was_added(tmp_path: Path) -> None:
    added = 0
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", KILLED, tmp_path / "corpus", str(added)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        for _ in range(20):
            added = int(process.stdout.readline()) + 1
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        assert writer.finish(("pages",)).pages >= added
    corpus = Corpus.open(tmp_path / "corpus", None)
    assert verify(corpus) == []
    assert {page.link for page in corpus.store.pages()} >= {str(number) for number in range(added)}


@pytest.mark.parametrize(
    "name", ["corpus.yaml.new", "pages/pages-00001.warc.gz", "segments/old", "corpus.sqlite-wal", "anything", "pages/deep/link"]
)
def test_a_corpus_with_a_link_in_it_is_neither_read_nor_written(tmp_path: Path, pages: list[Page], name: str) -> None:
    folder, victim = tmp_path / "corpus", tmp_path / "victim"
    build_corpus(pages[:1], folder, None)
    (victim / "inner").mkdir(parents=True)
    (victim / "inner/file").write_text("precious")
    link = folder / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(victim if name.startswith("segments") else victim / "inner/file")
    with pytest.raises(InputError, match=f"{name} is a symbolic link"):
        CorpusWriter(folder, None)
    with pytest.raises(InputError, match=f"{name} is a symbolic link"):
        Corpus.open(folder, None)
    assert (victim / "inner/file").read_text() == "precious"
    link.unlink()
    with CorpusWriter(folder, None) as writer:
        writer.add_pages(pages[1:2])
        writer.finish(("pages",))


class KilledError(Exception):
    """Stands for a kill."""


def test_hashes_of_a_corpus_that_was_killed_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, texts = tmp_path / "corpus", ("One lamp was lit there.", "Two tents stood here..")
    build_corpus([Page(link="https://a.example/1", text=texts[0])], folder, None)
    describe = CorpusWriter._describe

    def killed(writer: CorpusWriter, description: CorpusDescription) -> None:
        if not description.unfinished:
            raise KilledError
        describe(writer, description)

    # The last page goes, and another one comes: its segments get the names that the description still has.
    for change in (
        lambda writer: writer.remove(["https://a.example/1"]),
        lambda writer: writer.add_pages([Page(link="https://a.example/2", text=texts[1])]),
    ):
        with monkeypatch.context() as patch, CorpusWriter(folder, None) as writer:
            patch.setattr(CorpusWriter, "_describe", killed)
            change(writer)
            with pytest.raises(KilledError):
                writer.finish(())
    with CorpusWriter(folder, None) as writer:
        writer.finish(())
    with Corpus.open(folder, None) as corpus:
        assert verify(corpus) == []
        assert [passage.text for passage, _ in corpus.search("tents", "pages", 5)] == [texts[1]]


def test_segments_that_were_there_are_not_hashed_again(
    tmp_path: Path, pages: list[Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    build_corpus(pages[:4], tmp_path / "corpus", None, kinds=("pages",))
    hashed: list[str] = []
    digest = files_module.file_digest

    def counted(file: Path) -> str:
        hashed.append(file.parent.name)
        return digest(file)

    monkeypatch.setattr(files_module, "file_digest", counted)
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        writer.add_pages(pages[4:])
        writer.finish(())
    assert set(hashed) == {"corpus", "pages-terms-0002", "pages-index-0002"}
    with Corpus.open(tmp_path / "corpus", None) as corpus:
        assert verify(corpus) == []
