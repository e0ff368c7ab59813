"""The data sets that the papers' methods are judged on: where each comes from, under what licence, and what it holds.

Nothing is shipped or fetched: each takes a file that lies on this machine, checks its fields, and makes rows in the schema of
`inputs/responses.py` (or of `inputs/prompts.py`, for a set of prompts).
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from localfact.errors import InputError
from localfact.inputs.json_rows import Row, RowError
from localfact.inputs.responses import response_of
from localfact.inputs.row_files import read_rows
from localfact.papers.comparison import ROUNDED
from localfact.papers.data_set_rows import CONVERTERS, Made
from localfact.records import Record
from localfact.runs.row_file import RowFile
from localfact.runtime.files import file_digest
from localfact.runtime.plain_yaml import read_yaml
from localfact.runtime.versions import versions

#: The files of a data set that is a folder.
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv")


class Size(Record):
    """How large a paper's data set is: our rows, and the mean claims and supported claims of each. `of`: which paper."""

    rows: int
    claims: float | None = None
    supported: float | None = None
    of: str


class DataSet(Record):
    """A data set, as data_sets.yaml describes it.

    Attributes:
        name: as the commands know it.
        about: what it holds, and what is judged on it.
        source: the repository, and the file in it.
        licence: as stated there.
        fields: what every row must have.
        kind: what our rows are.
        drawn: how many rows of each topic are taken, drawn by a hash; None takes all. sample: how many in all, likewise.
        size: of our rows in a paper; None where no paper's is known.
        named: for a data set that is a folder of files: the field that rows lack, whose value is the name of their file.
    """

    name: str
    about: str
    source: str
    licence: str
    fields: tuple[str, ...]
    kind: Literal["responses", "prompts"] = "responses"
    drawn: int | None = None
    sample: int | None = None
    size: Size | None = None
    named: str | None = None


DATA_SETS: Mapping[str, DataSet] = {
    one["name"]: DataSet.model_validate(one) for one in read_yaml(Path(__file__).with_name("data_sets.yaml").read_bytes())
}


class Checked(Record):
    """What a file of a data set holds.

    Attributes:
        rows: of the file.
        unusable: reason -> how many of them have it, as a field is missing, say.
        made: our rows; claims, and those that are labelled supported and not supported; passages.
        size: whether that is as many as the paper has.
    """

    data_set: str
    file: Path
    source: str
    licence: str
    rows: int
    unusable: Mapping[str, int]
    made: int
    claims: int
    supported: int
    not_supported: int
    passages: int
    size: str
    out: Path | None = None


def find_data_set(name: str) -> DataSet:
    """The data set of that name.

    Raises:
        InputError: there is none.
    """
    if name not in DATA_SETS:
        raise InputError(f"There is no data set '{name}'. There are: {', '.join(DATA_SETS)}. `localfact papers list` has more.")
    return DATA_SETS[name]


def check_data_set(name: str, file: Path, *, seed: int = 0) -> Checked:
    """Reads a file of a data set whole, and counts what it holds, against the paper's size; nothing is written.

    Where the paper drew its rows from more, as many are drawn by `seed`; which ones it drew is not known.

    Raises:
        InputError: no such data set, or the file cannot be read, or not one of its rows has the set's fields.
    """
    return _check(find_data_set(name), file, seed)[0]


def build_data_set(name: str, file: Path, out: Path, *, seed: int = 0, force: bool = False) -> Checked:
    """Writes the rows of a data set in our schema; `seed` as in `check_data_set`.

    Raises:
        InputError, RunFolderError: as `check_data_set`, and where the output is of another file.
    """
    data_set = find_data_set(name)
    checked, rows = _check(data_set, file, seed)
    settings: dict[str, Any] = {"pass": "data set", "data_set": name, "data": {"sha256": file_digest(file)}}
    if seed:
        settings["seed"] = seed
    notes = {"sources": {"data": str(file), "from": data_set.source, "licence": data_set.licence}}
    with RowFile(out, settings, versions=versions(), notes=notes, force=force) as written:
        for row in rows:
            if row["id"] not in written.done:
                written.append(row)
        written.complete([row["id"] for row in rows])
    return checked.model_copy(update={"out": out})


