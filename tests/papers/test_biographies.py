"""The biographies file made anew: what is in it is what the release and the corpus say, read back by inputs.py."""

import json
from pathlib import Path
from typing import Any

import pytest

from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import Corpus
from localfact.errors import InputError, MissingError, RunFolderError
from localfact.inputs.responses import read_responses
from localfact.papers.biographies import NO_ANNOTATION, NO_LABELLED_FACT, Built, build_biographies
from localfact.vocabulary import GoldLabel
from localfact.web.pages import Page

PAGES = (
    Page(link="https://a.example/curie", title="Marie Curie", text="Marie Curie was a physicist born in Warsaw."),
    Page(link="https://a.example/bach", title="Bach", text="Bach was a composer who worked in Leipzig."),
    Page(link="https://a.example/ada", title="Ada Lovelace", text="Ada Lovelace wrote a program for the engine."),
    Page(link="https://a.example/warsaw", title="Warsaw", text="Warsaw is the capital of Poland."),
)


def fact(text: str, label: str | None) -> dict[str, Any]:
    return {"text": text} if label is None else {"text": text, "label": label}


def biography(topic: str, *facts: dict[str, Any], output: str = "A text.", annotated: bool = True) -> dict[str, Any]:
    """One row of the release; the facts stand in two sentences, the second of which may have none at all."""
    sentences = [
        {"text": output, "is-relevant": True, "model-atomic-facts": [{"text": "ignored"}], "human-atomic-facts": list(facts)},
        {"text": "Aside.", "is-relevant": False, "model-atomic-facts": [], "human-atomic-facts": None},
    ]
    return {
        "input": f"Question: Tell me a bio of {topic}.",
        "output": output,
        "topic": topic,
        "cat": ["rare", "Europe"],
        "annotations": sentences if annotated else None,
    }


ROWS: tuple[dict[str, Any] | str, ...] = (
    biography(
        "Marie Curie", fact("Marie Curie was a physicist.", "S"), fact("Curie was born in Kraków.", "NS"), fact("Hm.", "IR")
    ),
    biography("Nobody", annotated=False),
    biography("Bach", fact("Bach was a composer.", "S"), fact("Bach had no label.", None)),
    biography("Irrelevant", fact("So it goes.", "IR")),
    "no json",
    biography("Wrong", fact("A label of another kind.", "MAYBE")),
)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    file = tmp_path / "labels.jsonl"
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in ROWS), encoding="utf-8")
    return file


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    build_corpus(PAGES, tmp_path / "corpus", None)
    return tmp_path / "corpus"


def build(labels: Path, corpus: Path, out: Path, k: int = 2, *, force: bool = False) -> Built:
    return build_biographies(labels, corpus, out, k=k, embedder=None, force=force)


def test_every_row_is_written_or_left_out_with_its_reason_and_every_fact_is_counted(labels: Path, corpus: Path) -> None:
    built = build(labels, corpus, labels.with_name("out.jsonl"))
    assert (built.rows, built.written) == (6, 2)
    assert sum(built.left_out.values()) == 4
    assert built.left_out[NO_ANNOTATION] == 1
    assert built.left_out[NO_LABELLED_FACT] == 1
    assert any("not JSON" in reason for reason in built.left_out)
    assert any("MAYBE" in reason for reason in built.left_out)
    assert (built.supported, built.not_supported, built.irrelevant, built.unlabelled) == (2, 1, 2, 1)


def test_the_rows_are_in_ibms_schema(labels: Path, corpus: Path) -> None:
    out = labels.with_name("out.jsonl")
    build(labels, corpus, out, k=1)
    first = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert first == {
        "id": "row-1",
        "input": "Question: Tell me a bio of Marie Curie.",
        "output": "A text.",
        "topic": "Marie Curie",
        "cat": ["rare", "Europe"],
        "atoms": [
            {
                "id": "a0",
                "text": "Marie Curie was a physicist.",
                "original": "Marie Curie was a physicist.",
                "label": "S",
                "contexts": ["c_a0_0"],
            },
            {
                "id": "a1",
                "text": "Curie was born in Kraków.",
                "original": "Curie was born in Kraków.",
                "label": "NS",
                "contexts": ["c_a1_0"],
            },
        ],
        "contexts": [
            {"id": f"c_a{atom}_0", "title": "Marie Curie", "text": PAGES[0].text, "link": "https://a.example/curie"}
            for atom in (0, 1)
        ],
    }


