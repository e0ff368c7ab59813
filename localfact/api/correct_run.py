"""Corrects the responses of a run: a row each, in a file beside the run's own, which goes on where it was interrupted."""

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from localfact.api.arguments import read_options, require_progress
from localfact.api.correct import correction_row
from localfact.api.correcting_parts import Correcting, open_corrector, plan_correcting
from localfact.api.report import write_report
from localfact.assess.thresholds import VerdictThresholds
from localfact.correcting.corrector import UNLIKELY, Corrector
from localfact.correcting.proposals import propose
from localfact.errors import InputError
from localfact.llm.calls import identity_fields
from localfact.methods.options import ClaimOptions, EvidenceOptions, GraphOptions, Options
from localfact.methods.settings import FactReasonerSettings, Settings, windowless
from localfact.methods.uses import given_options, leave_out
from localfact.methods.wiring import with_cache
from localfact.models.embedder import NO_EMBEDDER
from localfact.pipeline import Costs
from localfact.records import Assessment, Failure, Record
from localfact.runs.assessments import ASSESSMENTS_FILE, assessments_in_order
from localfact.runs.failures import or_failure
from localfact.runs.progress import SILENT, Progress
from localfact.runs.record import RunRecord, read_run
from localfact.runs.row_file import ERROR, Row, RowFile
from localfact.runs.run import CONCURRENCY
from localfact.runs.run_folder import CORRECTIONS_FILE, RELATIONS_FILE
from localfact.runtime.files import file_digest
from localfact.runtime.tasks import complete, for_each
from localfact.runtime.versions import versions
from localfact.vocabulary import RelationLabel, VerdictLabel

#: Part of what decides corrections; increased when others would be made.
CORRECTING_VERSION = 2
#: Options that decide claims and evidence, of which a run has its own. An embedder may be what relates, by word overlap.
NOT_OF_A_RUN = frozenset({*ClaimOptions.model_fields, *EvidenceOptions.model_fields}) - {"embedder"}
#: The reason to leave a claim that has a probability in it, without that: so that such claims are counted together.
_UNLIKELY = UNLIKELY.partition(" (")[0]
UNLIKELY_SHORT = f"{_UNLIKELY}."
#: Options whose names are those of the settings that they decide.
_SAME = (*GraphOptions.model_fields, "theta")


class CorrectionsSummary(Record):
    """What was corrected in a run.

    Attributes:
        out: the file of corrections, a row a response.
        responses, failed: their number, and how many of them could not be corrected.
        contradicted: claims; edits: what was made for them; left: why the others were left -> how many.
        precision_before, precision_after: the mean over responses that have one before and after.
        calls: of the language model.
    """

    out: Path
    responses: int
    failed: int
    contradicted: int
    edits: int
    left: Mapping[str, int]
    precision_before: float | None
    precision_after: float | None
    calls: int
    warnings: tuple[str, ...] = ()


def correct_run(
    run: str | Path,
    *,
    options: Options | None = None,
    out: str | Path | None = None,
    concurrency: int | None = None,
    force: bool = False,
    progress: Progress = SILENT,
) -> CorrectionsSummary:
    """Corrects all responses of a run, each by the passages that its verdicts went by; called again, it goes on.

    Args:
        run: the run folder.
        options: what the run was made with and its folder does not say: where a language model's weights are, say. A model that
            the run does not judge by proposes edits alone.
        out: the file of corrections; corrections.jsonl in the run folder when None, and then the run's report shows them.
        concurrency, force, progress: as of `evaluate`.

    Raises:
        MissingError: there is no such run. InputError: it cannot be judged again with these options.
    """
    require_progress(progress)
    path = Path(run)
    record = read_run(path)
    chosen = plan_correcting_run(record, read_options(options))
    file = Path(out) if out is not None else path / CORRECTIONS_FILE
    summary = complete(correct_run_async(path, chosen, file, concurrency, force, progress))
    if out is None:
        write_report(path)
    return summary


def plan_correcting_run(record: RunRecord, options: Options) -> Correcting:
    """Who judges and who writes.

    Raises:
        InputError: they would judge otherwise than the run did, or an option is about claims or evidence.
    """
    options = leave_out(options, NOT_OF_A_RUN, "correcting a run: its verdicts' own claims and passages are read")
    chosen = plan_correcting(record.settings.method, options_of_run(record, options))
    chosen = replace(chosen, judge=replace(chosen.judge, settings=with_thresholds_of(record, chosen.judge.settings)))
    fields = type(chosen.judge.settings.assessment).model_fields
    unwritten = {name: field.default for name, field in fields.items() if not field.is_required()}
    before, now = ({**unwritten, **plain["assessment"]} for plain in (record.plain_settings, chosen.judge.settings.plain()))
    differing = [name for name in now if name != "relation_map" and before.get(name, now[name]) != now[name]]
    if differing:
        raise InputError(
            f"The run was judged otherwise than it would be judged again now: {', '.join(differing)} in its run.yaml. "
            "Give the options with which it was made."
        )
    return chosen


