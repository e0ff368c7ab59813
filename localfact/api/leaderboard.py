"""A leaderboard: the models that wrote the responses of runs, ranked (FastFact, section 7.3)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from localfact.api.plot import names_of
from localfact.errors import InputError
from localfact.records import Assessment, Record
from localfact.report.page.plain_settings import find_differing
from localfact.report.table_data import tell_apart
from localfact.runs.record import read_whole_run
from localfact.scoring.leaderboard import PromptCounts, Standing, count_prompts, leaderboard
from localfact.scoring.recall import GAMMA, KPrime
from localfact.text import sentences, word_count


class Board(Record):
    """What `rank` found.

    Attributes:
        standings: the models, best first.
        by_source: the same, each once a source that it has responses in, best source first (FastFact, Table 8).
        sources: of prompts, in their order.
        k_prime: where K' comes from.
        differs: settings in which the runs differ besides their data: such models were not judged alike.
        prompts: how many of them all models answered.
    """

    standings: tuple[Standing, ...]
    by_source: tuple[Standing, ...]
    sources: tuple[str, ...]
    k_prime: str
    differs: tuple[str, ...] = ()
    prompts: PromptCounts = PromptCounts()


def rank(runs: Sequence[str | Path], *, gamma: float = GAMMA, prices: tuple[float, float] | None = None) -> Board:
    """Ranks the models that wrote the responses of runs; a run that names no model is ranked under its own name.

    Args:
        runs: run folders.
        gamma: of F1@K'.
        prices: of a million tokens read, and of a million written, in any currency; None leaves costs out.

    Raises:
        MissingError: there is no such run. InputError: none is named, or a file of one is damaged.
    """
    paths = list({Path(run).resolve(): Path(run) for run in runs}.values())
    if not paths:
        raise InputError("A leaderboard needs a run: localfact leaderboard RUN RUN. `localfact runs` lists them.")
    records = [read_whole_run(path) for path in paths]
    everything = [one for record in records for one in record.assessments]
    # Data may differ between the runs of a leaderboard; other settings say how responses were judged, and are told.
    settings = {str(record.path): record.plain_settings | {"data": None} for record in records}
    written = by_model({record.path: record.assessments for record in records})
    fitted = KPrime.fit(everything)
    standings = tuple(measure(one, written[one.model], prices) for one in leaderboard(written, gamma))
    sources = tuple(dict.fromkeys(one.source or "" for one in everything))
    apart = [one for source in sources for one in of_source(source, written, gamma, prices)]
    apart.sort(key=lambda one: -(one.average or 0))
    return Board(
        standings=standings,
        by_source=tuple(one for each in standings for one in apart if one.model == each.model),
        sources=sources,
        k_prime=str(fitted) if fitted is not None else "",
        differs=tuple(name for name, _ in find_differing(settings)),
        prompts=count_prompts(written),
    )


def of_source(
    source: str, written: Mapping[str, Sequence[Assessment]], gamma: float, prices: tuple[float, float] | None
) -> list[Standing]:
    """The models that answered prompts of a source, by their responses to these; K' of a source is that of all models."""
    read = {model: [one for one in each if (one.source or "") == source] for model, each in written.items()}
    read = {model: each for model, each in read.items() if each}
    return [measure(one, read[one.model], prices).model_copy(update={"source": source}) for one in leaderboard(read, gamma)]


def measure(standing: Standing, assessments: Sequence[Assessment], prices: tuple[float, float] | None) -> Standing:
    """A standing with the lengths of the model's responses, and what judging one cost (FastFact, Table 8)."""
    known: dict[str, float] = {
        "words": fmean(word_count(one.text) for one in assessments),
        "sentences": fmean(len(sentences(one.text)) for one in assessments),
    }
    if prices is not None:
        known["cost"] = (standing.prompt_tokens * prices[0] + standing.output_tokens * prices[1]) / 1e6
    return standing.model_copy(update=known)


def by_model(read: Mapping[Path, Sequence[Assessment]]) -> dict[str, list[Assessment]]:
    """Model -> its responses; where several runs judged the same response, each run of that model is an entry of its own."""
    called = dict(zip(read, names_of(list(read)), strict=True))
    found: dict[tuple[str, bool], dict[Path, list[Assessment]]] = {}  # a name, and whether the responses give it
    for path, assessments in read.items():
        for one in assessments:
            found.setdefault((one.model or called[path], bool(one.model)), {}).setdefault(path, []).append(one)
    named: list[tuple[str, list[Assessment]]] = []
    for (model, _), runs in found.items():
        answers = [(one.source, one.prompt, one.text) for each in runs.values() for one in each]
        if len(set(answers)) == len(answers):
            named.append((model, [one for each in runs.values() for one in each]))
        else:
            named += [(f"{model} ({called[path]})", each) for path, each in runs.items()]
    names = tell_apart((name for name, _ in named), "model")
    return dict(zip(names, (each for _, each in named), strict=True))
