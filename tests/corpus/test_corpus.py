"""A corpus is built whole or not at all, opened only if it is what it says, and found to be damaged when it is."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import CommandLine

from localfact.corpus.build import build_corpus, place_beside
from localfact.corpus.corpus import Corpus, corpus_identity, read_description
from localfact.corpus.indexing.lexical_index import LexicalIndex
from localfact.corpus.verify import verify
from localfact.errors import CorpusError, InputError, MissingError, WriteError
from localfact.models.embedder import Embedder
from localfact.web.pages import Page

SEGMENT = "segments/chunks-0001"
WORDS = "segments/chunks-terms-0001"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, pages: list[Page], minilm: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "norvik"
    build_corpus(pages, folder, minilm)
    return folder


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A copy of the corpus, to damage."""
    return shutil.copytree(built, tmp_path / "copy")


def test_a_copied_corpus_is_searched(copy: Path, minilm: Embedder) -> None:
    (passage, score), *_ = Corpus.open(copy, minilm).search("Of what stone is the lighthouse?", "chunks", 3)
    assert "red granite" in passage.text
    assert passage.host == "lighthouse.example"
    assert (passage.title, passage.date) == ("Lighthouse", "2020-01-01")
    assert score > 0


def test_without_an_embedder_words_alone_are_searched(copy: Path) -> None:
    corpus = Corpus.open(copy, None)
    assert corpus.embedder is None
    (passage, _), *_ = corpus.search("Puffins nest", "pages", 1)
    assert passage.title == "Bird"


def test_a_corpus_built_without_an_embedder_may_be_opened_with_one(tmp_path: Path, pages: list[Page], minilm: Embedder) -> None:
    description = build_corpus(pages, tmp_path / "plain", None, kinds=("pages",))
    assert description.segments["pages"].vectors is None
    corpus = Corpus.open(tmp_path / "plain", minilm)
    assert corpus.embedder is None
    assert verify(corpus) == []
    with pytest.raises(InputError, match="no passages of the kind 'chunks'"):
        corpus.search("anything", "chunks", 1)


def test_the_description_counts_what_is_there(built: Path, pages: list[Page], minilm: Embedder) -> None:
    description = read_description(built)
    assert description.pages == len(pages)
    assert description.embedder == minilm.identity
    assert description.segments["pages"].passages == len(pages)
    on_disk = {file.relative_to(built).as_posix() for file in built.rglob("*") if file.is_file()}
    assert set(description.files) == on_disk - {"corpus.yaml"}
    assert verify(Corpus.open(built, minilm)) == []


def test_the_same_pages_in_any_order_make_the_same_corpus(
    tmp_path: Path, built: Path, pages: list[Page], minilm: Embedder
) -> None:
    shuffled = random.Random(1).sample(pages, len(pages))
    build_corpus([*shuffled, pages[0]], tmp_path / "again", minilm)
    assert corpus_identity(tmp_path / "again") == corpus_identity(built)
    ours, theirs = (read_description(folder).files for folder in (tmp_path / "again", built))
    # SQLite keeps rows in the order in which they came; the indexes are the same to the byte.
    assert {name for name in ours if ours[name] != theirs[name]} == {"corpus.sqlite"}


def test_other_pages_or_another_embedder_make_another_identity(tmp_path: Path, built: Path, pages: list[Page]) -> None:
    build_corpus(pages, tmp_path / "plain", None)
    build_corpus(pages[1:], tmp_path / "fewer", None)
    assert len({corpus_identity(folder) for folder in (built, tmp_path / "plain", tmp_path / "fewer")}) == 3


def test_a_text_on_two_pages_is_one_passage_with_both_links(tmp_path: Path) -> None:
    pages = [Page(link=f"https://{host}.example/", title=host, text="The same text.") for host in ("beta", "alpha")]
    description = build_corpus(pages, tmp_path / "twice", None)
    assert description.segments["chunks"].passages == 1
    ((passage, _),) = Corpus.open(tmp_path / "twice", None).search("same text", "chunks", 5)
    assert passage.links == ("https://alpha.example/", "https://beta.example/")
    assert (passage.host, passage.title) == ("alpha.example", "alpha")


def test_progress_is_told_per_kind(tmp_path: Path, pages: list[Page], minilm: Embedder) -> None:
    told: list[tuple[str, int, int]] = []
    build_corpus(pages, tmp_path / "told", minilm, progress=lambda *steps: told.append(steps))
    assert told == [("chunks", 8, 8), ("pages", 8, 8)]


