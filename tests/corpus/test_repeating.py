"""A corpus command that was killed, whenever that was, ends as if it had not been when it is given again, and says so."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import localfact
from localfact.cli.main import app
from localfact.corpus.build import build_corpus, find_built
from localfact.corpus.corpus import Corpus, read_description
from localfact.corpus.verify import verify
from localfact.errors import InputError
from localfact.web.pages import Page

ROWS = [{"url": f"https://a.example/{number}", "text": f"Island {number} has puffins."} for number in range(3)]
PAGES = [Page(link=row["url"], text=row["text"]) for row in ROWS]
OTHER = Page(link="https://b.example/", text="Herons fish.")
BUILD = ("build", "pages.jsonl", "--out", "corpus", "--embedder", "none")
#: Command -> the pages of the corpus before it, none for no corpus; and what is said when it was done before.
COMMANDS = {
    BUILD: ([], "was built of these pages before"),
    ("add", "corpus", "pages.jsonl"): ([OTHER, PAGES[0], Page(link=PAGES[1].link, text="As it was.")], "No page was new."),
    ("remove", "corpus", PAGES[0].link, "b.example"): ([*PAGES, OTHER], f"Removed before: {PAGES[0].link}, b.example."),
    ("merge", "corpus", "--passages", "chunks"): (PAGES, '"corpus"'),
    ("export", "corpus", "--out", "exported.jsonl"): (PAGES, '"exported.jsonl"'),
    ("reextract", "corpus"): (PAGES, '"changed": 0'),
}

#: Where a command is killed: when one of these returns.
WATCHED = {
    str(Path(localfact.__file__).parent / name)
    for name in (
        "corpus/build.py",
        "corpus/export.py",
        "corpus/recorder.py",
        "corpus/writer.py",
        "corpus/indexing/segments.py",
        "runtime/files.py",
        "cli/corpus.py",
        "cli/corpus_info.py",
    )
}
TOLD = {
    *(
        "build_corpus",
        "place_beside",
        "export_pages",
        "replace",
        "replace_by",
        "sync",
        "withdraw",
        "remove",
        "_add",
        "add_pages",
    ),
    *(
        "cut",
        "_cut_some",
        "close",
        "_describe",
        "finish",
        "_replace_older",
        "show_description",
        "build",
        "add",
        "merge",
        "export",
    ),
}


def corpus_command(*words: str) -> Result:
    return CliRunner().invoke(app, ["corpus", *words, "--json"])


def state(folder: Path) -> object:
    """What the folder holds in the end; of the corpus what it is found by."""
    with Corpus.open(folder / "corpus", None) as corpus:
        assert [problem for problem in verify(corpus) if "is no part of" not in problem] == []
        content = corpus.description.model_copy(update={"files": {}}), list(corpus.store.pages()), corpus.store.failures()
    exported = folder / "exported.jsonl"
    return content, exported.read_bytes() if exported.exists() else None, sorted(file.name for file in folder.iterdir())


def made(folder: Path, pages: Sequence[Page]) -> Path:
    folder.mkdir()
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    if pages:
        build_corpus(pages, folder / "corpus", None, kinds=("pages",))
    return folder


def in_child(folder: Path, words: Sequence[str], kill_at: int | None) -> int:
    """Runs the command in a process that ends, with nothing tidied up, at so many returns of what writes and tells.

    Returns how many such returns there were where it is not killed, and 255 or less of them.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    returns = 0

    def watch(frame: object, event: str, argument: object) -> None:
        nonlocal returns
        code = frame.f_code  # type: ignore[attr-defined]
        if event == "return" and code.co_filename in WATCHED and code.co_name in TOLD:
            returns += 1
            if returns == kill_at:
                os._exit(0)

    os.chdir(folder)
    sys.setprofile(watch)
    corpus_command(*words)
    sys.setprofile(None)
    os._exit(min(returns, 255))


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_killed_anywhere_and_given_again_it_ends_as_if_it_had_not_been_killed(
    tmp_path: Path,
    words: Sequence[str],
    some: Callable[[Sequence[int]], Sequence[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, said = COMMANDS[tuple(words)]
    whole = made(tmp_path / "whole", before)
    last = in_child(whole, words, None)
    assert last > 2
    for kill_at in {*some(range(1, last + 1)), last}:
        killed = made(tmp_path / f"killed-{kill_at}", before)
        assert in_child(killed, words, kill_at) == 0
        monkeypatch.chdir(killed)
        again = corpus_command(*words)
        assert again.exit_code == 0, again.output
        assert state(killed) == state(whole), f"killed at {kill_at} of {last}"
        once_more = corpus_command(*words)
        assert once_more.exit_code == 0
        assert said in once_more.output
        assert state(killed) == state(whole)
        shutil.rmtree(killed)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "pages.jsonl").write_text(json.dumps(ROWS[0]) + "\n"),
        lambda folder: (folder / "pages.jsonl").write_text("".join(json.dumps(row | {"title": "T"}) + "\n" for row in ROWS)),
        lambda folder: corpus_command("add", str(folder / "corpus"), str(folder / "more.jsonl")),
        lambda folder: corpus_command("remove", str(folder / "corpus"), PAGES[0].link),
        lambda folder: (folder / "corpus" / "corpus.sqlite").unlink(),
    ],
    ids=["fewer pages", "other titles", "a corpus of more pages", "a corpus of fewer", "a damaged one"],
)
def test_a_corpus_of_other_pages_is_not_built_over(
    tmp_path: Path, change: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "folder", [])
    (folder / "more.jsonl").write_text(json.dumps({"url": OTHER.link, "text": OTHER.text}) + "\n")
    monkeypatch.chdir(folder)
    assert corpus_command(*BUILD).exit_code == 0
    for embedder, kinds in (("other@1", ("chunks", "pages")), (None, ("pages",))):
        assert find_built(PAGES, Path("corpus"), embedder, kinds) is None
    change(folder)
    there = (folder / "corpus" / "corpus.yaml").read_bytes()
    refused = corpus_command(*BUILD)
    assert isinstance(refused.exception, InputError)
    assert "corpus exists already" in str(refused.exception)
    assert (folder / "corpus" / "corpus.yaml").read_bytes() == there


def test_what_was_never_there_is_not_said_to_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made(tmp_path / "folder", PAGES))
    assert corpus_command("remove", "corpus", PAGES[0].link).exit_code == 0
    refused = corpus_command("remove", "corpus", PAGES[0].link, "https://a.example/nothing")
    assert isinstance(refused.exception, InputError)
    assert "has no page with this link or host: https://a.example/nothing." in str(refused.exception)


def test_a_removed_page_that_is_added_again_is_there_as_if_it_had_never_been_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made(tmp_path / "folder", PAGES))
    before = read_description(Path("corpus"))
    corpus_command("remove", "corpus", "a.example")
    added = corpus_command("add", "corpus", "pages.jsonl", "--passages", "pages")
    assert added.exit_code == 0, added.output
    after = read_description(Path("corpus"))
    assert (after.content, after.pages, after.failures) == (before.content, before.pages, 0)
