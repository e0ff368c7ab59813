"""Reads responses: our own schema and, unchanged, FActScore's, VeriScore's, FaStfact's and IBM FactReasoner's, ragas' rows,
conversations and the answers of servers (`answers.py`); in files of any form of `row_files.py`.

A row that cannot be used becomes a Response with a `problem`: it is carried along, counted as failed, and stops no other. Only
a file that cannot be read at all is an error.

Our own schema, one JSON object a line (only `response` is needed):

    {"id": "...", "prompt": "...", "topic": "...", "model": "...", "source": "...", "response": "...",
     "claims": [{"id": "...", "text": "...", "label": "S" | "NS" | "IR", "in_corpus": true, "quote": "...",
                 "spans": [[start, end], ...], "preverification": {"label": "...", "confidence": 0.9, ...},
                 "passages": ["id", ...], "edit": "unchanged" | "revised" | "added" | "removed"}],
     "sample": {"id": "...", "task": "...", "epoch": 1},
     "annotation": [claims of an annotator, where "claims" are an extractor's],
     "extraction": {other results of that extractor, as `localfact extract` writes them},
     "passages": [{"id": "...", "title": "...", "link": "...", "date": "...", "text": "...", "snippet": "..."}],
     "sources": [what the text cites as [1], [2], ...; `sources.py` has its forms],
     "error_message": "why an earlier pass (`localfact extract`, `localfact generate`) could not make this row"}

A "sample" says which sample of another tool's log the row is (`logs/`). A claim whose "edit" is "removed", by an annotator, is
passed over.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from pydantic import ValidationError

from localfact.inputs.answers import ANSWER_KEYS, CHAT_KEYS, TEXT_KEYS, find_answer
from localfact.inputs.claims import claim_of, optional_text, read_list
from localfact.inputs.json_rows import Row, RowError, find_unused_name, first
from localfact.inputs.logs.samples import read_epoch
from localfact.inputs.passages import PASSAGE_KEYS, evidence_of
from localfact.inputs.row_files import open_rows
from localfact.inputs.sources import sources_of
from localfact.prose import instead_of_prose
from localfact.records import Claim, Extraction, Response, Sample
from localfact.text import readable, word_count

#: The default of the most words of a response; `--max-words` changes it.
MAX_WORDS = 20_000

#: What a file of responses holds, for messages.
RESPONSES = "responses: JSON lines, each with a 'response'; a table with such a column; or plain text"

#: The id of a row that gives none: its number, which says nothing of another file. An earlier pass may have written it down.
COUNTED_ID = re.compile(r"row-\d+(?:#\d+)?")

#: What is added to an id that stands in a file again (`find_unused_name`), perhaps by one pass after the other.
_REPEATED = re.compile(r"(?:#(?:[2-9]|[1-9]\d+))+\Z")

#: Other schemas' names for our fields, ours first.
ID_KEYS = ("custom_id", "id", "question_id", "query_id")
SOURCE_KEYS = ("source", "prompt_source")
CLAIM_KEYS = ("claims", "atoms")
#: Columns of which a table of responses must have one.
ANSWER_COLUMNS = (*TEXT_KEYS, *CHAT_KEYS, *ANSWER_KEYS, "user_input", "error_message")
FASTFACT_CLAIMS = "claims_lst"
#: Names under which one source stands in FaStfact's files, in lower case -> its name; each source has a median of its own.
SOURCES = {"hellobench": "hellobench", "longfact": "longfact", "longfact_concepts": "longfact", "longfact_objects": "longfact"}
#: Keys of FaStfact's annotated claims: the annotator's label, and what became of the extractor's claim.
HUMAN_LABELS, EDIT_KEYS, REMOVED = ("annotator_label", "human_label", "label"), ("operation", "edit"), "removed"
#: An extractor's results besides its claims.
SAID = ("unparsed", "dropped", "counts", "warnings")


#: Rows, to be taken once.
Rows: TypeAlias = Iterator[Row | RowError]


class ResponseFile(NamedTuple):
    """The responses of a file, and warnings about the file as a whole for the reader of the results."""

    responses: list[Response]
    warnings: tuple[str, ...]


def read_responses(path: Path, *, max_words: int = MAX_WORDS, limit: int | None = None) -> list[Response]:
    """The responses of a file; arguments and errors as of `read_response_file`."""
    return read_response_file(path, max_words=max_words, limit=limit).responses


def read_response_file(
    path: Path, *, max_words: int = MAX_WORDS, limit: int | None = None, watch: Callable[[Rows], Rows] = iter
) -> ResponseFile:
    """Reads all rows of a file, or all texts of a folder, in order.

    Args:
        path: in any form of `row_files.open_rows`.
        max_words: a longer response gets a problem that names the option.
        limit: only the first so many rows.
        watch: sees the rows that are read, and hands them on.

    Raises:
        InputError: the file is missing, unreadable, empty, or nothing of it is a row.
    """
    rows, notes = open_rows(path, RESPONSES, ANSWER_COLUMNS)
    remarks: Counter[str] = Counter()
    responses = responses_of(_note_remarks(watch(rows), remarks), max_words=max_words, limit=limit)
    return ResponseFile(responses, (*notes.values(), *(f"{remark}: {count:,}." for remark, count in remarks.items())))


def _note_remarks(rows: Rows, remarks: Counter[str]) -> Rows:
    for row in rows:
        if not isinstance(row, RowError):
            remarks.update(find_answer(row).remarks)
        yield row


def responses_of(rows: Iterable[Row | RowError], *, max_words: int = MAX_WORDS, limit: int | None = None) -> list[Response]:
    """The responses of rows, in order, with different ids; arguments as in `read_responses`.

    An id that several rows give names none of them: it does not count as given, nor does the "id#2" that an earlier pass made
    of the second.
    """
    responses: list[Response] = []
    seen: set[str] = set()
    given: list[str] = []
    for number, row in enumerate(rows, start=1):
        if limit is not None and len(responses) >= limit:
            break
        response = response_of(row, number, max_words)
        # FaStfact has answers of several models under one id: the second becomes "id#2".
        name = find_unused_name(response.id, seen)
        seen.add(name)
        given.append(response.id)
        responses.append(response.model_copy(update={"id": name}))
    given_ids = set(given)
    roots = [root_of(name, given_ids) for name in given]
    times = Counter(roots)
    return [
        response.model_copy(update={"id_given": False}) if times[root] > 1 else response
        for root, response in zip(roots, responses, strict=True)
    ]


def root_of(name: str, names: Container[str]) -> str:
    """The id that the rows of several answers have, of the "id#2" made of the second; any other name as it is.

    Args:
        names: all of the file or the run: "id#2" is made of "id" only where that is among them.
    """
    root = _REPEATED.sub("", name)
    return root if root in names else name


def name_of(given: object, number: int) -> str:
    """The id of a row: the one that it gives, or its number, counted from 1, where it gives none or a blank one."""
    said = "" if given is None else readable(str(given))
    return said if said.strip() else f"row-{number}"


def response_of(row: Row | RowError, number: int, max_words: int = MAX_WORDS) -> Response:
    """The response of one row; `number` counts rows from 1 and makes the id of a row without one."""
    if isinstance(row, RowError):
        return Response(id=f"row-{number}", text="", problem=readable(str(row)))
    given, answer = first(row, ID_KEYS), find_answer(row)
    name = name_of(given, number)
    bare = Response(
        id=name,
        id_given=COUNTED_ID.fullmatch(name) is None,
        text="",
        prompt=optional_text(answer.prompt),
        topic=optional_text(row.get("topic")),
        model=optional_text(row.get("model")) or optional_text(answer.model),
        source=source_of(row),
        sample=sample_of(row),
    )
    text = answer.text
    earlier = optional_text(row.get("error_message"))
    if earlier is not None:
        return bare.model_copy(update={"text": readable(text or ""), "problem": earlier})
    if text is None:
        return bare.model_copy(update={"problem": readable(answer.problem or "The row has no response.")})
    response = bare.model_copy(update={"text": readable(text), "sources": sources_of(row, text)})
    if (instead := instead_of_prose(response.text)) is not None:
        return response.model_copy(update={"problem": f"The response is {instead}, not text that states something."})
    words = word_count(response.text)
    if words > max_words:
        problem = f"The response has {words:,} words, more than {max_words:,}. --max-words {words} lets it through."
        return response.model_copy(update={"problem": problem})
    try:
        claims, links = claims_of(row, response.text)
        evidence = evidence_of(row, claims or (), links)
        # The annotator's claims that `localfact extract` stored beside its own.
        kept = row.get("annotation")
        annotation = claims_of({"claims": kept}, response.text)[0] if isinstance(kept, list) else None
        extraction = extraction_of(row)
    except RowError as error:
        return response.model_copy(update={"problem": readable(str(error))})
    found = {"claims": claims, "evidence": evidence, "annotation": annotation, "extraction": extraction}
    return response.model_copy(update=found)


def extraction_of(row: Row) -> Extraction | None:
    """The results of an earlier extraction besides its claims, with its costs among the counts; None where there was none."""
    kept = row.get("extraction")
    if not isinstance(kept, dict):
        return None
    try:
        said = Extraction.model_validate({name: kept[name] for name in SAID if name in kept})
        return said.model_copy(update={"counts": {**said.counts, **earlier_costs(kept.get("usage"))}})
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise RowError(f"'extraction' is not what `localfact extract` writes, at '{where}'.") from None


def earlier_costs(usage: object) -> dict[str, int]:
    """The calls and tokens of an earlier pass over all its stages; empty where it called no model."""
    stages = [figures for figures in usage.values() if isinstance(figures, dict)] if isinstance(usage, dict) else []
    sums = dict.fromkeys(("calls", "prompt_tokens", "output_tokens"), 0)
    for name in sums:
        figures = [stage.get(name) for stage in stages]
        sums[name] = sum(figure for figure in figures if isinstance(figure, int))
    return {f"earlier_{name}": total for name, total in sums.items()} if sums["calls"] else {}


def claims_of(row: Row, text: str) -> tuple[tuple[Claim, ...] | None, dict[str, tuple[str, ...]]]:
    """The claims of a row, and claim id -> ids of the passages given for it. None where the row gives no claims."""
    given = first(row, CLAIM_KEYS)
    if given is None and isinstance(row.get("annotations"), list):
        given = list(factscore_facts(row["annotations"]))
    if given is None and isinstance(row.get(FASTFACT_CLAIMS), list):
        given = list(fastfact_claims(row[FASTFACT_CLAIMS]))
    if given is None:
        return None, {}
    if not isinstance(given, list):
        raise RowError("'claims' must be a list.")
    given = [item for item in given if not (isinstance(item, dict) and item.get("edit") == REMOVED)]
    claims: list[Claim] = []
    links: dict[str, tuple[str, ...]] = {}
    for position, item in enumerate(given, start=1):
        item = {"text": item} if isinstance(item, str) else item
        if not isinstance(item, dict) or optional_text(item.get("text")) is None:
            raise RowError(f"Claim {position} has no text.")
        claim = claim_of(item, position, text)
        if claim.id in links:
            raise RowError(f"Two claims have the id '{claim.id}'.")
        claims.append(claim)
        links[claim.id] = tuple(
            readable(str(link)) for link in read_list(first(item, PASSAGE_KEYS), f"The passages of claim {position}")
        )
    return tuple(claims), links


def factscore_facts(annotations: Sequence[object]) -> Iterator[Row]:
    """The human atomic facts of FActScore's annotation, with the sentence that each comes from."""
    for sentence in annotations:
        if isinstance(sentence, dict):
            for fact in read_list(sentence.get("human-atomic-facts"), "'human-atomic-facts'"):
                if isinstance(fact, dict):
                    yield {**fact, "sentence": sentence.get("text")}