def options_of_run(record: RunRecord, options: Options) -> Options:
    """The options with those of the run, as far as its folder says, where the user gave none: its claims are judged alike.

    Claims and evidence are given: no corpus is searched.
    """
    plain = record.plain_settings
    assessment, model = dict(plain.get("assessment") or {}), plain.get("model")
    found: dict[str, Any] = {name: assessment[name] for name in _SAME if assessment.get(name) is not None}
    for name in ("relations", "second_opinion"):
        if isinstance(said := assessment.get(name), str) and said:
            found[name] = re.split(r"[@+(]", said)[0]
    if found.get("relations", "").startswith("lexical"):
        found["relations"] = "lexical"
    embedder = dict(plain.get("evidence") or {}).get("embedder")
    found["embedder"] = NO_EMBEDDER if embedder is None else str(embedder).partition("@")[0]
    found["seed"] = plain.get("seed", 0)
    if model is not None and not options.names_model:
        found["model"] = dict(record.content.get("sources") or {}).get("model") or dict(model).get("model")
    given = {name: getattr(options, name) for name in given_options(options)}
    return Options(**{**found, **given, "claims": "given", "corpus": None})


def with_thresholds_of(record: RunRecord, settings: Settings) -> Settings:
    """The settings with the thresholds of verdicts that a run has, so that its claims are called by them before and after."""
    thresholds = (record.plain_settings.get("assessment") or {}).get("thresholds")
    if thresholds is None or not isinstance(settings.assessment, FactReasonerSettings):
        return settings
    update = {"thresholds": VerdictThresholds.model_validate(thresholds)}
    return settings.model_copy(update={"assessment": settings.assessment.model_copy(update=update)})


async def correct_run_async(
    path: Path, chosen: Correcting, out: Path, concurrency: int | None, force: bool, progress: Progress
) -> CorrectionsSummary:
    """The coroutine behind `correct_run`."""
    settings = {
        "pass": "correct",
        "version": CORRECTING_VERSION,
        "run": file_digest(path / ASSESSMENTS_FILE),
        "judge": windowless(chosen.judge.settings.plain())["assessment"],
        "writer": None if chosen.facts is None else identity_fields(chosen.facts.identity),
    }
    assessments = list(assessments_in_order(path))
    with RowFile(out, settings, versions=versions(), notes={"sources": {"run": str(path)}}, force=force) as file:
        left = [one for one in assessments if one.response_id not in file.done]
        progress.begin(len(assessments), len(assessments) - len(left))
        async with AsyncExitStack() as opened:
            if left:
                pipeline, corrector = open_corrector(chosen, opened, progress)
                cached = with_cache(pipeline, chosen.judge, path / RELATIONS_FILE, opened)
                corrector = Corrector(cached, corrector.writer)

                async def one(assessed: Assessment) -> None:
                    file.append(await make_row(assessed, corrector, progress))
                    progress.row_done()

                await for_each(left, one, concurrency or CONCURRENCY)
        rows = file.complete([one.response_id for one in assessments])
        return summarise_corrections(out, rows, tuple(file.warnings))


async def make_row(assessed: Assessment, corrector: Corrector, progress: Progress) -> Row:
    """The row of a response; of one that failed in the run, or that cannot be corrected, with the reason."""
    bare = {"id": assessed.response_id, "response": assessed.text}
    if assessed.error is not None:
        return {**bare, ERROR: assessed.error}
    done = await or_failure(corrector.correct(assessed, Costs(), progress.count))
    return {**bare, ERROR: done.reason} if isinstance(done, Failure) else dict(correction_row(done))


def summarise_corrections(out: Path, rows: list[Row], warnings: tuple[str, ...] = ()) -> CorrectionsSummary:
    """The sums of a file of corrections."""
    made = [row for row in rows if ERROR not in row]
    both = [(one["before"], one["after"]) for row in made if None not in (one := row["precision"]).values()]
    reasons = [one["reason"] for row in made for one in row["left"]]
    left = Counter(UNLIKELY_SHORT if reason.startswith(_UNLIKELY) else reason for reason in reasons)
    edits = sum(len(edit["claims"]) for row in made for edit in row["edits"])
    return CorrectionsSummary(
        out=out,
        responses=len(rows),
        failed=len(rows) - len(made),
        contradicted=edits + sum(left.values()),
        edits=sum(len(row["edits"]) for row in made),
        left=dict(left.most_common()),
        precision_before=sum(one for one, _ in both) / len(both) if both else None,
        precision_after=sum(one for _, one in both) / len(both) if both else None,
        calls=sum(int(figures.get("calls", 0)) for row in made for figures in row["usage"].values()),
        warnings=warnings,
    )


def plan_corrections(run: str | Path, options: Options | None = None) -> dict[str, Any]:
    """What correcting a run would do, and cost; nothing is loaded or written."""
    record = read_run(Path(run))
    chosen = plan_correcting_run(record, read_options(options))
    responses = contradicted = proposed = pairs = 0
    for assessed in assessments_in_order(Path(run)):
        responses += 1
        passages = {passage.id: passage for passage in assessed.passages}
        for claim, verdict in zip(assessed.claims, assessed.verdicts, strict=True):
            if verdict.label is not VerdictLabel.CONTRADICTED:
                continue
            contradicted += 1
            against = [one for one in verdict.passages if one.relation in (None, RelationLabel.CONTRADICTION)]
            found = [
                proposal
                for one in against[:2]
                if one.passage_id in passages
                for proposal in propose(claim, one, passages[one.passage_id], assessed.topic)
            ]
            proposed += bool(found)
            pairs += len(found) * len(verdict.passages)
    return {
        "responses": responses,
        "contradicted": contradicted,
        "with_a_proposal_by_rule": proposed,
        "pairs_to_relate": f"at most {pairs} for these proposals, and those of edited claims once more",
        "language_model_calls": (
            f"at most {contradicted} to propose edits: one for each claim that no rule mends, and one a pair where it judges"
            if chosen.writer is not None
            else 0
        ),
        "out": str(Path(run) / CORRECTIONS_FILE),
    }
