"""Sets of claims and the evidence for or against them, in one order, without text of what is shipped or measured on.

The readers are in answer_sets.py and page_sets.py; sentence_sets.py reads the sets of plain sentence pairs.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from localfact.text import sentences, words
from scripts.data_sets import answer_sets, page_sets
from scripts.data_sets.examples import Example
from scripts.data_sets.reading import json_lines

READERS = (
    answer_sets.stances,
    answer_sets.answers,
    page_sets.wice,
    answer_sets.expertqa,
    page_sets.factor_news,
    page_sets.factor_expert,
    answer_sets.conflict_nq,
    page_sets.wikicontradict,
    page_sets.fever_symmetric,
    page_sets.factcg,
)
SAMPLE = Path(__file__).parents[2] / "index"
SAMPLE_FILES = ("sample-pages.jsonl", "sample-responses.jsonl")
#: A shorter sentence may be the same by chance.
SHORTEST_SHARED = 8


def evidence_sets(data: Path) -> Iterator[Example]:
    """All pairs of these sets, in a fixed order, each once.

    Left out: a pair that has two labels, and what shares a sentence with a text that results are shown on.
    """
    return without_shown(each_once(example for reader in READERS for example in reader(data)), data)


def without_shown(examples: Iterable[Example], data: Path) -> Iterator[Example]:
    """The examples but for those that share a sentence with a text that results are shown on."""
    shown = shown_sentences(data)
    return (example for example in examples if not shares_text(example, shown))


def each_once(examples: Iterable[Example]) -> Iterator[Example]:
    """The first example of each premise and hypothesis; none of a pair that has two labels."""
    examples = list(examples)
    labels: dict[tuple[str, str], set[str]] = {}
    for example in examples:
        labels.setdefault((example.premise, example.hypothesis), set()).add(example.label)
    for example in examples:
        if len(labels.pop((example.premise, example.hypothesis), ())) == 1:
            yield example


def shown_texts(data: Path) -> Iterator[str]:
    """The shipped sample's pages and answers, and the biography of Lanny Flaherty with its contexts."""
    for name in SAMPLE_FILES:
        for row in json_lines(SAMPLE / name):
            yield from (row[field] for field in ("text", "response") if field in row)
    for name in ("wikipedia", "google"):
        biography = json.loads((data / f"flaherty/flaherty_{name}.json").read_text(encoding="utf-8"))
        yield biography["output"]
        yield from (context.get("text") or context["snippet"] for context in biography["contexts"])


def shown_sentences(data: Path) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """The words of every sentence of these texts that has at least SHORTEST_SHARED, by the first so many."""
    return by_beginning(shown_texts(data))


def by_beginning(texts: Iterable[str]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """The words, in lower case, of every sentence that has at least SHORTEST_SHARED, by the first so many."""
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for text in texts:
        for span in sentences(text):
            spoken = tuple(words(text[span.start : span.end].casefold()))
            if len(spoken) >= SHORTEST_SHARED:
                found.setdefault(spoken[:SHORTEST_SHARED], []).append(spoken)
    return found


def shares_text(example: Example, shown: dict[tuple[str, ...], list[tuple[str, ...]]]) -> bool:
    """Whether one of the sentences, as `by_beginning` gives them, stands in the premise or the hypothesis."""
    for text in (example.premise, example.hypothesis):
        spoken = tuple(words(text.casefold()))
        for start in range(len(spoken) - SHORTEST_SHARED + 1):
            for sentence in shown.get(spoken[start : start + SHORTEST_SHARED], ()):
                if spoken[start : start + len(sentence)] == sentence:
                    return True
    return False
