"""A leaderboard as a table: a row for each model, a column for each source, their average, and what judging cost."""

from collections.abc import Sequence

from localfact.report.table_data import Cell, Column, Group, Table, name_sources, number
from localfact.scoring.leaderboard import PromptCounts, Standing
from localfact.text import collapse

#: Columns before and after those of the sources.
BEFORE, AFTER = (
    ("", "model"),
    ("F1@K'", "with 0", "Pr", "words", "sentences", "claims", "supported", "sure", "tokens", "cost", "n", "scored"),
)


def leaderboard_table(
    standings: Sequence[Standing], sources: Sequence[str], k_prime: str, differs: Sequence[str], prompts: PromptCounts
) -> Table:
    """The table.

    Args:
        standings: best first.
        sources: in the order of their columns.
        k_prime: where K' comes from.
        differs: settings in which the runs differ besides their data.
        prompts: how many of them all models answered.
    """
    names = name_sources(sources, taken={*BEFORE, *AFTER})
    # With one source the average is that source's mean.
    shown = [] if len(sources) == 1 else list(zip(sources, names, strict=True))
    heads = (
        *(Column(name, "left" if name else "right") for name in BEFORE),
        *(Column(name) for _, name in shown),
        *map(Column, AFTER),
    )
    rows = tuple(_row(place, one, [source for source, _ in shown]) for place, one in enumerate(standings, start=1))
    facts = {
        "F1@K'": "the mean over sources, each counting once" if shown else "the mean over responses",
        "K'": k_prime.removeprefix("K'=") or "none",
        "with 0": "the same, with each response that abstained or was not scored as 0",
        "words to tokens": "a response, on average",
        "cost": "of judging a response, by --prices" if any(one.cost is not None for one in standings) else "needs --prices",
        "sure": "share of the claims that were settled before any evidence",
        "n": "responses",
    }
    notes = [*_unlike(differs)]
    if any(one.average is None for one in standings):
        notes.append("A model without responses in every source has no average: it would be a mean over other prompts.")
    if prompts.not_by_all:
        notes.append(f"{prompts.not_by_all:,} of {prompts.prompts:,} prompts were not answered by all models.")
    if prompts.without:
        notes.append(f"{prompts.without:,} responses have no prompt: whether all models answered theirs is not known.")
    return Table(
        "Models by the factuality of what they wrote (FastFact, Figure 3)", heads, (Group("", rows),), facts, tuple(notes)
    )


def benchmark_table(standings: Sequence[Standing], k_prime: str, differs: Sequence[str]) -> Table:
    """A table like FastFact's Table 8: a row for each model and source, with the columns of that table in its order."""
    heads = ("words", "tokens", "cost", "sentences", "claims", "supported", "sure", "Pr", "F1@K'", "n", "scored")
    rows = tuple((one.model, collapse(one.source or "") or "no source", *_measured_cells(one)) for one in standings)
    facts = {"K'": k_prime.removeprefix("K'=") or "none", "words to supported": "a response, on average; cost by --prices"}
    return Table(
        "Models by the factuality of what they wrote, by source (FastFact, Table 8)",
        (Column("model", "left"), Column("source", "left"), *map(Column, heads)),
        (Group("", rows),),
        facts,
        _unlike(differs),
    )


def _unlike(differs: Sequence[str]) -> tuple[str, ...]:
    return (f"The runs were not made alike: they differ in {', '.join(differs)}.",) if differs else ()


def _measured_cells(one: Standing) -> tuple[Cell, ...]:
    return (
        number(one.words, 1),
        number(one.tokens, 0),
        number(one.cost, 4),
        *(number(count, 1) for count in (one.sentences, one.claims, one.supported)),
        number(one.preverified, 2),
        *(number(value, 3) for value in (one.precision, one.average)),
        *(number(count, 0) for count in (one.responses, one.scored)),
    )


def _row(place: int, one: Standing, sources: Sequence[str]) -> tuple[Cell, ...]:
    return (
        number(place, 0),
        one.model,
        *(number(one.by_source.get(source), 3) for source in sources),
        *(number(value, 3) for value in (one.average, one.with_zeros, one.precision)),
        *(number(count, 1) for count in (one.words, one.sentences, one.claims, one.supported)),
        number(one.preverified, 2),
        number(one.tokens, 0),
        number(one.cost, 4),
        *(number(count, 0) for count in (one.responses, one.scored)),
    )
