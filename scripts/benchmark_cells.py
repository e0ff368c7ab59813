"""What methods made of labelled claims, in small files without anybody's text, and the tables that are made of these alone.

A cell is a method on a set, with a model or without. Its file in benchmark_cells/ says in a first line of JSON what was run and
what it cost, and has a line a claim: hashes of response and claim, the label, P(true) where there is one, the verdict.
"""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.records import Assessment, Claim, Verdict
from localfact.runs.assessments import read_assessments
from localfact.runs.run_folder import read_timings
from localfact.runtime.files import replace
from localfact.scoring import Score
from localfact.scoring.aggregate import contribution_of
from localfact.scoring.gold_scores import BrierPerClaim, CalibrationError, GoldF1, PrecisionError
from localfact.scoring.tally import Unscored, labelled_claims, tally
from localfact.vocabulary import GoldLabel, VerdictLabel
from scripts.labelled_sets import digest
from scripts.measure_relations import balanced_accuracy, posterior_area
from scripts.tables import markdown_table, with_interval

FOLDER = Path(__file__).parent / "benchmark_cells"
#: What the timings of a run call the tokens that the model was asked now: what a transcript keeps is asked once.
ASKED = "model_tokens"
HEADS = ("responses", "claims judged", "balanced accuracy", "area under the ROC", "F1", "MAE", "Brier", "ECE")
COSTS = ("calls", "tokens", "minutes")
#: What the pace of a cell is reckoned from.
PACE = ("asked", "seconds")
OVERVIEW = "balanced accuracy (area under the ROC)"
#: The method that asks a model once a claim: what each other gains over it, and for how much, is the second table.
PLAIN = "factscore-calibrated"
GAIN = f"balanced accuracy minus that of {PLAIN}"
#: What a claim costs, as `about` calls it, with digits behind the point; and the heads of the two.
COSTS_EACH = (("calls", 1), ("tokens", 0))
EACH = ("calls a claim", "tokens a claim")
SCORES: Sequence[Score[Any]] = (GoldF1(), PrecisionError(), BrierPerClaim(), CalibrationError())
#: What annotators say of a claim that is right or wrong.
LABELLED = (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED)
#: The fewest responses over which intervals are given.
FEWEST = 5


class Cell(NamedTuple):
    """`about`: set, method, model, settings (a hash), version, costs. A row: response, claim, label, P(true), verdict."""

    about: Mapping[str, Any]
    rows: Sequence[Sequence[str]]

    @property
    def name(self) -> str:
        """What its file is called."""
        return name_of_cell(self.about["set"], self.about["model"], self.about["method"])


def name_of_cell(of_set: str, model: str, method: str) -> str:
    """set.method, and the model where there is one."""
    return ".".join(filter(None, (of_set, method, model)))


def name_of_way(model: str, method: str) -> str:
    """A method and its model as a row of a table is called."""
    return ", ".join(filter(None, (method, model)))


def read_run(folder: Path, about: Mapping[str, Any]) -> Cell:
    """The cell of a complete run: calls, tokens read and written, those of them that were asked in it, and busy seconds."""
    found = read_assessments(folder)
    rows = [
        (digest(one.response_id), digest(claim.text), claim.gold or "", format_probability(verdict), verdict.label.value)
        for one in found
        for claim, verdict in zip(one.claims, one.verdicts, strict=True)
    ]
    stages = [stage for one in found for stage in one.usage.values()]
    costs = {
        "responses": len(found),
        "failed": sum(one.status == "failed" for one in found),
        "calls": round(sum(stage["calls"] for stage in stages)),
        "tokens": round(sum(stage["prompt_tokens"] + stage["output_tokens"] for stage in stages)),
        "asked": sum(timing.get("sent", {}).get(ASKED, 0) for timing in read_timings(folder).values()),
        "seconds": round(busy_seconds(folder), 1),
    }
    return Cell({**about, **costs}, rows)


def format_probability(verdict: Verdict) -> str:
    """P(true) in six digits; nothing where the method computes none."""
    return "" if verdict.posterior is None else f"{verdict.posterior:.6g}"


