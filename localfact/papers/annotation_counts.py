"""The totals of FastFact-Bench's annotation that its authors publish (annotation_stats.json), without any single claim.

FastFact's Table 1 has means of the same edits: a total here divided by a number of responses gives them again, where it does.
What does not fit is written with the table, in printed/fastfact-01.yaml.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from localfact.errors import InputError
from localfact.inputs.annotations import Edit
from localfact.records import Record

#: The name under which the totals of all sources together are given.
OVERALL = "overall"
_Total = Annotated[int, Field(ge=0, strict=True)]


class AnnotationCounts(Record):
    """What annotators did with one source's claims.

    Attributes:
        responses: how many there are. edits: edit -> claims, every edit named (FastFact, Table 1, "Claim Extraction").
        labels: label, in the annotators' own words -> claims (FastFact, Table 7, has most of them as shares).
    """

    responses: int
    edits: Mapping[Edit, int]
    labels: Mapping[str, int]

    def edits_per_response(self, responses: int) -> dict[Edit, float]:
        """Edit -> mean over so many responses, at least one; Table 1 has fewer of some sources than there are."""
        return {edit: claims / responses for edit, claims in self.edits.items()}

    def labels_per_response(self, responses: int) -> dict[str, float]:
        """Label -> mean over so many responses, at least one."""
        return {label: claims / responses for label, claims in self.labels.items()}


class _Group(BaseModel):
    count: Annotated[int, Field(ge=1, strict=True)]
    operations: Mapping[Edit, _Total]
    annotator_labels: Mapping[str, _Total]

    def counts(self) -> AnnotationCounts:
        edits = {edit: self.operations.get(edit, 0) for edit in Edit}
        return AnnotationCounts(responses=self.count, edits=edits, labels=self.annotator_labels)


class _Groups(BaseModel):
    by_prompt_source: Mapping[str, _Group]


class _Stats(BaseModel):
    overall: _Group
    grouped: _Groups


def annotation_counts(file: Path) -> dict[str, AnnotationCounts]:
    """Source of the questions ("expertqa") -> its totals, after OVERALL's.

    Raises:
        InputError: the file cannot be read, is no such file, or its sources' edits do not add up to the overall ones.
    """
    try:
        stats = _Stats.model_validate_json(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(f"{file} is no annotation_stats.json of FastFact-Bench: {place}: {first['msg']}.") from None
    overall = stats.overall.counts()
    sources = {name: group.counts() for name, group in stats.grouped.by_prompt_source.items()}
    for edit in Edit:
        total = sum(source.edits[edit] for source in sources.values())
        if total != overall.edits[edit]:
            raise InputError(
                f"{file} is damaged: its sources have {total} claims {edit}, but overall has {overall.edits[edit]}."
            )
    return {OVERALL: overall, **sources}
