"""Names in the files of a corpus become paths: one that leads out of it is refused in a sentence, and nothing happens there."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from commands import QuickCommandLine

from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import Corpus
from localfact.corpus.store import Fetch
from localfact.corpus.verify import unreadable_answers
from localfact.corpus.writer import CorpusWriter
from localfact.errors import CorpusError
from localfact.runtime.sqlite import connect
from localfact.web.pages import Page

BAD = ("../outside", "/etc/passwd", "segments/../../outside", "a\\b", "", "a//b", "a\nb", "x" * 300, "segments/..")
COMMANDS = (
    ("info", "corpus"),
    ("verify", "corpus"),
    ("search", "corpus", "puffins"),
    ("export", "corpus", "--out", "out.jsonl"),
    ("add", "corpus", "more.jsonl"),
    ("remove", "corpus", "a"),
    ("merge", "corpus"),
    ("reextract", "corpus"),
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    build_corpus([Page(link=name, text=f"Puffins nest on {name}.") for name in "ab"], tmp_path / "corpus", None)
    (tmp_path / "more.jsonl").write_text(json.dumps({"url": "c", "text": "Herons fish."}))
    (tmp_path / "outside").write_text("mine")
    return tmp_path / "corpus"


def refuse_all(corpus: Path, commands: Sequence[Sequence[str]], told: str) -> None:
    for words in commands:
        done = QuickCommandLine(corpus.parent)("corpus", *words)
        assert done.returncode == CorpusError.exit_code, words
        assert done.stderr.splitlines()[-1].startswith("Error: ")
        assert told in done.stderr
        assert "Copy it again" in done.stderr
        assert "Traceback" not in done.stderr
    assert (corpus.parent / "outside").read_text() == "mine"


@pytest.mark.parametrize("name", BAD)
@pytest.mark.slow
def test_a_name_in_its_description_leads_nowhere_else(corpus: Path, name: str) -> None:
    file = corpus / "corpus.yaml"
    content = yaml.safe_load(file.read_bytes())
    content["files"][name] = content["files"]["corpus.sqlite"]
    file.write_text(yaml.safe_dump(content))
    refuse_all(corpus, COMMANDS, "corpus.yaml is damaged and cannot be read.")


@pytest.mark.parametrize("field", ["words", "segments"])
@pytest.mark.parametrize("name", BAD)
def test_a_name_in_the_description_of_an_index_leads_nowhere_else(corpus: Path, field: str, name: str) -> None:
    (file,) = corpus.glob("segments/pages-index-*/generation.json")
    before, content = file.stat().st_size, json.loads(file.read_text())
    content[field] = {name: 2}
    file.write_text(json.dumps(content))
    described = corpus / "corpus.yaml"
    described.write_text(described.read_text().replace(f"bytes: {before}\n", f"bytes: {file.stat().st_size}\n"))
    refuse_all(corpus, (COMMANDS[2], COMMANDS[4]), "The index over pages of corpus is damaged")


@pytest.mark.parametrize("name", [*BAD, "pages-00001.warc.gz/../../outside"])
def test_a_name_of_an_archive_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    with CorpusWriter(tmp_path / "corpus", None) as writer:
        writer.add_fetch(Fetch(link="l", final_link="l", time="now", page=Page(link="l", text="Puffins.")))
        writer.finish(("pages",))
    database = connect((tmp_path / "corpus" / "corpus.sqlite").absolute().as_uri())
    database.execute("UPDATE fetches SET file = ?, offset = 0, length = 1", (name,))
    database.close()
    with Corpus.open(tmp_path / "corpus", None) as opened:
        (problem,) = unreadable_answers(opened)
    assert "is no place in an archive. Copy the corpus again." in problem