def source_of(row: Row) -> str | None:
    """The data set that a prompt came from; spellings of the same set give one name."""
    named = optional_text(first(row, SOURCE_KEYS))
    return None if named is None else SOURCES.get(named.strip().lower(), named)


def sample_of(row: Row) -> Sample | None:
    """Which sample of a log a row is; None where it does not say so."""
    said = row.get("sample")
    if not isinstance(said, dict) or said.get("id") is None or not str(said["id"]).strip():
        return None
    return Sample(id=readable(str(said["id"])), task=optional_text(said.get("task")), epoch=read_epoch(said.get("epoch")))


def fastfact_claims(claims: Sequence[object]) -> Iterator[dict[str, Any]]:
    """FaStfact's claims in our names, removed ones too: `text`, `id`, `label` and `edit` ("" where nobody edited).

    The label is the annotator's where there is one, else the verifier's, else the extractor's own.
    """
    for claim in claims:
        if isinstance(claim, dict):
            verified = claim.get("verification_result")
            labels = (
                *(claim.get(key) for key in HUMAN_LABELS),
                verified.get("verification_label") if isinstance(verified, dict) else None,
                claim.get("pre-label"),
            )
            edit = str(first(claim, EDIT_KEYS) or "").strip().lower()
            yield {
                "id": claim.get("claim_id"),
                "text": first(claim, ("revised_claim", "claim")),
                "label": next((label for label in labels if label not in (None, "")), None),
                "edit": edit,
            }