def test_what_is_written_is_read_back_with_the_same_claims_labels_and_best_passages(labels: Path, corpus: Path) -> None:
    out = labels.with_name("out.jsonl")
    build(labels, corpus, out, k=2)
    opened = Corpus.open(corpus, None)
    read = read_responses(out)
    assert [response.problem for response in read] == [None, None]
    given = {response.topic: response for response in read_responses(labels)}
    for response in read:
        original = given[response.topic]
        assert (response.text, response.prompt) == (original.text, original.prompt)
        judged = [claim for claim in original.claims or () if claim.gold in (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED)]
        assert [(claim.text, claim.gold) for claim in response.claims or ()] == [(claim.text, claim.gold) for claim in judged]
        evidence = response.evidence
        assert evidence is not None
        assert evidence.notes == ()
        for claim in response.claims or ():
            best = [passage.id for passage, _ in opened.search(claim.text, "pages", 2)]
            assert [hit.passage_id for hit in evidence.hits[claim.id]] == best


def test_an_atom_that_the_corpus_says_nothing_of_has_no_context_and_is_counted(tmp_path: Path, corpus: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(json.dumps(biography("X", fact("Zyxw vuts.", "NS"))) + "\n", encoding="utf-8")
    built = build(file, corpus, tmp_path / "out.jsonl")
    assert (built.contexts, built.atoms_without_contexts) == (0, 1)


def test_a_build_that_was_killed_goes_on_and_ends_with_the_same_bytes(labels: Path, corpus: Path) -> None:
    whole, stopped = labels.with_name("whole.jsonl"), labels.with_name("stopped.jsonl")
    build(labels, corpus, whole)

    class Killer:
        def begin(self, responses: int, done: int) -> None:
            assert (responses, done) == (2, 0)

        def count(self, stage: str, number: int) -> None: ...

        def row_done(self) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_biographies(labels, corpus, stopped, k=2, embedder=None, progress=Killer())
    assert not stopped.exists()
    again = build(labels, corpus, stopped)
    assert stopped.read_bytes() == whole.read_bytes()
    assert again == build(labels, corpus, whole).model_copy(update={"out": stopped})


def test_other_settings_are_refused_unless_forced(labels: Path, corpus: Path) -> None:
    out = labels.with_name("out.jsonl")
    build(labels, corpus, out, k=2)
    with pytest.raises(RunFolderError, match="k: 2 -> 1"):
        build(labels, corpus, out, k=1)
    assert build(labels, corpus, out, k=1, force=True).contexts == 3


def test_a_file_without_any_biography_is_refused_with_the_reasons(tmp_path: Path, corpus: Path) -> None:
    file = tmp_path / "none.jsonl"
    file.write_text(json.dumps(biography("Nobody", annotated=False)) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"no biography that can be used \(1 rows: no annotation"):
        build(file, corpus, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl.run.yaml").exists()


def test_a_corpus_that_is_not_there_is_named(labels: Path) -> None:
    with pytest.raises(MissingError, match="There is no corpus in"):
        build(labels, labels.with_name("nowhere"), labels.with_name("out.jsonl"))


@pytest.mark.slow
def test_the_shared_release_gives_as_many_labels_as_its_readme_counts(shared: Path, corpus: Path, tmp_path: Path) -> None:
    built = build(shared / "data/factscore_bios/ChatGPT.jsonl", corpus, tmp_path / "out.jsonl", k=1)
    assert (built.rows, built.written, built.left_out) == (119, 101, {NO_ANNOTATION: 18})
    assert (built.supported, built.not_supported, built.irrelevant) == (1998, 1136, 337)
