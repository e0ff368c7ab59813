"""What `localfact correct` mends: false claims beside the passage that contradicts them, and errors planted in whole texts.

    python -m scripts.measure_corrections [--model NAME] [--pairs-only] [--work FOLDER]

The false version of each of the minimal pairs (`minimal_pairs.jsonl`) is given with its passage, and so is the true one. The
five texts of `planted.yaml` are judged by a corpus of their pages. A column a relation model: by default word overlap;
--model: a language model, calibrated, that judges and proposes edits, of the pairs alone. Mended: the text is
the true one, letter by letter; of a planted error, the edit of its words has what `planted_right.yaml` says. In brackets 95 %
intervals, by a bootstrap over passages, or texts. Half of the pairs (by a hash) and two of the texts were looked at; the
figures to go by are the others'. Runs are kept in FOLDER: the same command goes on where it was interrupted.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from localfact.api.correct_run import correct_run, plan_correcting_run
from localfact.api.correcting_parts import open_corrector
from localfact.api.evaluate import evaluate
from localfact.methods.options import Options
from localfact.methods.wiring import with_cache
from localfact.pipeline import Costs, ignore_reports
from localfact.records import Assessment, Claim, CountedPassage, Pair
from localfact.relations.values.correcting import finding_of
from localfact.relations.values.judging import Ruling
from localfact.report.console import note
from localfact.runs.assessments import read_assessments
from localfact.runs.progress import SILENT
from localfact.runs.record import read_run
from localfact.runs.run_folder import RELATIONS_FILE
from localfact.vocabulary import RelationLabel, VerdictLabel
from scripts import measure_planted
from scripts.labelled_sets import digest, json_lines
from scripts.measure_relations import MINIMAL_PAIRS, Counted, ratio
from scripts.relation_answers import models_of, name_of
from scripts.tables import markdown_table, with_interval

METHOD = "builtin-fr2"
RIGHT_FILE = Path(__file__).with_name("planted_right.yaml")
HALVES = ("looked at", "measured")
Pairs = Sequence[Mapping[str, Any]]
#: A line of the table: a name, and for each response whether it happened and whether it could have.
Line = tuple[str, Counted]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a language model in the place of the others")
    parser.add_argument("--pairs-only", action="store_true", help="leave the planted errors out")
    parser.add_argument("--work", type=Path, default=Path("runs/corrections"))
    asked = parser.parse_args()
    several = models_of(asked.model)[-1:] if asked.model else models_of(None)
    names = [name_of(options) for options in several]
    pairs = json_lines(MINIMAL_PAIRS)
    of_half = {half: [pair for pair in pairs if half_of(pair) == half] for half in HALVES}
    columns = [{half: list(of_pairs(own, half, options, asked.work)) for half, own in of_half.items()} for options in several]
    for half in (*HALVES, "all"):
        lines = [column[half] if half in column else joined(list(column.values())) for column in columns]
        print(table(f"minimal pairs, {half}", names, lines), "\n")
    if not asked.model and not asked.pairs_only:
        print(of_planted(several, names, asked.work))


def half_of(pair: Mapping[str, Any]) -> str:
    """One of HALVES, by a hash of the passage."""
    return HALVES[int(digest(f"correct {pair['passage']}"), 16) % 2]


def of_pairs(pairs: Pairs, half: str, options: Options, work: Path) -> Iterator[Line]:
    """The lines of one relation model."""
    runs = {
        side: corrected([given(pair, side) for pair in pairs], f"{half}-{side}", options, work) for side in ("false", "true")
    }
    false, rows = runs["false"]
    yield "false: found contradicted", count_all(map(is_contradicted, false))
    told = asyncio.run(corrected_when_told(false, work / name_of(options) / f"{half}-false", options))
    for name, texts in (("mended, of all", [row["response"] for row in rows]), ("mended, were all found", told)):
        yield f"false: {name}", count_all(same(text, pair["true"]) for text, pair in zip(texts, pairs, strict=True))
    yield "true: changed", count_all(bool(row["edits"]) for row in runs["true"][1])
    calls = sum(int(one.get("calls", 0)) for _, made in runs.values() for row in made for one in row["usage"].values())
    note(f"{half}: {calls} calls of a language model for correcting and assessing again")


async def corrected_when_told(assessments: Sequence[Assessment], run: Path, options: Options) -> list[str]:
    """What becomes of claims if each is taken for contradicted by its passage, whatever the relation model says of it."""
    chosen = plan_correcting_run(read_run(run), Options(model=options.model))
    async with AsyncExitStack() as opened:
        pipeline, corrector = open_corrector(chosen, opened, SILENT)
        corrector = replace(corrector, pipeline=with_cache(pipeline, chosen.judge, run / RELATIONS_FILE, opened))
        mended = await asyncio.gather(*(corrector.correct(contradicted(one), Costs(), ignore_reports) for one in assessments))
        return [one.text for one in mended]


def contradicted(one: Assessment) -> Assessment:
    """The assessment with its claims contradicted by its passages."""
    against = {"relation": RelationLabel.CONTRADICTION, "value": None, "claimed": None}
    verdicts = tuple(
        verdict.model_copy(
            update={
                "label": VerdictLabel.CONTRADICTED,
                "passages": tuple(
                    counted.model_copy(update=against | said_of(claim, counted, one)) for counted in verdict.passages
                ),
            }
        )
        for claim, verdict in zip(one.claims, one.verdicts, strict=True)
    )
    return one.model_copy(update={"verdicts": verdicts})


def said_of(claim: Claim, counted: CountedPassage, one: Assessment) -> dict[str, Any]:
    """The value that stands against the claim's, as a verdict would have it, were it contradicted."""
    passage = next(passage for passage in one.passages if passage.id == counted.passage_id)
    found = finding_of(Pair(passage.text, claim.text))
    if found.ruling is not Ruling.OTHER or found.sentence is None:
        return {}
    return {"sentence": found.sentence, "value": found.said, "claimed": found.claimed}


