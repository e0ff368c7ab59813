"""The data sets that the papers' methods are judged on: where each is had, under what licence, and how its rows become ours.

Nothing is shipped or fetched: each takes a file that lies on this machine, checks its fields, and yields rows in the schema of
`inputs/responses.py` (or of `inputs/prompts.py`, for a set of prompts).
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from localfact.errors import InputError
from localfact.inputs.json_rows import Row, RowError, read_rows
from localfact.inputs.responses import response_of
from localfact.papers.data_set_rows import (
    Convert,
    Made,
    answered,
    averitec,
    books,
    conflict_nq,
    conflictbank,
    conformal,
    expertqa,
    factbench,
    factscore,
    felm,
    longfact,
    of_forum,
    wice,
    wikicontradict,
    with_atoms,
)
from localfact.records import Record
from localfact.runs.row_file import RowFile
from localfact.runtime.files import file_digest
from localfact.runtime.versions import versions

#: The files of a data set that is a folder.
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv")


@dataclass(frozen=True)
class DataSet:
    """A data set.

    Attributes:
        name: as the commands know it. about: what it holds, and what is judged on it.
        source: the repository, and the file of it. licence: as stated there.
        fields: what every row must have. kind: of our rows.
        convert: makes our rows of one of its.
        drawn: of so many rows a topic that are drawn by a hash; None takes all.
        named: the field that a file's name gives where the rows lack it: the set comes as a folder of files.
    """

    name: str
    about: str
    source: str
    licence: str
    fields: tuple[str, ...]
    convert: Convert
    kind: Literal["responses", "prompts"] = "responses"
    drawn: int | None = None
    named: str | None = None


class Checked(Record):
    """What a file of a data set holds.

    Attributes:
        rows: of the file; unusable: reason -> how many of them have it, as a field is missing, say.
        made: our rows; claims, and those that are labelled supported and not supported; passages.
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
    out: Path | None = None


def find_data_set(name: str) -> DataSet:
    """The data set of that name.

    Raises:
        InputError: there is none.
    """
    if name not in DATA_SETS:
        raise InputError(f"There is no data set '{name}'. There are: {', '.join(DATA_SETS)}. `localfact papers list` has more.")
    return DATA_SETS[name]


def check_data_set(name: str, file: Path) -> Checked:
    """Reads a file of a data set whole, and counts what it holds; nothing is written.

    Raises:
        InputError: no such data set, or the file cannot be read, or not one of its rows has the set's fields.
    """
    return _check(find_data_set(name), file)[0]


def build_data_set(name: str, file: Path, out: Path, *, force: bool = False) -> Checked:
    """Writes the rows of a data set in our schema.

    Raises:
        InputError, RunFolderError: as `check_data_set`, and where the output is of another file.
    """
    data_set = find_data_set(name)
    checked, rows = _check(data_set, file)
    settings = {"pass": "data set", "data_set": name, "data": {"sha256": file_digest(file)}}
    notes = {"sources": {"data": str(file), "from": data_set.source, "licence": data_set.licence}}
    with RowFile(out, settings, versions=versions(), notes=notes, force=force) as written:
        for row in rows:
            if row["id"] not in written.done:
                written.append(row)
        written.complete([row["id"] for row in rows])
    return checked.model_copy(update={"out": out})


def _check(data_set: DataSet, file: Path) -> tuple[Checked, list[Made]]:
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
            own = list(data_set.convert(row))
        except (TypeError, KeyError, ValueError, AttributeError, IndexError):
            unusable["fields of another kind"] += 1
            continue
        unusable["nothing to judge in it"] += not own
        for place, one in enumerate(own):
            whole = {"id": f"{data_set.name}-{count}{_letter(place, own)}", **one}
            problem = _problem(data_set, whole)
            if problem is None:
                made.append(whole)
            else:
                unusable[problem] += 1
    if not made:
        reasons = ", ".join(f"{number} with {reason}" for reason, number in (+unusable).items())
        raise InputError(
            f"{file} has no row of {data_set.name} ({reasons or 'it is empty'}). It is had from {data_set.source}."
        )
    rows = made if data_set.drawn is None else _draw(made, data_set.drawn)
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
        response = response_of(row, 1)
        return response.problem
    prompt = row.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        return "no prompt"
    return None if isinstance(row.get("topic", ""), str) else "a topic that is no text"


def _letter(place: int, rows: Sequence[Made]) -> str:
    """Tells the rows apart that came of one."""
    return f"-{place + 1}" if len(rows) > 1 else ""


def _draw(rows: Sequence[Made], many: int) -> list[Made]:
    """So many rows of each topic, drawn by a hash of their prompts, in the order of the file."""
    topics: dict[str, list[Made]] = {}
    for row in rows:
        topics.setdefault(row.get("topic", ""), []).append(row)
    kept = {row["id"] for group in topics.values() for row in sorted(group, key=_lot)[:many]}
    return [row for row in rows if row["id"] in kept]


