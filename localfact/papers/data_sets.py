"""The data sets that the papers' methods are judged on: where each is had, under what licence, and how its rows become ours.

Nothing is shipped or fetched: each takes a file that lies on this machine, checks its fields, and yields rows in the schema of
`inputs/responses.py` (or of `inputs/prompts.py`, for a set of prompts).
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from localfact.errors import InputError
from localfact.inputs.json_rows import Row, RowError, read_rows
from localfact.inputs.responses import response_of
from localfact.records import Record
from localfact.runs.row_file import RowFile
from localfact.runtime.files import file_digest
from localfact.runtime.versions import versions

#: The files of a data set that is a folder.
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv")
#: A row of ours, and what turns a row of a data set into such: one, several, or none.
Made = dict[str, Any]
Convert = Callable[[Row], Iterator[Made]]


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
    return _checked(find_data_set(name), file)[0]


def build_data_set(name: str, file: Path, out: Path, *, force: bool = False) -> Checked:
    """Writes the rows of a data set in our schema.

    Raises:
        InputError, RunFolderError: as `check_data_set`, and where the output is of another file.
    """
    data_set = find_data_set(name)
    checked, rows = _checked(data_set, file)
    settings = {"pass": "data set", "data_set": name, "data": {"sha256": file_digest(file)}}
    notes = {"sources": {"data": str(file), "from": data_set.source, "licence": data_set.licence}}
    with RowFile(out, settings, versions=versions(), notes=notes, force=force) as written:
        for row in rows:
            if row["id"] not in written.done:
                written.append(row)
        written.complete([row["id"] for row in rows])
    return checked.model_copy(update={"out": out})


def _checked(data_set: DataSet, file: Path) -> tuple[Checked, list[Made]]:
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
    rows = made if data_set.drawn is None else _drawn(made, data_set.drawn)
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


def _drawn(rows: Sequence[Made], many: int) -> list[Made]:
    """So many rows of each topic, drawn by a hash of their prompts, in the order of the file."""
    topics: dict[str, list[Made]] = {}
    for row in rows:
        topics.setdefault(row.get("topic", ""), []).append(row)
    kept = {row["id"] for group in topics.values() for row in sorted(group, key=_lot)[:many]}
    return [row for row in rows if row["id"] in kept]


def _lot(row: Made) -> str:
    return hashlib.sha256(row["prompt"].encode("utf-8", "surrogatepass")).hexdigest()


def _plain(text: str) -> str:
    """Text with breaks of HTML as spaces."""
    return " ".join(re.sub(r"<br\s*/?>", " ", text).split())


def _labelled(text: str, true: bool | None, passages: Sequence[str] = ()) -> Made:
    """A claim; None leaves it unlabelled. `passages`: the ids of those that were found for it."""
    label = {} if true is None else {"label": "S" if true else "NS"}
    return {"text": text, **label, **({"passages": list(passages)} if passages else {})}


def factscore(row: Row) -> Iterator[Made]:
    """FActScore's biographies: the facts of annotators, S and NS; IR and sentences without facts are left out."""
    facts = [fact for part in row["annotations"] or () for fact in part.get("human-atomic-facts") or ()]
    claims = [_labelled(fact["text"], fact["label"] == "S") for fact in facts if fact["label"] in ("S", "NS")]
    if claims:
        prompt = row["input"].removeprefix("Question: ")
        yield {"prompt": prompt, "topic": row.get("topic"), "response": row["output"], "claims": claims}


def with_atoms(row: Row) -> Iterator[Made]:
    """IBM's schema: atoms with labels, and contexts."""
    contexts = [
        {name: context[name] for name in ("id", "title", "link", "text", "snippet") if context.get(name)}
        for context in row["contexts"]
    ]
    claims = [
        _labelled(atom["text"], {"S": True, "NS": False}.get(atom.get("label")), atom.get("contexts") or ())
        for atom in row["atoms"]
    ]
    yield {"prompt": row["input"], "topic": row.get("topic"), "response": row["output"], "claims": claims, "passages": contexts}


def answered(row: Row) -> Iterator[Made]:
    """An answer to a question, without labels."""
    yield {
        "prompt": row["question"],
        "response": row["response"],
        "source": row.get("prompt_source"),
        "model": row.get("model"),
    }


def factbench(row: Row) -> Iterator[Made]:
    """Factcheck-GPT's bench of claims; an unknown label is none."""
    pairs = zip(row["claims"], row["claim_labels"], strict=True)
    claims = [_labelled(text, label if isinstance(label, bool) else None) for text, label in pairs]
    yield {"prompt": row["prompt"], "response": row["response"], "source": row["source"], "claims": claims}


def felm(row: Row) -> Iterator[Made]:
    """FELM's segments as claims, of the domains that state facts; arithmetic and reasoning are left out."""
    if row["domain"] in ("wk", "science", "writing_rec"):
        pairs = zip(row["segmented_response"], row["labels"], strict=True)
        claims = [_labelled(text, label if isinstance(label, bool) else None) for text, label in pairs if text.strip()]
        yield {"prompt": row["prompt"], "response": row["response"], "source": row["domain"], "claims": claims}


