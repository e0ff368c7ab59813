"""How many errors planted in texts of our own a built-in method finds, and how many true claims it calls contradicted.

    python -m scripts.measure_planted [--method builtin-fr2] [--show]

Five texts with fifteen marked errors each (`planted.yaml`), judged by a corpus of two pages for each text. An error is found
where a claim with its words is contradicted, supported where one is supported and none contradicted, else undecided; it is
unsaid where no claim has its words. A false alarm is a contradicted claim with no error in it.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from localfact.api.evaluate import evaluate
from localfact.methods.options import Options
from localfact.records import Assessment, Claim, Verdict
from localfact.runs.assessments import read_assessments
from localfact.vocabulary import VerdictLabel

FILE = Path(__file__).parent / "planted.yaml"
#: Texts that may be looked at when something is mended; the others are for measuring alone.
TUNED = 2
_MARK = re.compile(r"\[\[([^|\]]+)\|(\w+)\]\]")
OUTCOMES = ("found", "supported", "undecided", "unsaid")


class Planted(NamedTuple):
    """An error: its words, what it is of ("date", "role"), and where it stands in the text without marks."""

    words: str
    kind: str
    start: int


def read_text(marked: str) -> tuple[str, list[Planted]]:
    """The text without marks, and its errors."""
    text, errors, place = "", [], 0
    for mark in _MARK.finditer(marked):
        text += marked[place : mark.start()]
        errors.append(Planted(mark[1], mark[2], len(text)))
        text += mark[1]
        place = mark.end()
    return text + marked[place:], errors


def has_error(claim: Claim, error: Planted) -> bool:
    """Whether the claim is of the error's sentence and has its words."""
    return error.words in claim.text and any(span.start <= error.start < span.end for span in claim.spans)


def outcome_of(error: Planted, judged: Assessment) -> str:
    """One of OUTCOMES."""
    labels = {verdict.label for claim, verdict in pairs_of(judged) if has_error(claim, error)}
    if not labels:
        return "unsaid"
    if VerdictLabel.CONTRADICTED in labels:
        return "found"
    return "supported" if VerdictLabel.SUPPORTED in labels else "undecided"


def pairs_of(judged: Assessment) -> Iterator[tuple[Claim, Verdict]]:
    """Each claim with its verdict."""
    return zip(judged.claims, judged.verdicts, strict=True)


def build_pages(rows: Sequence[dict[str, Any]], folder: Path) -> Path:
    """One corpus of the pages of all texts, built as a user would."""
    pages = folder / "pages"
    pages.mkdir()
    for number, page in enumerate(page for row in rows for page in row["pages"]):
        (pages / f"{number}.html").write_text(page, encoding="utf-8")
    built = [sys.executable, "-m", "localfact", "corpus", "build", str(pages), "--out", str(folder / "corpus")]
    subprocess.run(built, check=True, stdout=subprocess.DEVNULL)
    return folder / "corpus"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="builtin-fr2")
    parser.add_argument("--show", action="store_true", help="print what became of each error, of the texts for tuning alone")
    asked = parser.parse_args()
    rows = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    texts = [read_text(row["text"]) for row in rows]
    with tempfile.TemporaryDirectory() as name:
        options = Options(corpus=build_pages(rows, Path(name)), claims="extract")
        given = [{"response": text, "topic": row["topic"]} for (text, _), row in zip(texts, rows, strict=True)]
        evaluate(given, method=asked.method, options=options, out=Path(name) / "run")
        judged = read_assessments(Path(name) / "run")
    print(f"{'':26} {' '.join(f'{outcome:>9}' for outcome in OUTCOMES)}  false alarms  true supported")
    for place, ((_, errors), one) in enumerate(zip(texts, judged, strict=True)):
        print_text(f"{one.topic}{' (tuned)' * (place < TUNED)}", errors, one, shown=asked.show and place < TUNED)


def print_text(name: str, errors: Sequence[Planted], judged: Assessment, *, shown: bool) -> None:
    """Prints what became of the errors of a text, and of its other claims."""
    outcomes = [outcome_of(error, judged) for error in errors]
    true = [pair for pair in pairs_of(judged) if not any(has_error(pair[0], error) for error in errors)]
    labels = Counter(verdict.label for _, verdict in true)
    counts = " ".join(f"{outcomes.count(outcome):9}" for outcome in OUTCOMES)
    print(f"{name:26.26} {counts}  {labels[VerdictLabel.CONTRADICTED]:12}  {labels[VerdictLabel.SUPPORTED]:6} of {len(true)}")
    if shown:
        for error, outcome in zip(errors, outcomes, strict=True):
            print(f"  {outcome:9} {error.kind:9} {error.words}")
        for claim, verdict in pairs_of(judged):
            print(f"  {verdict.label:19} {verdict.posterior or 0:.2f} {claim.text}")


if __name__ == "__main__":
    main()
