"""How well posteriors are calibrated, as a table: a row for each run and source."""

from collections.abc import Mapping, Sequence

import numpy as np

from localfact.records import Assessment
from localfact.report.plot_data import claims_with_labels, risk_coverage
from localfact.report.table_data import Cell, Column, Group, Table, name_sources, number
from localfact.scoring.decomposition import reliability
from localfact.scoring.tally import Unscored

ALL = "all"
COLUMNS = (
    *("claims", "ECE", "RMS, debiased", "Brier"),
    *("reliability", "resolution", "uncertainty", "within bins", "area, risk-coverage"),
)
NOTE = (
    "ECE: expected calibration error, ten bins of equal count; RMS: its root mean square without the bias of finite bins "
    "(Kumar and others, 2019). Brier = reliability - resolution + uncertainty + within bins (Murphy, 1973). The area is of the "
    "error rate among the claims that are kept when the least sure are left out; less is better."
)


def reliability_table(runs: Mapping[str, Sequence[Assessment]]) -> Table:
    """The table.

    Args:
        runs: name -> its assessments; those of several sources have a row for all and one for each.
    """
    groups, notes = [], [NOTE]
    for name, assessments in runs.items():
        sources = dict.fromkeys(one.source or "" for one in assessments)
        parts = {ALL: list(assessments)}
        if len(sources) > 1:
            names = name_sources(sources, taken={ALL})
            parts |= {
                name: [one for one in assessments if (one.source or "") == source]
                for name, source in zip(names, sources, strict=True)
            }
        rows = []
        for part, chosen in parts.items():
            row = _row(part, chosen)
            if isinstance(row, Unscored):
                notes.append(f"{name}, {part}: {row.reason}.")
            else:
                rows.append(row)
        if rows:
            groups.append(Group(name, tuple(rows)))
    heads = (Column("source", "left"), *map(Column, COLUMNS))
    return Table(
        "How far posteriors of annotated claims can be trusted", heads, tuple(groups), {}, tuple(notes), grouped_by="run"
    )


def _row(part: str, assessments: Sequence[Assessment]) -> tuple[Cell, ...] | Unscored:
    claims, curve = claims_with_labels(assessments), risk_coverage(assessments)
    if isinstance(claims, Unscored) or isinstance(curve, Unscored):
        return claims if isinstance(claims, Unscored) else Unscored("no annotated claims")
    found = reliability(claims.posteriors, claims.supported.astype(np.float64))
    parts_of_brier = (found.reliability, found.resolution, found.uncertainty, found.within)
    values = (found.ece, found.rms, found.brier, *parts_of_brier, curve.area)
    return (part, number(found.claims, 0), *(number(value, 3) for value in values))
