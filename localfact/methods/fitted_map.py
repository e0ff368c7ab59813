"""The map that calibrates a run's language model: fitted when the run begins where none ships or is named, and kept then.

It is one of relations, or of the probability of True by which FActScore's judge decides.
"""

from collections.abc import Mapping
from typing import Any

from localfact.assess.judges.assessor import PromptedJudge
from localfact.assess.judges.calibration import TruthMap
from localfact.errors import InputError
from localfact.methods.relation_maps import MAKE
from localfact.methods.settings import JudgeSettings, Settings
from localfact.pipeline import Pipeline, ResponseAssessor
from localfact.relations.calibrated import CalibratedRelations
from localfact.relations.calibration import RelationMap


def map_to_fit(settings: Settings) -> str | None:
    """The name of the pairs that a map is to be fitted on; None where the run has its map, or needs none."""
    chosen = getattr(settings.assessment, _field(settings), None)
    return chosen if isinstance(chosen, str) else None


def _field(settings: Settings) -> str:
    """The setting that holds the map."""
    return "truth_map" if isinstance(settings.assessment, JudgeSettings) else "relation_map"


def require_map(settings: Settings, where: str) -> None:
    """Raises InputError where a map is yet to be fitted and several machines would each fit their own."""
    if map_to_fit(settings) is None:
        return
    if isinstance(settings.assessment, JudgeSettings):
        raise InputError(f"{where} would each calibrate the judge by themselves: leave --calibrated out.")
    raise InputError(
        f"{where} need one map of the model's relations for all machines: name it with --relation-map, or take "
        f"--uncalibrated. {MAKE}"
    )


def with_recorded_map(settings: Settings, recorded: Mapping[str, Any]) -> Settings:
    """The settings with the map that the run was begun with, where they would have one fitted on the same pairs."""
    fitted = dict(recorded.get("assessment") or {}).get(_field(settings))
    pairs = map_to_fit(settings)
    if pairs is None or not isinstance(fitted, Mapping) or fitted.get("pairs") != pairs:
        return settings
    kind = TruthMap if isinstance(settings.assessment, JudgeSettings) else RelationMap
    return _with_map(settings, kind.model_validate(fitted))


async def with_fitted_map(settings: Settings, assessor: ResponseAssessor | None) -> Settings:
    """The settings with the map fitted on the reference pairs for the run's language model, if one is to be fitted."""
    if map_to_fit(settings) is None or not isinstance(assessor, Pipeline):
        return settings
    if isinstance(assessor.assessor, PromptedJudge):
        judged = await assessor.assessor.fit()
        return settings if judged is None else _with_map(settings, judged)
    models = (assessor.relation_model, getattr(assessor.reviewer, "model", None))
    for model in models:
        if isinstance(model, CalibratedRelations):
            return _with_map(settings, await model.fit())
    return settings


def _with_map(settings: Settings, fitted: RelationMap | TruthMap) -> Settings:
    return settings.model_copy(update={"assessment": settings.assessment.model_copy(update={_field(settings): fitted})})
