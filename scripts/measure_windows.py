"""How often the sentence that decides a true claim is in what the built-in relation model reads of a page.

    python -m scripts.measure_windows DATA      DATA: the folder of public data sets; without it the sample alone

The deciding sentences of 64 claims, drawn by seed from half of the topics, were found by reading (`deciding_sentences.jsonl`:
numbers of sentences, any one list of which decides). OpenFactCheck's pieces of evidence are shorter than a window, so that
nothing of them is left out; here those of one answer are put together to a page. WiCE's are its own annotators', of claims that
its pages support in whole or in part: there one sentence of theirs is asked for, and in brackets all that belong together.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tokenizers import Tokenizer

from localfact.records import Pair, Span
from localfact.relations.window_selection import TokenStarts, WindowSelection
from localfact.text import sentences
from scripts.labelled_sets import json_lines

ROOT = Path(__file__).resolve().parents[1]
FILE = Path(__file__).parent / "deciding_sentences.jsonl"
#: Of models/builtin-nli.yaml: the tokens of a pair without special ones, and of the premise.
ROOM, SIZE = 253, 128
#: A sentence is read if nearly all of it is: what reads it may cut space and marks.
NEARLY = 0.8


class Case(NamedTuple):
    """A claim, a page, and lists of the places of its sentences, each of which decides.

    Attributes:
        name: of the data set.
    """

    name: str
    claim: str
    page: str
    deciding: list[list[Span]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--missed", action="store_true", help="print what was missed of the sample")
    asked = parser.parse_args()
    selection = WindowSelection(read_starts(), ROOM, size=SIZE, most=1)
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for case in [*read_cases(asked.data), *(read_wice(asked.data) if asked.data else ())]:
        whole, any_one = is_read(case, selection)
        found[case.name].append((whole, any_one))
        if asked.missed and case.name == "sample" and not whole:
            print(f"{case.claim}\n    {[case.page[span.start : span.end] for span in case.deciding[0]]}")
    for name, said in found.items():
        whole, any_one = (sum(one[place] for one in said) / len(said) for place in (0, 1))
        print(f"{name:14} {len(said):4} pages  {any_one:6.1%}  ({whole:.1%})")


def read_starts() -> TokenStarts:
    """The offsets of tokens by the tokenizer of the model that ships."""
    tokenizer = Tokenizer.from_file(str(ROOT / "models/builtin-nli/tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: [start for start, _ in tokenizer.encode(text, add_special_tokens=False).offsets]


def is_read(case: Case, selection: WindowSelection) -> tuple[bool, bool]:
    """Whether what is read holds all sentences of one of the lists, and whether it holds any of them."""
    (window,) = selection.windows(Pair(case.page, case.claim))
    begin = case.page.index(window.premise)
    end = begin + len(window.premise)

    def holds(span: Span) -> bool:
        return min(end, span.end) - max(begin, span.start) >= NEARLY * (span.end - span.start)

    held = [[holds(span) for span in some] for some in case.deciding]
    return any(map(all, held)), any(map(any, held))


def read_cases(data: Path | None) -> Iterator[Case]:
    """The cases of the sample and, where its data are there, of OpenFactCheck."""
    claims = {
        row["id"]: [claim["text"] for claim in row["claims"]] for row in json_lines(ROOT / "index/sample-responses.jsonl")
    }
    pages = [row["text"] for row in json_lines(ROOT / "index/sample-pages.jsonl")]
    answers = {row["id"]: row for row in json_lines(data / "openfactcheck/responses.jsonl")} if data else {}
    for row in map(json.loads, FILE.read_text(encoding="utf-8").splitlines()):
        if row["set"] == "sample":
            yield case_of(row, claims[row["response"]][row["claim"]], pages[row["page"]])
        elif row["response"] in answers:
            answer = answers[row["response"]]
            claim = next(atom["text"] for atom in answer["atoms"] if atom["id"] == row["claim"])
            yield case_of(row, claim, "\n".join(context["text"] for context in answer["contexts"]))


def case_of(row: dict[str, object], claim: str, page: str) -> Case:
    """The case of a row of the file."""
    spans = sentences(page)
    lists: Sequence[Sequence[int]] = row["sentences"]  # type: ignore[assignment]
    return Case(str(row["set"]), claim, page, [[spans[number] for number in some] for some in lists])


def read_wice(data: Path) -> Iterator[Case]:
    """The claims that WiCE's pages support in whole or in part."""
    for part in ("dev", "test"):
        for row in json_lines(data / f"wice/claim_{part}.jsonl.gz"):
            if row["label"] == "not_supported":
                continue
            spans, length = [], 0
            for sentence in row["evidence"]:
                spans.append(Span(start=length, end=length + len(sentence)))
                length += len(sentence) + 1
            deciding = [[spans[number] for number in some if row["evidence"][number]] for some in row["supporting_sentences"]]
            yield Case(f"WiCE {part}", row["claim"], " ".join(row["evidence"]), [some for some in deciding if some])


if __name__ == "__main__":
    main()