def _lot(row: Made) -> str:
    return hashlib.sha256(row["prompt"].encode("utf-8", "surrogatepass")).hexdigest()


DATA_SETS: Mapping[str, DataSet] = {
    one.name: one
    for one in (
        DataSet(
            "biographies",
            "FActScore's biographies with people's facts and labels (FActScore; FactReasoner's Bio, with passages of your own)",
            "google-deepmind/long-form-factuality, third_party/factscore/labeled_data",
            "MIT",
            ("input", "output", "annotations"),
            factscore,
        ),
        DataSet(
            "atoms",
            "IBM's schema, labelled atoms with contexts: FactReasoner's flaherty; OpenFactCheck's responses, with snippets",
            "IBM/FactReasoner, data/; yuxiaw/OpenFactCheck",
            "Apache-2.0; MIT",
            ("input", "output", "atoms", "contexts"),
            with_atoms,
        ),
        DataSet(
            "fastfact-bench",
            "FaStfact-Bench's answers of four models to 100 questions",
            "Yingjia-Wan/FaStfact, fastfact-bench_for_eval.jsonl",
            "Apache-2.0",
            ("question", "response"),
            answered,
        ),
        DataSet(
            "factbench",
            "Factcheck-GPT's bench: FacTool-QA's, FELM's and its own claims with labels",
            "yuxiaw/Factcheck-GPT, Factbench.jsonl, the rows with claim_labels",
            "Apache-2.0",
            ("prompt", "response", "claims", "claim_labels", "source"),
            factbench,
        ),
        DataSet(
            "felm",
            "FELM's segments of ChatGPT's answers with labels: world knowledge, science, recommendations",
            "hkust-nlp/felm, eval/all.jsonl",
            "CC BY-NC-SA 4.0",
            ("domain", "prompt", "response", "segmented_response", "labels"),
            felm,
        ),
        DataSet(
            "expertqa",
            "ExpertQA's sentences with experts' judgements and the passages cited",
            "chaitanyamalaviya/ExpertQA, data",
            "MIT",
            ("question", "answers"),
            expertqa,
        ),
        DataSet(
            "conflicts",
            "FactReasoner's Conflicts: claims of ConflictBank with a supporting and a conflicting passage (Table 5)",
            "huggingface.co/datasets/Warrieryes/CB_qa (zhaochen0110/conflictbank); 1,000 rows of it in the paper",
            "CC BY-SA 4.0",
            ("default_claim", "default_evidence"),
            conflictbank,
        ),
        DataSet(
            "wikicontradict",
            "passages of Wikipedia that contradict one another, with the answer of each",
            "IBM/FactReasoner, wiki_contradict_refined.jsonl",
            "Apache-2.0; text of Wikipedia",
            ("question", "context1", "context2", "answer1_self_contained", "answer2_self_contained"),
            wikicontradict,
        ),
        DataSet(
            "conflict-nq",
            "questions with passages that back the true answer, and made-up ones that back a false one",
            "4-en/ConflictNQ",
            "Apache-2.0",
            ("cleaned_question", "real_answer", "fake_answer", "real_passages", "fake_passages"),
            conflict_nq,
        ),
        DataSet(
            "averitec",
            "claims that fact checkers judged, with the answers they found; of four verdicts two are labels",
            "MichSchli/AVeriTeC, data/dev.json",
            "CC BY-NC 4.0",
            ("claim", "label", "questions"),
            averitec,
        ),
        DataSet(
            "conformal",
            "sub-claims of answers, each with what annotators say",
            "tatsu-lab/conformal-factual-lm",
            "none stated",
            ("prompt", "claims"),
            conformal,
        ),
        DataSet(
            "wice",
            "sentences of Wikipedia and the pages that they cite",
            "ryokamoi/wice",
            "annotations ODC-BY; text of Wikipedia and Common Crawl",
            ("claim", "label", "evidence", "meta"),
            wice,
        ),
        DataSet(
            "askhistorians",
            "questions to AskHistorians (FactReasoner's AskH)",
            "carriex/lfqa_eval",
            "none stated",
            ("domain", "question_text"),
            of_forum(history=True),
            "prompts",
            named="domain",
        ),
        DataSet(
            "eli5",
            "questions to ExplainLikeImFive (FactReasoner's ELI5)",
            "carriex/lfqa_eval",
            "none stated",
            ("domain", "question_text"),
            of_forum(history=False),
            "prompts",
            named="domain",
        ),
        DataSet(
            "freshbooks",
            "paragraphs of recent books, to be gone on with (VeriScore; FactReasoner's Books)",
            "Yixiao-Song/VeriScore",
            "Apache-2.0",
            (),
            books,
            "prompts",
        ),
        DataSet(
            "longfact-objects",
            "LongFact's prompts about objects, ten of each of 38 topics drawn by a hash (FactReasoner's LFObj)",
            "google-deepmind/long-form-factuality, longfact/longfact-objects",
            "CC BY 4.0",
            ("prompt", "topic"),
            longfact,
            "prompts",
            drawn=10,
            named="topic",
        ),
    )
}
