"""Pages for a browser, one HTML file each: the report of a run, made from what its folder has, and runs side by side."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from localfact.api.rescore import read_finished_summary, summarise_record
from localfact.assess.posteriors import Rules, explain_rules, label_of
from localfact.assess.priormap import PriorMap
from localfact.assess.priors import prior_of
from localfact.assess.thresholds import VerdictThresholds, explain_thresholds
from localfact.correcting.records import Left, TextEdit
from localfact.errors import InputError, LocalFactError
from localfact.inference.factor_graph import CLAIM_PRIOR
from localfact.llm.layers.recording import read_calls
from localfact.methods.relations import DEFAULT_RELATIONS, read_kept_relations
from localfact.models.cards import WITHDRAWN
from localfact.records import Assessment, Claim, Distribution, Pair, Record, Relation, Verdict
from localfact.report.comparison import RunsCompared
from localfact.report.page.comparison_page import Judged, comparison_page
from localfact.report.page.responses import Decide
from localfact.report.page.run_page import ModelCall, RunRead, run_page
from localfact.report.summary import Summary
from localfact.runs.assessments import ASSESSMENTS_FILE, assessments_in_order, count_assessments
from localfact.runs.journal import read_description
from localfact.runs.record import AssessmentRead, RunRecord, RunSettings, read_record, read_run
from localfact.runs.row_file import RUN, row_of
from localfact.runs.run_folder import CORRECTIONS_FILE, RELATIONS_FILE, REPORT_FILE, SECOND_RELATIONS_FILE, SHOWN, read_seconds
from localfact.runtime.files import file_digest, whole_lines, write_file
from localfact.vocabulary import VerdictLabel

#: Relation models that come with localfact, or did, and what a reader of their verdicts must know.
SHIPPED_RELATIONS = (DEFAULT_RELATIONS, *WITHDRAWN)
SHIPPED_LIMITS = (
    "The relation model of this run comes with localfact and is a demonstration: it often misses an exchanged name, number or "
    "role, and takes a sentence about something else for a denial. Read the passages before you believe a verdict."
)
#: The most calls of the language model in a report, and characters of each text.
CALLS, CALL_CHARACTERS = 500, 8_000


def write_report(
    run_folder: str | Path,
    *,
    out: str | Path | None = None,
    start: int = 1,
    calls: str | Path | None = None,
    record: RunRecord | None = None,
    summary: Summary | None = None,
) -> Path:
    """Writes the report of a run, finished or not, and returns where it is.

    Args:
        out: the file; report.html in the run folder when None.
        start: the number, from 1, of the first response in it; it has at most SHOWN. Sums are of the whole run.
        calls: a transcript, of which the first CALLS calls stand in the report, each cut at CALL_CHARACTERS; none when None.
        record: the run from response 1 on, where it was just read.
        summary: of it, where it was just made; else the stored one, or one of what is done so far.

    Raises:
        MissingError: there is no such run or transcript. InputError: a file of it is damaged, or it has no response `start`.
        WriteError: `out` cannot be written.
    """
    path = Path(run_folder)
    if start != 1 and not 1 <= start <= (count := count_assessments(path)):
        raise InputError(f"{path} has {count:,} responses: a report cannot start with number {start:,}.")
    summary = summary or read_finished_summary(path)
    record = record or read_record(path, start=start, most=SHOWN, outlines=summary is None)
    assessed = record.settings.assessment
    shown, left = model_calls(Path(calls)) if calls is not None else ([], 0)
    content = run_page(
        RunRead(
            name=path.resolve().name,
            summary=summary or summarise_record(record),
            assessments=record.assessments,
            start=start,
            decide=decide_by(assessed.rules, prior_by(assessed), assessed.undecided_within, thresholds_of(assessed)),
            how=how_decided(assessed),
            reader=reader_of(record.settings),
            limits=limits_of(assessed),
            settings={name: value for name, value in record.content.items() if name != "versions"},
            seconds=read_seconds(path),
            distributions=distributions(path, record.assessments),
            corrections=read_corrections(path, {one.response_id for one in record.assessments}),
            calls=shown,
            calls_left=left,
        )
    )
    file = Path(out) if out is not None else path / REPORT_FILE
    write_file(file, [content.encode("utf-8", "replace")])
    return file


class _Corrected(Record):
    """What a report shows of a row of corrections."""

    edits: tuple[TextEdit, ...] = ()
    left: tuple[Left, ...] = ()


def read_corrections(run_folder: Path, wanted: Collection[str]) -> dict[str, dict[str, Any]]:
    """What the run's file of corrections has of these responses; nothing where it is damaged or the run was assessed anew."""
    file = run_folder / CORRECTIONS_FILE
    beside = file.with_name(file.name + RUN)
    try:
        made = read_description(beside.read_bytes(), beside)["settings"]
        rows = [row_of(file, number, line) for number, line in enumerate(whole_lines(file)[0], start=1)]
        if made.get("run") != file_digest(run_folder / ASSESSMENTS_FILE):
            return {}
        shown = {row["id"]: _Corrected(edits=row["edits"], left=row["left"]) for row in rows if row["id"] in wanted}
    except (OSError, InputError, KeyError, ValidationError):
        return {}
    return {name: one.model_dump(mode="json") for name, one in shown.items()}


