"""What is to be annotated: each response with the claims, verdicts and passages that a run or a file has of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from localfact.inputs.responses import read_responses
from localfact.records import Assessment, Claim, CountedPassage, Evidence, Passage, Probability, Record, Response, Span, Verdict
from localfact.runs.assessments import read_assessments
from localfact.runs.run_folder import RUN_FILE
from localfact.vocabulary import VerdictLabel

#: Passages shown with a claim, at most.
MOST_PASSAGES = 8


class MachineClaim(Record):
    """A claim as annotators find it.

    Attributes:
        verdict, posterior, rationale: what a method made of it; None where it comes from a file.
        passages: its evidence, what decided first.
    """

    id: str
    text: str
    spans: tuple[Span, ...] = ()
    verdict: VerdictLabel | None = None
    posterior: Probability | None = None
    rationale: str | None = None
    passages: tuple[CountedPassage, ...] = ()


class AnnotationTask(Record):
    """One response to be annotated.

    Attributes:
        id_given: whether the input gave the id, to this response alone; else the row was counted.
        passages: those that its claims name.
    """

    id: str
    id_given: bool = False
    text: str
    prompt: str | None = None
    topic: str | None = None
    model: str | None = None
    source: str | None = None
    claims: tuple[MachineClaim, ...] = ()
    passages: tuple[Passage, ...] = ()


def read_tasks(data: Path) -> tuple[list[AnnotationTask], list[str]]:
    """The tasks of a run folder or of a file of responses, and a sentence about each response that cannot be one.

    Raises:
        MissingError: there is no such file or run. InputError: it cannot be read.
    """
    if (data / RUN_FILE).is_file():
        assessments = read_assessments(data)
        return [of_assessment(one) for one in assessments if one.text], [
            f"{one.response_id} has no text ({one.error or one.status})." for one in assessments if not one.text
        ]
    responses = read_responses(data)
    return list(of_responses(responses)), [
        f"{one.id} cannot be annotated: {one.problem or 'it has no text.'}"
        for one in responses
        if one.problem is not None or not one.text.strip()
    ]


def of_assessment(assessment: Assessment) -> AnnotationTask:
    """The task of an assessed response."""
    verdicts = {verdict.claim_id: verdict for verdict in assessment.verdicts}
    claims = [_describe_claim(claim, verdicts.get(claim.id)) for claim in assessment.claims]
    return _task(assessment.response_id, assessment, claims, assessment.passages)


def of_responses(responses: Sequence[Response]) -> Iterator[AnnotationTask]:
    """The tasks of a file's responses, those that can be used."""
    for response in responses:
        if response.problem is not None or not response.text.strip():
            continue
        evidence = response.evidence or Evidence()
        claims = []
        for claim in response.claims or ():
            found = dict.fromkeys(hit.passage_id for hit in evidence.hits.get(claim.id, ())[:MOST_PASSAGES])
            passages = tuple(CountedPassage(passage_id=name) for name in found)
            claims.append(MachineClaim(id=claim.id, text=claim.text, spans=claim.spans, passages=passages))
        yield _task(response.id, response, claims, evidence.passages)


def _task(name: str, of: Assessment | Response, claims: Sequence[MachineClaim], passages: Sequence[Passage]) -> AnnotationTask:
    """The task with that id; of the passages, those that its claims name."""
    named = {passage.passage_id for claim in claims for passage in claim.passages}
    return AnnotationTask(
        id=name,
        id_given=of.id_given,
        text=of.text,
        prompt=of.prompt,
        topic=of.topic,
        model=of.model,
        source=of.source,
        claims=tuple(claims),
        passages=tuple(passage for passage in passages if passage.id in named),
    )


def _describe_claim(claim: Claim, verdict: Verdict | None) -> MachineClaim:
    found = MachineClaim(id=claim.id, text=claim.text, spans=claim.spans)
    if verdict is None:
        return found
    said = {"verdict": verdict.label, "posterior": verdict.posterior, "rationale": verdict.rationale}
    return found.model_copy(update=said | {"passages": verdict.passages[:MOST_PASSAGES]})
