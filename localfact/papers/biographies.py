"""Rebuilds FactReasoner's biographies file, where it is not available, from FActScore's labels and passages of a corpus.

The output has the schema of IBM's file, one biography a line: input, output, topic, cat; atoms with their labels and the ids of
their contexts; contexts. `inputs/responses.py` reads it back with the same claims, labels and passages.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localfact.corpus.corpus import Corpus
from localfact.errors import InputError
from localfact.evidence.corpus_retriever import CorpusRetriever, Selection
from localfact.inputs.json_rows import Row, RowError
from localfact.inputs.responses import response_of
from localfact.inputs.row_files import read_rows
from localfact.models.embedder import Embedder
from localfact.records import Claim, Evidence, Record, Response
from localfact.runs.progress import SILENT, Progress
from localfact.runs.row_file import RowFile
from localfact.runtime.files import file_digest
from localfact.runtime.tasks import complete
from localfact.runtime.versions import versions
from localfact.vocabulary import GoldLabel

#: Gold label -> its letters in FActScore's and IBM's files.
LETTERS: Mapping[GoldLabel, str] = {GoldLabel.SUPPORTED: "S", GoldLabel.NOT_SUPPORTED: "NS"}

HOLDING = "FActScore's labelled biographies, one JSON object a line, each with 'output' and 'annotations'"
NO_ANNOTATION = "no annotation: the model abstained"
NO_LABELLED_FACT = "no fact labelled S or NS"


class Built(Record):
    """The result of building the file.

    Attributes:
        out: the file.
        rows: of the release.
        written: biographies in the file.
        left_out: reason -> how many rows are not in it.
        supported, not_supported: atoms by label. irrelevant, unlabelled: facts labelled IR, or not at all; both are left out.
        contexts: passages in the file, repetitions counted.
        atoms_without_contexts: those for which the corpus had none.
        warnings: for readers of the file.
    """

    out: Path
    rows: int
    written: int
    left_out: Mapping[str, int]
    supported: int
    not_supported: int
    irrelevant: int
    unlabelled: int
    contexts: int
    atoms_without_contexts: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Biography:
    """A row of the release that goes into the file, with its atoms: the facts labelled S or NS."""

    id: str
    row: Row
    response: Response
    atoms: tuple[Claim, ...]


def build_biographies(
    labels: Path,
    corpus: Path,
    out: Path,
    *,
    k: int,
    embedder: Embedder | None,
    force: bool = False,
    progress: Progress = SILENT,
) -> Built:
    """Builds the file, or resumes it.

    Args:
        labels: FActScore's release of one model (input, output, topic, cat, annotations).
        corpus: the folder of a corpus with passages of the kind "pages".
        k: passages an atom, the corpus's best for its text.
        embedder: the corpus's, or None for BM25 alone.
        force: begins the file again.
        progress: gets a report on each biography.

    Raises:
        InputError: no row can be used, or a file cannot be read. MissingError, CorpusError: no corpus, or a damaged one.
        RunFolderError: the file was made with other settings, or by something else.
    """
    rows = list(read_rows(labels, HOLDING))
    left_out: Counter[str] = Counter()
    chosen = list(usable(rows, left_out))
    if not chosen:
        reasons = "; ".join(f"{count} rows: {reason}" for reason, count in left_out.items())
        raise InputError(f"{labels} has no biography that can be used ({reasons}). It should hold {HOLDING}.")
    with Corpus.open(corpus, embedder) as opened:
        retriever = CorpusRetriever(opened, Selection("pages", k, merge_near_duplicates=False))
        identity = opened.embedder.identity if opened.embedder else None
        settings = {"labels": file_digest(labels), "corpus": opened.description.content, "embedder": identity, "k": k}
        notes = {"sources": {"labels": str(labels), "corpus": str(corpus)}}
        with RowFile(out, settings, versions=versions(), notes=notes, force=force) as file:
            missing = [one for one in chosen if one.id not in file.done]
            progress.begin(len(chosen), len(chosen) - len(missing))
            for one in missing:
                file.append(ibm_row(one, complete(retriever.retrieve(one.response, one.atoms))))
                progress.row_done()
            written = file.complete([one.id for one in chosen])
            return count_built(out, rows, written, left_out, tuple(file.warnings))


def usable(rows: Sequence[Row | RowError], left_out: Counter[str]) -> Iterator[Biography]:
    """The rows with labelled facts, as biographies; the reasons of the others are counted in `left_out`."""
    for number, row in enumerate(rows, start=1):
        response = response_of(row, number)
        atoms = tuple(claim for claim in response.claims or () if claim.gold in LETTERS)
        if isinstance(row, RowError) or response.problem is not None:
            left_out[response.problem or str(row)] += 1
        elif response.claims is None:
            left_out[NO_ANNOTATION] += 1
        elif not atoms:
            left_out[NO_LABELLED_FACT] += 1
        else:
            yield Biography(f"row-{number}", row, response, atoms)


def ibm_row(one: Biography, evidence: Evidence) -> dict[str, Any]:
    """One biography in IBM's schema, with the number of its row in the release as id; every atom has contexts of its own."""
    passages = {passage.id: passage for passage in evidence.passages}
    atoms, contexts = [], []
    for position, atom in enumerate(one.atoms):
        names = []
        for hit in evidence.hits[atom.id]:
            passage = passages[hit.passage_id]
            names.append(f"c_a{position}_{hit.rank - 1}")
            link = {"link": passage.links[0]} if passage.links else {}
            contexts.append({"id": names[-1], "title": passage.title, "text": passage.text, **link})
        label = LETTERS[atom.gold] if atom.gold is not None else None
        atoms.append({"id": f"a{position}", "text": atom.text, "original": atom.text, "label": label, "contexts": names})
    return {
        "id": one.id,
        "input": one.response.prompt,
        "output": one.response.text,
        "topic": one.response.topic,
        "cat": one.row.get("cat"),
        "atoms": atoms,
        "contexts": contexts,
    }


def count_built(
    out: Path, rows: Sequence[Row | RowError], written: Sequence[Row], left_out: Mapping[str, int], warnings: tuple[str, ...]
) -> Built:
    """The counts over the whole file, whichever call made which row."""
    labels = Counter(atom["label"] for row in written for atom in row["atoms"])
    responses = [response_of(row, number) for number, row in enumerate(rows, start=1)]
    golds = Counter(claim.gold for response in responses for claim in response.claims or ())
    return Built(
        out=out,
        rows=len(rows),
        written=len(written),
        left_out=dict(left_out),
        supported=labels["S"],
        not_supported=labels["NS"],
        irrelevant=golds[GoldLabel.IRRELEVANT],
        unlabelled=golds[None],
        contexts=sum(len(row["contexts"]) for row in written),
        atoms_without_contexts=sum(not atom["contexts"] for row in written for atom in row["atoms"]),
        warnings=warnings,
    )