def how_decided(assessed: AssessmentRead) -> str:
    """How verdicts are reached in a run with these settings, in sentences for readers."""
    if assessed.tables is None:
        return "A language model reads each claim beside its passages, which are shown as it read them, and names the verdict."
    rules = explain_rules(assessed.rules, soft=assessed.factors == "soft", within=assessed.undecided_within)
    thresholds = thresholds_of(assessed)
    promise = f" {explain_thresholds(thresholds)}" if thresholds is not None else ""
    return (
        "Each claim is read beside passages by a relation model, which says how probable it is that the passage entails the "
        "claim, contradicts it, or says nothing of it. These relations join claims and passages in one factor graph, and the "
        f"claim's probability in it decides. {rules}{promise} Of a claim that some passages speak "
        "to only those are listed, of another the best that were found."
    )


def thresholds_of(assessed: AssessmentRead) -> VerdictThresholds | None:
    """The thresholds of verdicts of a run with these settings; None where it has none."""
    return None if assessed.thresholds is None else VerdictThresholds.model_validate(assessed.thresholds)


def reader_of(settings: RunSettings) -> str:
    """Whose reading of the pages the verdicts of a run are, in words."""
    if limits_of(settings.assessment):
        return "a demonstration without a language model"
    return settings.model.model if settings.model is not None and settings.model.model else "this method"


def limits_of(assessed: AssessmentRead) -> str:
    """What readers must know of a run whose relation model is one of those that ship; "" for any other."""
    return SHIPPED_LIMITS if assessed.relations.partition("@")[0] in SHIPPED_RELATIONS else ""


def prior_by(assessed: AssessmentRead) -> Callable[[Claim], float]:
    """Returns the function from a claim to its prior in the run: the extractor's opinion, where the run goes by that."""
    if assessed.theta is None:
        return lambda claim: CLAIM_PRIOR
    prior_map = None if assessed.prior_map is None else PriorMap.model_validate(assessed.prior_map)
    return lambda claim: prior_of(claim.preverification, prior_map)


def decide_by(
    rules: Rules,
    prior: Callable[[Claim], float],
    within: float | None = None,
    thresholds: VerdictThresholds | None = None,
) -> Decide:
    """Returns the function from a claim, a posterior, and the relations behind it, to a verdict by these rules."""

    def decide(claim: Claim, posterior: float, relations: Collection[Relation]) -> VerdictLabel:
        label = label_of(posterior, 0.0, relations, rules, prior(claim), within)
        stands = thresholds is None or thresholds.allows(Verdict(claim_id=claim.id, label=label, posterior=posterior))
        return label if stands else VerdictLabel.UNDECIDED

    return decide


def distributions(run_folder: Path, assessments: Sequence[Assessment]) -> dict[Pair, list[Distribution]]:
    """The probabilities of all three relations of what entered verdicts, as far as the run folder keeps them."""
    pairs: dict[Pair, Pair] = {}  # as it was shown, with the title or without it -> as it is looked up
    for assessment in assessments:
        passages = {passage.id: passage for passage in assessment.passages}
        for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True):
            for passage in (passages[one.passage_id] for one in verdict.passages if one.passage_id in passages):
                plain = Pair(passage.text, claim.text)
                pairs |= {plain: plain, Pair(f"{passage.title}\n{passage.text}", claim.text): plain}
    found: dict[Pair, list[Distribution]] = {}
    for name in (RELATIONS_FILE, SECOND_RELATIONS_FILE):
        try:
            for pair, said in read_kept_relations(run_folder / name, list(pairs)).items():
                found.setdefault(pairs[pair], []).extend(said)
        except LocalFactError:  # the report tells the label's probability, which the assessment has
            continue
    return found


def write_comparison(compared: RunsCompared, out: str | Path) -> Path:
    """Writes runs side by side as a page, with the evidence of every claim on which they differ, and returns where it is.

    Raises:
        MissingError: a run is not there any more. WriteError: `out` cannot be written.
    """
    wanted = {(claim.response_id, claim.claim_id) for claim in compared.claims}
    judged = {}
    for run in compared.runs:
        for assessment in assessments_in_order(Path(run.run)):
            passages = {passage.id: passage for passage in assessment.passages}
            response = run.partners.get(assessment.response_id, assessment.response_id)
            for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True):
                if (response, claim.id) in wanted:
                    judged[run.name, response, claim.id] = Judged(claim, verdict, passages)
    settings = {run.name: read_run(Path(run.run)).plain_settings for run in compared.runs}
    file = Path(out)
    write_file(file, [comparison_page(compared, judged, settings).encode("utf-8", "replace")])
    return file


def model_calls(transcript: Path) -> tuple[list[ModelCall], int]:
    """The first calls of a transcript as the report shows them, and how many more there are."""
    calls, total = read_calls(transcript, CALLS, _cut)
    return [ModelCall(*call) for call in calls], total - len(calls)


def _cut(text: str) -> str:
    more = len(text) - CALL_CHARACTERS
    return text if more <= 0 else f"{text[:CALL_CHARACTERS]}\n[{more:,} more characters]"