def test_odd_texts_can_be_built_from(tmp_path: Path, minilm: Embedder) -> None:
    odd = [
        Page(link=str(number), text=text) for number, text in enumerate(["...", "🙂", "x" * 9_000, "'; DROP TABLE pages; --"])
    ]
    build_corpus(odd, tmp_path / "odd", minilm)
    assert verify(Corpus.open(tmp_path / "odd", minilm)) == []


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, pages: list[Page]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        build_corpus(pages, tmp_path, None)
    with pytest.raises(InputError, match="exists already"):
        build_corpus(pages, tmp_path / "mine.txt", None)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_no_pages_make_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no page with a text"):
        build_corpus([], tmp_path / "none", None)
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
@pytest.mark.parametrize("embedder", ["none", "minilm"])
def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path: Path, embedder: str) -> None:
    rows = [{"url": str(number), "text": f"Fact {number} of the island."} for number in range(24)]
    # Without an embedder the store is what grows too large, with one the vectors.
    rows += [{"url": "long", "text": "word " * 20_000}] if embedder == "none" else []
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("corpus", "build", "pages.jsonl", "--out", "full", "--passages", "chunks", "--embedder", embedder)
    done = CommandLine(tmp_path)(*words, largest_file=20_000)
    assert done.returncode == 2
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["pages.jsonl"]


@pytest.mark.slow
def test_a_build_that_is_killed_leaves_no_corpus_and_the_next_one_works(tmp_path: Path, pages: list[Page]) -> None:
    target = tmp_path / "killed"
    program = (
        "import sys, time; from pathlib import Path;"
        "from localfact.corpus import build; from localfact.web.pages import Page;"
        "build.CorpusWriter.finish = lambda *_, **__: (print('writing', flush=True), time.sleep(60));"
        "build.build_corpus([Page(link='l', text='Some text.')], Path(sys.argv[1]), None)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, target], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    assert not target.exists()
    with pytest.raises(MissingError):
        Corpus.open(target, None)
    assert list(tmp_path.iterdir()) != []
    build_corpus(pages, target, None)
    assert verify(Corpus.open(target, None)) == []
    assert list(tmp_path.iterdir()) == [target], "what the killed build left is gone"


def test_two_processes_do_not_build_one_folder_at_once(tmp_path: Path, pages: list[Page]) -> None:
    target = tmp_path / "twice"
    with place_beside(target), pytest.raises(InputError, match="Another process is building"):
        build_corpus(pages, target, None)
    assert list(tmp_path.iterdir()) == []
    build_corpus(pages, target, None)
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_in_place_of_the_building_folder_is_not_followed(tmp_path: Path, pages: list[Page]) -> None:
    precious = tmp_path / "elsewhere" / "corpus" / "kept.txt"
    precious.parent.mkdir(parents=True)
    precious.write_text("mine")
    (tmp_path / ".target.building").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError):
        build_corpus(pages, tmp_path / "target", None)
    assert precious.read_text() == "mine"


