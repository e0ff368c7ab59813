"""A leaderboard: the models that wrote the responses of runs, ranked (FastFact, section 7.3)."""

from collections.abc import Sequence
from pathlib import Path

from localfact.api.plot import names_of
from localfact.errors import InputError
from localfact.records import Assessment, Record
from localfact.report.page.plain_settings import differing
from localfact.runs.assessments import read_assessments
from localfact.runs.run_folder import read_run_file
from localfact.scoring.leaderboard import Standing, leaderboard
from localfact.scoring.recall import GAMMA, KPrime

#: Settings in which runs of one leaderboard may differ: what was judged, not how.
OF_DATA = ("data",)


class Board(Record):
    """What `ranked` found.

    Attributes:
        standings: the models, best first. sources: of prompts, in their order. k_prime: where K' comes from.
        differs: settings in which the runs differ besides their data: such models were not judged alike.
    """

    standings: tuple[Standing, ...]
    sources: tuple[str, ...]
    k_prime: str
    differs: tuple[str, ...] = ()


def ranked(runs: Sequence[str | Path], *, gamma: float = GAMMA) -> Board:
    """Ranks the models that wrote the responses of runs; of a run that names no model, the run stands for one.

    Args:
        runs: run folders. gamma: of F1@K'.

    Raises:
        MissingError: there is no such run. InputError: none is named, or a file of one is damaged.
    """
    paths = list({Path(run).resolve(): Path(run) for run in runs}.values())
    if not paths:
        raise InputError("A leaderboard needs a run: localfact leaderboard RUN RUN. `localfact runs` lists them.")
    read = {path: read_assessments(path) for path in paths}
    everything = [one for assessments in read.values() for one in assessments]
    settings = {str(path): _apart_from_data(read_run_file(path)["settings"]) for path in paths}
    fitted = KPrime.fitted_to(everything)
    return Board(
        standings=tuple(leaderboard(by_model(read), gamma)),
        sources=tuple(dict.fromkeys(one.source or "" for one in everything)),
        k_prime=str(fitted) if fitted is not None else "",
        differs=tuple(name for name, _ in differing(settings)),
    )


def by_model(read: dict[Path, list[Assessment]]) -> dict[str, list[Assessment]]:
    """Model -> its responses; where several runs judged the same response of a model, each of them stands for itself."""
    called = dict(zip(read, names_of(list(read)), strict=True))
    found: dict[str, dict[Path, list[Assessment]]] = {}
    for path, assessments in read.items():
        for one in assessments:
            found.setdefault(one.model or called[path], {}).setdefault(path, []).append(one)
    named: dict[str, list[Assessment]] = {}
    for model, runs in found.items():
        answers = [(one.source, one.prompt, one.text) for each in runs.values() for one in each]
        if len(set(answers)) == len(answers):
            named[model] = [one for each in runs.values() for one in each]
        else:
            named |= {f"{model} ({called[path]})": each for path, each in runs.items()}
    return named


def _apart_from_data(settings: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in settings.items() if name not in OF_DATA}