def busy_seconds(folder: Path) -> float:
    """Seconds in which a run was at work on a response that it finished, several at once or not, whatever interrupted it."""
    spans = []
    for timing in read_timings(folder).values():
        end = datetime.fromisoformat(timing["finished"]).timestamp()
        spans.append((end - sum(timing["seconds"].values()), end))
    busy = until = 0.0
    for begin, end in sorted(spans):
        busy += max(0.0, end - max(begin, until))
        until = max(until, end)
    return busy


def at_pace_of(cell: Cell, before: Cell | None) -> Cell:
    """The cell with what was asked, and the time it took, of an earlier measurement that asked more.

    Measured again, a cell has most answers from the transcript, and its own seconds say nothing of what they cost.
    """
    if before is None or before.about["asked"] <= cell.about["asked"]:
        return cell
    return cell._replace(about={**cell.about, **{key: before.about[key] for key in PACE}})


def write_cell(folder: Path, cell: Cell) -> None:
    """Writes the file of a cell: the same bytes for the same cell."""
    content = "\n".join([json.dumps(cell.about, sort_keys=True), *map("\t".join, cell.rows), ""])
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / f"{cell.name}.tsv.gz", gzip.compress(content.encode(), mtime=0))


def read_cells(folder: Path) -> list[Cell]:
    """The cells that a folder has."""
    files = [gzip.decompress(file.read_bytes()).decode().splitlines() for file in sorted(folder.glob("*.tsv.gz"))]
    return [Cell(json.loads(about), [line.split("\t") for line in lines]) for about, *lines in files]


def assessments_of(cell: Cell) -> Iterator[Assessment]:
    """The claims of a cell as scores read them, by response; those that failed are left out."""
    judged = (row for row in cell.rows if row[-1] != VerdictLabel.FAILED)
    for index, (response, group) in enumerate(groupby(judged, lambda row: row[0])):
        claims, verdicts = [], []
        for _, claim, gold, posterior, label in group:
            claims.append(Claim(id=f"c{len(claims)}", text=claim, gold=GoldLabel(gold) if gold else None))
            known = float(posterior) if posterior else None
            verdicts.append(Verdict(claim_id=claims[-1].id, label=VerdictLabel(label), posterior=known))
        golds = [claim.gold for claim in claims]
        one = Assessment(
            index=index,
            response_id=response,
            status="scored",
            claims=tuple(claims),
            verdicts=tuple(verdicts),
            gold_supported=golds.count(GoldLabel.SUPPORTED),
            gold_not_supported=golds.count(GoldLabel.NOT_SUPPORTED),
        )
        yield one if tally(one).judged else one.model_copy(update={"status": "unscored"})


def tables(cells: Sequence[Cell], sets: Sequence[str], methods: Sequence[str]) -> str:
    """An overview, what is gained over PLAIN, a table for each of the sets that has a cell, and what is not there.

    Rows are in the order of the methods.
    """
    found = {cell.name: cell for cell in cells}
    models = sorted({cell.about["model"] for cell in cells} - {""}) or ["MODEL"]
    wanted = list(dict.fromkeys(("" if one.startswith("builtin") else by, one) for by in models for one in methods))
    of_ways = {way: [found.get(name_of_cell(name, *way)) for name in sets] for way in wanted}
    parts, missing = [markdown_table((OVERVIEW, *sets, *EACH), list(overview(of_ways)))], dict[str, list[str]]()
    gained = list(gains(of_ways, models[0]))
    parts += [markdown_table((GAIN, *sets, *EACH), gained)] if gained else []
    for place, name in enumerate(sets):
        rows, left = [], []
        for (model, method), of_sets in of_ways.items():
            if cell := of_sets[place]:
                rows.append([name_of_way(model, method), *figures(cell, cells)])
            else:
                left.append(method if len(models) == 1 else " of ".join(filter(None, (method, model))))
        parts += [markdown_table((name, *HEADS, *COSTS), rows)] if rows else []
        if left:
            missing.setdefault(", ".join(left), []).append(name)
    unmeasured = [f"{', '.join(names)} by {left}" for left, names in missing.items()]
    parts += [f"Not measured yet: {'; '.join(unmeasured)}."] if unmeasured else []
    return "\n\n".join(parts)


def overview(of_ways: Mapping[tuple[str, str], Sequence[Cell | None]]) -> Iterator[list[str]]:
    """A row for each model and method with a cell: what it is worth on each set, and what a claim costs over all of them."""
    for way, of_sets in of_ways.items():
        if any(of_sets):
            yield [name_of_way(*way), *(worth_of(cell) if cell else "" for cell in of_sets), *costs_of(of_sets)]