def test_a_folder_without_a_corpus_is_missed_with_the_command(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(MissingError, match="localfact corpus build"):
            Corpus.open(folder, None)
        with pytest.raises(MissingError, match="localfact corpus build"):
            corpus_identity(folder)


def test_another_embedder_is_refused_and_both_are_named(built: Path, minilm: Embedder) -> None:
    other = Embedder("other@1", minilm._model)
    with pytest.raises(CorpusError, match=rf"{minilm.identity}, not other@1.*--embedder"):
        Corpus.open(built, other)


@pytest.mark.parametrize("name", ["corpus.sqlite", f"{SEGMENT}/dense.faiss", f"{SEGMENT}/parts.npy", f"{WORDS}/counts.npy"])
def test_a_file_that_is_cut_off_or_missing_is_told_at_opening(copy: Path, minilm: Embedder, name: str) -> None:
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(CorpusError, match=rf"{name}.*instead of.*Copy it again"):
        Corpus.open(copy, minilm)
    (copy / name).unlink()
    with pytest.raises(CorpusError, match=f"lacks its file {name}"):
        Corpus.open(copy, minilm)


@pytest.mark.parametrize("name", ["corpus.sqlite", f"{SEGMENT}/dense.faiss", f"{WORDS}/terms.npy"])
def test_a_file_that_was_changed_is_found_by_verify(copy: Path, minilm: Embedder, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[-1] ^= 1
    (copy / name).write_bytes(content)
    assert verify(Corpus.open(copy, minilm)) == [f"The file {name} is not the one that was built: its SHA-256 differs."]


@pytest.mark.parametrize("name", [f"{WORDS}/passages.npy", f"{SEGMENT}/dense.faiss", f"{WORDS}/starts.npy"])
def test_an_index_of_noise_is_a_damaged_corpus(copy: Path, minilm: Embedder, name: str) -> None:
    (copy / name).write_bytes(b"?" * (copy / name).stat().st_size)
    with pytest.raises(CorpusError, match=r"index over chunks .* is damaged"):
        Corpus.open(copy, minilm).search("anything", "chunks", 1)


@pytest.mark.parametrize(
    ("name", "place", "noise"),
    [
        (f"{SEGMENT}/parts.npy", -16, b"\x00\x00\x00\x40"),  # a place far beyond the vectors
        (f"{SEGMENT}/parts.npy", 20, b"\x00\x00\x00\x00"),  # a header that is no Python literal
        (f"{SEGMENT}/parts.npy", 20, b"((((("),
        (f"{WORDS}/positions.npy", -4, b"\xff\xff\xff\x7f"),  # a passage that is not there
    ],
)
def test_one_wrong_place_in_an_index_is_a_damaged_corpus(
    copy: Path, minilm: Embedder, name: str, place: int, noise: bytes
) -> None:
    content = bytearray((copy / name).read_bytes())
    place %= len(content)
    content[place : place + len(noise)] = noise
    (copy / name).write_bytes(content)
    with pytest.raises(CorpusError, match=r"index over chunks .* is damaged"):
        search_every_word(copy, minilm)


def search_every_word(folder: Path, embedder: Embedder) -> None:
    """Searches for each word of the index over chunks, so that all of it is read."""
    found = Corpus.open(folder, embedder)
    words = LexicalIndex.load(folder / WORDS).terms
    for word in words:
        found.search(word.decode(), "chunks", 5)
    assert len(words) > 100


def test_a_store_of_noise_is_a_damaged_corpus(copy: Path) -> None:
    (copy / "corpus.sqlite").write_bytes(b"?" * (copy / "corpus.sqlite").stat().st_size)
    with pytest.raises(CorpusError, match="is damaged"):
        Corpus.open(copy, None).search("Puffins", "chunks", 1)


@pytest.mark.parametrize("text", ["", "{", "format: 3", "[1, 2]", "\x00"])
def test_a_description_that_cannot_be_read_is_told(copy: Path, text: str) -> None:
    (copy / "corpus.yaml").write_text(text)
    with pytest.raises(CorpusError, match="is damaged and cannot be read"):
        Corpus.open(copy, None)


@pytest.mark.parametrize("number", [2, 99])
def test_a_corpus_of_another_format_is_refused(copy: Path, number: int) -> None:
    description = yaml.safe_load((copy / "corpus.yaml").read_text())
    (copy / "corpus.yaml").write_text(yaml.safe_dump({**description, "format": number, "news": True}))
    with pytest.raises(CorpusError, match=f"has format {number}, .* localfact corpus build PAGES"):
        Corpus.open(copy, None)


def test_verify_counts_what_the_description_says(copy: Path, minilm: Embedder) -> None:
    description = yaml.safe_load((copy / "corpus.yaml").read_text())
    description["pages"] += 1
    description["segments"]["pages"]["vectors"] += 1
    (copy / "corpus.yaml").write_text(yaml.safe_dump(description))
    assert len(verify(Corpus.open(copy, minilm))) == 2


def test_a_corpus_is_read_from_a_folder_that_cannot_be_written(copy: Path, minilm: Embedder) -> None:
    before = {file: file.stat().st_mtime_ns for file in copy.rglob("*")}
    for entry in copy.rglob("*"):
        entry.chmod(0o555 if entry.is_dir() else 0o444)
    corpus = Corpus.open(copy, minilm)
    assert verify(corpus) == []
    assert corpus.search("Puffins", "chunks", 1)
    assert {file: file.stat().st_mtime_ns for file in copy.rglob("*")} == before
    for entry in [copy, *copy.rglob("*")]:
        entry.chmod(0o755)
