"""A run beside people's annotation of the same responses: the same claims, the same labels, the same scores?

Claims of the two sides are matched one to one by meaning: by the cosine of their sentence vectors where their numbers are the
same, so that "in 1903" and "in 1911" never match. Without an embedder it is the F1 of their words.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localfact import text
from localfact.claims.small_lm.guard import numbers
from localfact.errors import InputError
from localfact.inputs.annotations import AnnotatedResponse, IrrelevantMeaning, read_annotations
from localfact.models.embedder import NO_EMBEDDER, open_embedder
from localfact.records import Assessment, Record
from localfact.runs.assessments import read_assessments
from localfact.scoring.alignment import AlignedResponse, Alignment, GoldClaim, align, best_matches
from localfact.scoring.pairing import ALONE, Identity, pair
from localfact.scoring.recall import GAMMA
from localfact.vocabulary import GoldLabel

#: The least similarity of two claims that are the same: of vectors, and of words without an embedder.
SAME_VECTORS, SAME_WORDS = 0.8, 0.8
NO_ROW = "no row in the annotation"
#: The most reasons that a message names.
SHOWN_PROBLEMS = 3
#: Texts of the two sides -> (n, m) similarities in [0, 1].
Similar = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]


class RunAligned(Record):
    """What `align_run` found.

    Attributes:
        run, gold: the two sides.
        overall: of all responses that both have.
        by_source: of each source's.
        rule: how claims are matched, in words.
        gamma: of F1@K'.
        left_out: why responses of the run are not compared -> how many.
        unused: rows of the annotation that no response has.
        problems: rows of it that cannot be used, each with its reason.
        recorded_edits: edits that annotators recorded themselves -> claims, where the file has some.
        irrelevant_otherwise: claims of the annotation that it calls irrelevant in another sense than FastFact's benchmark.
        labelled, coarse: claims of the annotation with a label, and those called not supported without saying how: one of
            these is enough that there is no agreement on the five labels.
    """

    run: str
    gold: str
    overall: Alignment
    by_source: dict[str, Alignment]
    rule: str
    gamma: float
    left_out: dict[str, int]
    unused: int
    problems: tuple[str, ...]
    recorded_edits: dict[str, int]
    irrelevant_otherwise: int = 0
    labelled: int = 0
    coarse: int = 0


def align_run(
    run: str | Path, gold: str | Path, *, embedder: str = "minilm", same: float | None = None, gamma: float = GAMMA
) -> RunAligned:
    """Compares a run with an annotation (FastFact, Table 1).

    A response and a row of the same model belong together as responses of two runs do (`scoring/pairing.py`).

    Args:
        run: a run folder.
        gold: responses with labelled claims, in any schema that `eval` reads.
        embedder: a card; "none" for words alone.
        same: the least similarity of claims that match; by the embedder when None.

    Raises:
        MissingError: there is no such run, or no such embedder. InputError: a file is damaged, or no response has a row.
    """
    every = list(read_annotations(Path(gold)))
    rows = [row for row in every if row.problem is None]
    assessments = read_assessments(Path(run))
    found, left_out, unused = pair_rows(assessments, rows)
    if not found:
        reasons = [*(row.problem for row in every if row.problem), *(f"{count} {why}" for why, count in left_out.items())]
        why = ", ".join(reasons[:SHOWN_PROBLEMS]) or "there is none"
        raise InputError(f"No response of {run} can be set beside a row of {gold}, by its text or its id ({why}).")
    similar, least, rule = similarity(embedder, same)
    aligned = [align_response(assessment, row, similar, least) for assessment, row in found]
    by_source: dict[str, list[AlignedResponse]] = {}
    for one, (assessment, row) in zip(aligned, found, strict=True):
        by_source.setdefault(assessment.source or row.source or "", []).append(one)
    edits = Counter[str]()
    for _, row in found:
        edits.update({edit.value: count for edit, count in row.edits.items()})
    labelled = [claim for one in aligned for claim in one.claims if claim.gold is not None]
    return RunAligned(
        run=str(run),
        gold=str(gold),
        overall=align(aligned, gamma),
        by_source={source: align(responses, gamma) for source, responses in by_source.items()},
        rule=rule,
        gamma=gamma,
        left_out=dict(left_out),
        unused=len(unused),
        problems=tuple(f"{row.id}: {row.problem}" for row in every if row.problem is not None),
        recorded_edits=dict(edits),
        irrelevant_otherwise=sum(
            claim.gold is GoldLabel.IRRELEVANT
            for _, row in found
            if row.irrelevant_means is not IrrelevantMeaning.UNRELATED
            for claim in row.claims
        ),
        labelled=len(labelled),
        coarse=sum(claim.label is None for claim in labelled),
    )


def pair_rows(
    assessments: Sequence[Assessment], rows: Sequence[AnnotatedResponse]
) -> tuple[list[tuple[Assessment, AnnotatedResponse]], Counter[str], list[AnnotatedResponse]]:
    """Matches the responses of a run to the rows of an annotation, each row once.

    Returns the pairs to be compared; for the other responses: reason -> how many; and the rows that no response has."""
    found: list[tuple[Assessment, AnnotatedResponse]] = []
    left_out = Counter[str]()
    left = list(rows)
    for model in sorted({one.model for one in assessments}, key=lambda name: (name is None, name)):  # of one model, or of any
        ours = [one for one in assessments if one.model == model]
        theirs = [one for one in left if None in (model, one.model) or one.model == model]
        pairing = pair(
            [Identity(one.response_id if one.id_given else None, one.prompt, text.normalise(one.text)) for one in ours],
            [Identity(one.id if one.id_given else None, one.prompt, text.normalise(one.text)) for one in theirs],
        )
        for reason, number in pairing.left[0].items():
            left_out[NO_ROW if reason == ALONE else reason] += number
        for mine, other in pairing.pairs:
            if ours[mine].status == "failed":
                left_out["failed"] += 1
            elif all(claim.gold is None for claim in theirs[other].claims):
                left_out["no labelled claim in the annotation"] += 1
            else:
                found.append((ours[mine], theirs[other]))
        taken = {id(theirs[other]) for _, other in pairing.pairs}
        left = [one for one in left if id(one) not in taken]
    return sorted(found, key=lambda one: one[0].index), left_out, left


def align_response(assessment: Assessment, row: AnnotatedResponse, similar: Similar, least: float) -> AlignedResponse:
    """Matches the claims of a response with those of its annotation."""
    ours, theirs = [claim.text for claim in assessment.claims], [claim.text for claim in row.claims]
    matches = best_matches(similar(ours, theirs), least) if ours and theirs else []
    return AlignedResponse(
        assessment,
        [GoldClaim(claim.text, claim.gold, claim.label) for claim in row.claims],
        matches,
        [text.normalise(ours[one]) == text.normalise(theirs[other]) for one, other in matches],
    )


def similarity(embedder: str, same: float | None) -> tuple[Similar, float, str]:
    """Returns a similarity of claims, the least value at which two are the same claim, and a sentence for readers on both."""
    loaded = open_embedder(embedder) if embedder != NO_EMBEDDER else None
    if loaded is None:
        least = SAME_WORDS if same is None else same
        return word_similarity, least, f"one to one, by the F1 of their words, at least {least:g}"
    least = SAME_VECTORS if same is None else same

    def by_vectors(ours: Sequence[str], theirs: Sequence[str]) -> NDArray[np.float64]:
        vectors = loaded.encode([*ours, *theirs]).astype(np.float64)
        alike = np.clip(vectors[: len(ours)] @ vectors[len(ours) :].T, 0.0, 1.0)
        agree = np.array([[numbers(one) == numbers(other) for other in theirs] for one in ours])
        return np.where(agree, alike, 0.0)

    said = f"one to one, by the cosine of their {loaded.identity} vectors, at least {least:g}, where their numbers are the same"
    return by_vectors, least, said


def word_similarity(ours: Sequence[str], theirs: Sequence[str]) -> NDArray[np.float64]:
    """The F1 of the words of each two texts, whatever their order and case; (n, m) in [0, 1]."""
    ones, others = ([Counter(text.words(text.normalise(each))) for each in side] for side in (ours, theirs))
    return np.array(
        [[2 * (one & other).total() / max(1, one.total() + other.total()) for other in others] for one in ones], dtype=float
    )
