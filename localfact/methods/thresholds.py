"""Puts thresholds of verdicts into a run's settings, where they were fitted for such a run, and around its assessor."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from localfact.assess.thresholds import Guaranteeing, read_verdict_thresholds, settings_behind
from localfact.errors import InputError
from localfact.methods.settings import FactReasonerSettings, Settings
from localfact.stages import Assessor


def apply_thresholds(assessor: Assessor, settings: Settings) -> Assessor:
    """The assessor, with the thresholds of verdicts that the settings have."""
    thresholds = settings.assessment.thresholds if isinstance(settings.assessment, FactReasonerSettings) else None
    return assessor if thresholds is None else Guaranteeing(assessor, thresholds)


def with_thresholds(settings: Settings, file: Path) -> Settings:
    """The settings with the thresholds of verdicts of a file.

    Raises:
        InputError: they were fitted for another method, or for other settings of it.
    """
    thresholds, mine = read_verdict_thresholds(file), settings_behind(settings.plain())
    if (theirs := thresholds.settings) != mine:
        differing = differing_settings(theirs, mine)
        raise InputError(
            f"The thresholds in {file} are of {theirs.get('method')} with other settings ({differing}): they promise nothing "
            "here. `localfact calibrate --verdicts RUN` makes some for these."
        )
    assessment = settings.assessment.model_copy(update={"thresholds": thresholds})
    return settings.model_copy(update={"assessment": assessment})


def differing_settings(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> str:
    """What differs, each with both values, for messages."""
    if theirs.get("method") != mine["method"]:
        return f"the method is {mine['method']}"
    parts = [[one.get(part) or {} for part in ("assessment", "evidence", "model")] for one in (theirs, mine)]
    flat = [{**assessment, **evidence, "model": model.get("model")} for assessment, evidence, model in parts]
    names = [name for name in {**flat[0], **flat[1]} if flat[0].get(name) != flat[1].get(name)]
    return ", ".join(f"{name} {flat[0].get(name)!s:.60} there, {flat[1].get(name)!s:.60} here" for name in names) or "the model"
