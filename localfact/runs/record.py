"""A run as its folder has it: typed settings and assessments, read in one pass, for sums, reports and comparisons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from localfact.errors import InputError
from localfact.records import Assessment, Probability
from localfact.runs.assessments import assessments_in_order
from localfact.runs.outlines import AssessmentsRead, read_outlines_and_shown
from localfact.runs.run_folder import RUN_FILE, read_run_file


class _Read(BaseModel):
    """What readers need of a part of run.yaml; its other fields are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class DataRead(_Read):
    """The settings of the data that are read again. shard: which share of the responses was run, "3/8"; None for all."""

    shard: str | None = None


class ExtractionRead(_Read):
    """The settings of extraction that are read again. stride: in sentences, or "max"; None for a method without chunks.

    confidence: how labels are read, "token" or "distribution", or "none"; None for a method without labels.
    """

    stride: int | Literal["max"] | None = None
    confidence: str | None = None


class EvidenceRead(_Read):
    """The settings of evidence that are read again. corpus: its identity. k: passages a claim. steps: most searches in turn."""

    corpus: str | None = None
    k: int = 0
    queries_per_claim: int = 1
    steps: int = 1


class AssessmentRead(_Read):
    """The settings of assessment that are read again.

    Attributes:
        version: of FactReasoner.
        rules: what makes a verdict of a posterior.
        tables, solver: of the factor graph; no tables for a method without one.
        relations: the relation model's identity; "" for none.
        factors: "hard" or "soft" relations. undecided_within: of one half; None for what the rules
            have. theta: of the gate, where there is one. prior_map, thresholds: of claims' priors and of verdicts, as written.
    """

    version: int | None = None
    rules: Literal["published", "own"] = "published"
    tables: str | None = None
    solver: str = "auto"
    relations: str = ""
    factors: Literal["hard", "soft"] = "hard"
    theta: float | None = None
    undecided_within: float | None = None
    prior_map: Mapping[str, Any] | None = None
    thresholds: Mapping[str, Any] | None = None


class ModelRead(_Read):
    """The language model's identity as it is read again. model: its name. window: in tokens; None where it is not known."""

    model: str = ""
    window: int | None = None


class AskingRead(_Read):
    """The settings of the language model's prompts that are read again; None if the run uses no language model."""

    guided: bool | None = None
    warn_mass: Probability | None = None


class RunSettings(_Read):
    """What sums, reports and comparisons need of the settings of a run. model: None for a run without a language model."""

    method: str
    seed: int = 0
    extraction: ExtractionRead
    evidence: EvidenceRead
    assessment: AssessmentRead
    data: DataRead | None = None
    model: ModelRead | None = None
    asking: AskingRead = AskingRead()

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> "RunSettings":
        """Reads the settings in a run.yaml.

        Raises:
            InputError: they are not those of a run.
        """
        try:
            return cls.model_validate(plain)
        except ValidationError:
            raise InputError(
                f"The settings in {RUN_FILE} are damaged: begin again with --force, or name another with --out."
            ) from None


@dataclass(frozen=True)
class RunRecord:
    """A run that was read.

    Attributes:
        path: the run folder.
        content: run.yaml, as plain values, for pages and for messages that show all of it.
        settings: those in it, as far as readers need them.
        outlines: all assessments in the order of the input, without passages and texts (see outlines.py).
        assessments: those that were read whole.
    """

    path: Path
    content: Mapping[str, Any]
    settings: RunSettings
    outlines: Sequence[Assessment] = ()
    assessments: Sequence[Assessment] = ()

    @property
    def plain_settings(self) -> dict[str, Any]:
        """All settings as run.yaml has them: for comparing all of two runs, and for a method that reads its own again."""
        return dict(self.content["settings"])


def read_run(path: Path) -> RunRecord:
    """Reads what a run is, its run.yaml, and none of its assessments.

    Raises:
        MissingError: there is no such run. InputError: run.yaml is damaged.
    """
    content = read_run_file(path)
    return RunRecord(path, content, RunSettings.read(content["settings"]))


def read_whole_run(path: Path) -> RunRecord:
    """Reads a run with all of its assessments, which are in memory together.

    Raises:
        MissingError: there is no such run. InputError: a file of it is damaged.
    """
    return replace(read_run(path), assessments=list(assessments_in_order(path)))


def read_record(
    path: Path, *, start: int = 1, most: int = 0, outlines: bool = True, opened: AssessmentsRead | None = None
) -> RunRecord:
    """Reads a run for its sums and for a report, each assessment once.

    Args:
        path: the run folder.
        start, most: which assessments are kept whole: from that number on, counted from 1, at most so many.
        outlines: whether those of all assessments are made; without, only what is kept whole is read.
        opened: the assessments, where they were just read; then nothing is read but run.yaml.

    Raises:
        MissingError: there is no such run. InputError: a file of it is damaged.
    """
    if opened is None and outlines:
        opened = read_outlines_and_shown(assessments_in_order(path), start, most)
    elif opened is None:
        opened = AssessmentsRead([], list(assessments_in_order(path, start - 1, most)))
    return replace(read_run(path), outlines=opened.outlines, assessments=opened.shown)
