"""A corpus in two lines."""

from typing import Any

from localfact.report.corpus_line import tell_corpus

HOLDS: dict[str, Any] = {"pages": 12, "embedder": None, "segments": {"chunks": {"passages": 40}, "pages": {"passages": 21}}}


def test_what_was_read_and_what_was_passed_over_is_a_sentence() -> None:
    said = tell_corpus("mine", {}, HOLDS, [f"{name}.txt: It has no text." for name in "abcde"])
    assert said.startswith(
        "mine: 12 pages read, 61 passages (40 chunks, 21 pages), 5 passed over: a.txt: It has no text; b.txt"
    )
    assert said.endswith("c.txt: It has no text; 2 more.\nIt is searched by words alone (BM25).")


def test_what_was_done_comes_before_what_there_is() -> None:
    one_kind = {**HOLDS, "segments": {"pages": {"passages": 21}}, "embedder": "minilm@53aa"}
    said = tell_corpus("mine", {"added": 2, "replaced": 0}, one_kind)
    assert said.startswith("mine: 2 added, 0 replaced, 12 pages in all, 21 passages.\n")
    assert "the vectors of minilm@53aa" in said