def gains(of_ways: Mapping[tuple[str, str], Sequence[Cell | None]], model: str) -> Iterator[list[str]]:
    """What each other method gains over PLAIN of the same model, built-in ones over that of `model`, and what a claim costs."""
    for (by, method), of_sets in of_ways.items():
        plain = of_ways.get((by or model, PLAIN))
        if plain is not None and method != PLAIN and any(map(all, pairs := list(zip(of_sets, plain, strict=True)))):
            found = (gain_of(cell, other) if cell and other else "" for cell, other in pairs)
            yield [name_of_way(by, method), *found, *costs_of(of_sets)]


def costs_of(of_sets: Sequence[Cell | None]) -> Iterator[str]:
    """What a claim costs over all sets that a method has."""
    cells = [cell for cell in of_sets if cell]
    claims = sum(len(cell.rows) for cell in cells)
    yield from (f"{sum(cell.about[cost] for cell in cells) / claims:,.{digits}f}" for cost, digits in COSTS_EACH)


def gain_of(cell: Cell, other: Cell) -> str:
    """The difference in balanced accuracy over the responses that both have, with its interval where these are enough."""
    ours, theirs = ({one.response_id: one for one in assessments_of(each)} for each in (cell, other))
    both = sorted(ours.keys() & theirs.keys())
    mine, its = (balanced_accuracy([side[name] for name in both]) for side in (ours, theirs))

    def difference(places: NDArray[np.int64]) -> float:
        return mine(places) - its(places)

    if len(both) >= FEWEST:
        return with_interval(difference, len(both), "+.2f", "+.2f")
    return shown(difference(np.arange(len(both))), 2, "+") if both else ""


def worth_of(cell: Cell) -> str:
    """Balanced accuracy, with the area under the ROC in brackets where the method has probabilities."""
    found = list(assessments_of(cell))
    every = np.arange(len(found))
    judged = [verdict for one in found for _, verdict in labelled_claims(one)]
    ranked = any(verdict.posterior is not None for verdict in judged)
    return shown(balanced_accuracy(found)(every), 2) + (f" ({shown(posterior_area(found)(every), 2)})" if ranked else "")


def shown(value: float, digits: int, sign: str = "") -> str:
    """A figure with so many digits behind the point; "-" where claims of one label alone make it undefined."""
    return f"{value:{sign}.{digits}f}" if isfinite(value) else "-"


def figures(cell: Cell, cells: Sequence[Cell]) -> Iterator[str]:
    """What a row says of a cell. Minutes are by its tokens, at the pace at which the cells that ask alike were answered."""
    found = list(assessments_of(cell))
    labelled = [verdict for one in found for _, verdict in labelled_claims(one)]
    yield str(cell.about["responses"])
    yield f"{len(labelled)} of {sum(row[2] in LABELLED for row in cell.rows)}"
    for estimated, there in (
        (balanced_accuracy, bool(labelled)),
        (posterior_area, any(verdict.posterior is not None for verdict in labelled)),
    ):
        if there and len(found) >= FEWEST:
            yield with_interval(estimated(found), len(found))
        else:
            yield shown(estimated(found)(np.arange(len(found))), 3) if there else ""
    for score in SCORES:
        said = [each for one in found if not isinstance(each := contribution_of(score, one), Unscored)]
        yield f"{score.estimator(said)(np.arange(len(said))):.2f}" if said else ""
    about, seconds = cell.about, cell.about["seconds"]
    if about["calls"]:
        alike = [one.about for one in cells if asks_alike(one.about, about)]
        asked = sum(one["asked"] for one in alike)
        seconds = sum(one["seconds"] for one in alike) * about["tokens"] / asked if asked else float("nan")
    yield from (f"{about['calls']:,}", f"{about['tokens']:,}", f"{seconds / 60:.1f}")


def asks_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two cells ask one model the same kind of questions about one set, whatever is made of the answers."""
    return all(one[key] == other[key] for key in ("set", "model")) and family_of(one["method"]) == family_of(other["method"])


def family_of(method: str) -> str:
    """The methods that ask alike: factreasoner for all its versions, calibrated or not."""
    return method.partition("-")[0]
