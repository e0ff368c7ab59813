"""The papers' figures, read from the YAML files beside this one."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import yaml
from pydantic import Field

from localfact.records import Probability, Record

FOLDER = Path(__file__).resolve().parent

Column = Literal["#S", "#C", "#U", "Pr", "F1", "F1@K", "MAE", "E", "Brier"]
#: The columns of a table of scores, in the order in which they are printed; keys of every mapping of figures.
COLUMNS: tuple[Column, ...] = get_args(Column)

Version = Literal[1, 2, 3]


class DataSetFacts(Record):
    """What a paper says about a data set, by which a file of responses can be recognised as that data set.

    Attributes:
        source: the table that says so. contexts: where its passages came from. k: passages retrieved for a claim.
        responses: number of responses. claims, supported: means per response; precision: the mean over responses.
        median_claims: the K of F1@K.
    """

    name: str
    source: str
    contexts: str
    k: int
    responses: int
    claims: float
    supported: float
    precision: Probability
    median_claims: float


class PaperSettings(Record):
    """The settings of a paper's runs, in the words of our options."""

    tables: str
    passage_prior: Probability
    solver: str
    recall_k: str


class PaperRow(Record):
    """One row of a table as printed: `card` is our card for `relation_model`, `version` FR1, FR2 or FR3."""

    relation_model: str
    card: str
    version: Version
    figures: Mapping[Column, float]


class PaperTable(Record):
    """One table of a paper."""

    number: int
    section: str
    about: str
    data_set: str
    settings: PaperSettings
    rows: tuple[PaperRow, ...]


class Addition(Record):
    """Further figures that another place of the paper gives for the run of a row."""

    source: str
    table: int
    card: str
    version: Version
    figures: Mapping[Column, float] = Field(default_factory=dict)
    deviations: Mapping[Column, float] = Field(default_factory=dict)


class Fault(Record):
    """A known error of the paper in these tables; without `card` and `version` it concerns all their rows."""

    tables: tuple[int, ...]
    says: str
    card: str | None = None
    version: Version | None = None


class PaperFigures(Record):
    """All stored figures of one paper."""

    paper: str
    citation: str
    data_sets: tuple[DataSetFacts, ...]
    tables: tuple[PaperTable, ...]
    additions: tuple[Addition, ...] = ()
    faults: tuple[Fault, ...] = ()

    def table(self, number: int) -> PaperTable:
        """The table of that number.

        Raises:
            KeyError: it is not stored.
        """
        return {table.number: table for table in self.tables}[number]

    def data_set(self, name: str) -> DataSetFacts:
        """What the paper says about a data set.

        Raises:
            KeyError: nothing is stored.
        """
        return {facts.name: facts for facts in self.data_sets}[name]

    def figures(self, number: int, row: PaperRow) -> dict[Column, tuple[float, float | None]]:
        """Column -> value and standard deviation (None where the paper gives none) of a row, additions included."""
        values, deviations = dict(row.figures), dict[Column, float]()
        for addition in self.added(number, row):
            values |= addition.figures
            deviations |= addition.deviations
        return {column: (value, deviations.get(column)) for column, value in values.items()}

    def added(self, number: int, row: PaperRow) -> Iterator[Addition]:
        """The additions to that row."""
        wanted = (number, row.card, row.version)
        return (addition for addition in self.additions if (addition.table, addition.card, addition.version) == wanted)

    def faults_of(self, number: int) -> list[Fault]:
        """The known errors in that table, those of single rows first."""
        return sorted((fault for fault in self.faults if number in fault.tables), key=lambda fault: fault.card is None)


@cache
def factreasoner_figures() -> PaperFigures:
    """The figures of the FactReasoner paper."""
    return PaperFigures.model_validate(yaml.safe_load((FOLDER / "factreasoner.yaml").read_text(encoding="utf-8")))