def _check(data_set: DataSet, file: Path, seed: int) -> tuple[Checked, list[Made]]:
    unusable: Counter[str] = Counter()
    made: list[Made] = []
    count = 0
    for row in _rows(data_set, file):
        count += 1
        if isinstance(row, RowError):
            unusable["no JSON object"] += 1
            continue
        missing = [field for field in data_set.fields if row.get(field) in (None, "")]
        if missing:
            unusable[f"no {missing[0]}"] += 1
            continue
        try:
            own = list(CONVERTERS[data_set.name](row))
        except (TypeError, KeyError, ValueError, AttributeError, IndexError):
            unusable["fields of another kind"] += 1
            continue
        unusable["nothing to judge in it"] += not own
        for place, one in enumerate(own, start=1):
            part = f"-{place}" if len(own) > 1 else ""
            whole = {"id": f"{data_set.name}-{count}{part}", **one}
            problem = _problem(data_set, whole)
            if problem is None:
                made.append(whole)
            else:
                unusable[problem] += 1
    if not made:
        reasons = ", ".join(f"{number} with {reason}" for reason, number in (+unusable).items())
        raise InputError(f"{file} has no row of {data_set.name} ({reasons or 'it is empty'}). Get it from {data_set.source}.")
    rows = _draw(made, data_set, seed)
    claims = [claim for row in rows for claim in row.get("claims", ())]
    labels = Counter(claim.get("label") for claim in claims)
    return (
        Checked(
            data_set=data_set.name,
            file=file,
            source=data_set.source,
            licence=data_set.licence,
            rows=count,
            unusable=dict(+unusable),
            made=len(rows),
            claims=len(claims),
            supported=labels["S"],
            not_supported=labels["NS"],
            passages=sum(len(row.get("passages", ())) for row in rows),
            size=_compare_size(data_set, len(rows), len(claims), labels["S"]),
        ),
        rows,
    )


def _rows(data_set: DataSet, file: Path) -> Iterator[Row | RowError]:
    """The rows of a file, or of the files of a folder, which then name the field that rows may lack."""
    holding = f"{data_set.name}, one JSON object a line, each with {', '.join(data_set.fields)}"
    files = sorted(one for one in file.iterdir() if one.suffix in SUFFIXES) if file.is_dir() and data_set.named else [file]
    for one in files:
        for row in read_rows(one, holding):
            if data_set.named and isinstance(row, Mapping):
                row = {data_set.named: one.stem, **row}
            yield row


def _problem(data_set: DataSet, row: Made) -> str | None:
    """Why `eval`, or `generate`, could not use the row; None where it can."""
    if data_set.kind == "responses":
        return response_of(row, 1).problem
    prompt = row.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        return "no prompt"
    return None if isinstance(row.get("topic", ""), str) else "a topic that is no text"


def _draw(rows: Sequence[Made], data_set: DataSet, seed: int) -> list[Made]:
    """As many rows as the paper drew, of each topic or in all, by a hash of their texts and the seed, in the file's order."""

    def place(row: Made) -> str:
        text = row.get("prompt") or ""
        if data_set.kind == "responses":
            text += row["response"]
        return hashlib.sha256((f"{seed} {text}" if seed else text).encode("utf-8", "surrogatepass")).hexdigest()

    topics: dict[str, list[Made]] = {}
    for row in sorted(rows, key=place):
        topics.setdefault(row.get("topic", ""), []).append(row)
    kept = [row for group in topics.values() for row in group[: data_set.drawn]]
    if data_set.sample is not None:
        kept = sorted(kept, key=place)[: data_set.sample]
    ids = {row["id"] for row in kept}
    return [row for row in rows if row["id"] in ids]


def _compare_size(data_set: DataSet, rows: int, claims: int, supported: int) -> str:
    """Whether our rows are as many as a paper's, in words."""
    size = data_set.size
    if size is None:
        return "no paper's size is known"
    apart = [] if rows == size.rows else [f"{rows:,} rows, not {size.rows:,}"]
    for what, count, mean in (("claims", claims, size.claims), ("supported claims", supported, size.supported)):
        if mean is not None and abs(count / rows - mean) > ROUNDED:
            apart.append(f"{count / rows:.1f} {what} a row, not {mean:g}")
    return f"not the paper's ({size.of}): {'; '.join(apart)}" if apart else f"the paper's ({size.of})"
