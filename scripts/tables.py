"""Tables of Markdown, where they stand in a page, and figures with their intervals."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from localfact.scoring.bootstrap import Estimator, percentile_interval, resample


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown; a bar in a cell is escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def put_between(page: str, text: str, begin: str, end: str) -> str:
    """The page with the text between the two marks, instead of what stood there.

    Raises:
        ValueError: it lacks a mark, or has one twice.
    """
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page lacks {begin} or {end}, or has it twice")
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}"


def with_interval(estimator: Estimator, size: int, value: str = ".3f", end: str = ".2f", *, times: int = 1) -> str:
    """A value over `size` groups with the middle 95 % of 2,000 resamples, all multiplied, in these formats."""
    drawn = resample(estimator, size, seed=0)
    low, high = percentile_interval(drawn[np.isfinite(drawn)])
    return f"{times * estimator(np.arange(size)):{value}} [{times * low:{end}}, {times * high:{end}}]"


def mean_of(values: NDArray[np.float64]) -> Estimator:
    """Their mean over what is drawn."""
    return lambda places: float(values[places].mean())