def expertqa(row: Row) -> Iterator[Made]:
    """ExpertQA's answers: sentences that an expert called definitely or probably correct, or incorrect, and what they cite."""
    for system, answer in row["answers"].items():
        passages: list[Made] = []
        claims = []
        for part in answer["claims"]:
            correct = (part.get("correctness") or "").casefold()
            ids = [f"p{len(passages) + place}" for place in range(len(part["evidence"]))]
            passages += [{"id": name, "text": text} for name, text in zip(ids, part["evidence"], strict=True)]
            true = None if correct in ("", "unsure") else "incorrect" not in correct
            claims.append(_labelled(part["claim_string"], true, ids))
        if claims:
            text = answer["answer_string"]
            yield {"prompt": row["question"], "response": text, "model": system, "claims": claims, "passages": passages}


def conflictbank(row: Row) -> Iterator[Made]:
    """FactReasoner's Conflicts: a true claim, a passage that supports it, one that conflicts with it (section 4, Table 5)."""
    against = row.get("misinformation_conflict_evidence_evidence") or row["misinformation_conflict_evidence"]
    yield {
        "prompt": row.get("question"),
        "response": row["default_claim"],
        "claims": [_labelled(row["default_claim"], True, ("for", "against"))],
        "passages": [{"id": "for", "text": row["default_evidence"]}, {"id": "against", "text": against}],
    }


def wikicontradict(row: Row) -> Iterator[Made]:
    """WikiContradict: two answers of two passages of Wikipedia that contradict one another; neither is labelled."""
    passages = [{"id": f"context{place}", "text": row[f"context{place}"]} for place in (1, 2)]
    claims = [_labelled(row[f"answer{place}_self_contained"], None, ("context1", "context2")) for place in (1, 2)]
    text = " ".join(claim["text"] for claim in claims)
    yield {"prompt": row["question"], "response": text, "claims": claims, "passages": passages}


def conflict_nq(row: Row) -> Iterator[Made]:
    """ConflictNQ: the real answer and the made-up one, with the passages of both sides for each."""
    passages = [
        {"id": f"{side}-{place}", "text": passage["passage"]}
        for side in ("real", "fake")
        for place, passage in enumerate(row[f"{side}_passages"])
    ]
    ids = [passage["id"] for passage in passages]
    claims = [_labelled(row["real_answer"], True, ids), _labelled(row["fake_answer"], False, ids)]
    text = " ".join(claim["text"] for claim in claims)
    yield {"prompt": row["cleaned_question"], "response": text, "claims": claims, "passages": passages}


def averitec(row: Row) -> Iterator[Made]:
    """AVeriTeC's claims, each with the answers that fact checkers found; one that the evidence leaves open has no label."""
    passages = [
        {
            "id": f"p{number}-{place}",
            "title": part["question"],
            "text": answer["answer"],
            "link": answer.get("source_url") or "",
        }
        for number, part in enumerate(row["questions"])
        for place, answer in enumerate(part["answers"])
        if answer.get("answer")
    ]
    true = {"Supported": True, "Refuted": False}.get(row["label"])
    claims = [_labelled(row["claim"], true, [passage["id"] for passage in passages])]
    yield {"response": row["claim"], "source": row["label"], "claims": claims, "passages": passages}


def conformal(row: Row) -> Iterator[Made]:
    """The sub-claims of Mohri and Hashimoto, Y and N; what annotators found subjective, or could not tell, has no label."""
    claims = [_labelled(part["subclaim"], {"Y": True, "N": False}.get(part["annotation"])) for part in row["claims"]]
    text = row.get("original-output") or " ".join(claim["text"] for claim in claims)
    yield {"prompt": row["prompt"].strip(), "response": text, "claims": claims}


def wice(row: Row) -> Iterator[Made]:
    """WiCE's claims and the pages that they cite; supported in part is not supported."""
    if isinstance(row["evidence"], str):
        raise TypeError("the evidence is a list of sentences")
    page = {"id": "page", "title": row["meta"]["claim_title"], "text": "\n".join(row["evidence"])}
    claims = [_labelled(row["claim"], row["label"] == "supported", ("page",))]
    yield {"topic": page["title"], "response": row["claim"], "claims": claims, "passages": [page]}


def of_forum(history: bool) -> Convert:
    """The questions of Xu et al. 2023 of one forum: AskHistorians' are those of history, ELI5's all others."""

    def converted(row: Row) -> Iterator[Made]:
        if row["domain"].startswith("History") == history:
            yield {"prompt": _plain(row["question_text"]), "topic": row["domain"]}

    return converted


def books(row: Row) -> Iterator[Made]:
    """FreshBooks' paragraphs, to be gone on with."""
    paragraph = next((row[name] for name in ("paragraph", "prompt", "text") if row.get(name)), None)
    if paragraph is not None:
        yield {"prompt": paragraph}


def longfact(row: Row) -> Iterator[Made]:
    """LongFact's prompts; the canary stays behind."""
    yield {"prompt": row["prompt"], "topic": row["topic"]}


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