def given(pair: Mapping[str, Any], side: str) -> dict[str, Any]:
    """A version of a pair as a response of one claim, with its passage."""
    claims = [{"text": pair[side], "passages": ["p"]}]
    return {"response": pair[side], "claims": claims, "passages": [{"id": "p", "text": pair["passage"]}]}


def corrected(
    rows: list[dict[str, Any]], name: str, options: Options, work: Path
) -> tuple[list[Assessment], list[dict[str, Any]]]:
    """Assesses and corrects; returns both."""
    out = work / name_of(options) / name
    note(str(out))
    evaluate(rows, method=METHOD, options=options, out=out)
    done = correct_run(out, options=Options(**({"model": options.model} if options.model else {})))
    return read_assessments(out), [json.loads(line) for line in done.out.read_text(encoding="utf-8").splitlines()]


def is_contradicted(one: Assessment) -> bool:
    return any(verdict.label is VerdictLabel.CONTRADICTED for verdict in one.verdicts)


def same(one: str, other: str) -> bool:
    return " ".join(one.split()) == " ".join(other.split())


def count_all(happened: Iterable[bool]) -> Counted:
    """What could have happened everywhere."""
    found = np.array([*happened], dtype=float)
    return Counted(found, np.ones(len(found)))


def joined(several: Sequence[Sequence[Line]]) -> list[Line]:
    """The lines of all halves together."""
    return [
        (lines[0][0], Counted(*map(np.concatenate, zip(*(counted for _, counted in lines), strict=True))))
        for lines in zip(*several, strict=True)
    ]


def table(title: str, names: Sequence[str], columns: Sequence[Sequence[Line]]) -> str:
    rows = [[lines[0][0], *(cell(counted) for _, counted in lines)] for lines in zip(*columns, strict=True)]
    return markdown_table((f"{title} ({len(columns[0][0][1].could)})", *names), rows)


def cell(counted: Counted) -> str:
    """How often of how often, with an interval."""
    told = f"{counted.happened.sum():.0f} of {counted.could.sum():.0f}"
    return f"{with_interval(ratio(counted), len(counted.could), end='.2f')}, {told}" if counted.happened.sum() else told


def of_planted(several: Sequence[Options], names: Sequence[str], work: Path) -> str:
    """The table of the planted errors."""
    texts = yaml.safe_load(measure_planted.FILE.read_text(encoding="utf-8"))
    rights = yaml.safe_load(RIGHT_FILE.read_text(encoding="utf-8"))
    read = [measure_planted.read_text(row["text"]) for row in texts]
    rows = [{"id": row["topic"], "response": text, "topic": row["topic"]} for (text, _), row in zip(read, texts, strict=True)]
    columns = []
    with tempfile.TemporaryDirectory() as folder:
        corpus = measure_planted.build_pages(texts, Path(folder))
        for options in several:
            judged, made = corrected(rows, "planted", options.model_copy(update={"corpus": corpus, "claims": "extract"}), work)
            columns.append(list(zip(judged, made, [errors for _, errors in read], strict=True)))
    lines: list[list[str]] = []
    tuned = measure_planted.TUNED
    for part, chosen in (("looked at", slice(0, tuned)), ("measured", slice(tuned, None)), ("all", slice(None))):
        counts = [[counts_of(*one, rights[one[0].topic or ""]) for one in column[chosen]] for column in columns]
        for place, name in enumerate(("errors found contradicted", "errors mended", "edits elsewhere, of true claims")):
            cells = [cell(Counted(*np.array([one[place] for one in each], dtype=float).T)) for each in counts]
            lines.append([f"{part}: {name}", *cells])
    return markdown_table(("planted errors", *names), lines)


def counts_of(
    judged: Assessment, row: Mapping[str, Any], errors: Sequence[measure_planted.Planted], rights: Mapping[str, str]
) -> list[tuple[int, int]]:
    """Of a text: errors found, errors mended, and edits that touch no error, each of how many."""
    edits = row["edits"]
    found = [measure_planted.outcome_of(error, judged) == "found" for error in errors]
    mended = [
        any(touches(edit, error) and rights[error.words].lower() in edit["new"].lower() for edit in edits) for error in errors
    ]
    elsewhere = [edit for edit in edits if not any(touches(edit, error) for error in errors)]
    true = [claim for claim in judged.claims if not any(measure_planted.has_error(claim, error) for error in errors)]
    return [(sum(found), len(errors)), (sum(mended), len(errors)), (len(elsewhere), len(true))]


def touches(edit: Mapping[str, Any], error: measure_planted.Planted) -> bool:
    """Whether an edit changes words of an error."""
    return edit["place"]["start"] < error.start + len(error.words) and error.start < edit["place"]["end"]


if __name__ == "__main__":
    main()
