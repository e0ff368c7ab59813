"""The options that a run was made with, as far as its folder says: so that its claims can be judged again alike."""

import re
from typing import Any

from localfact.methods.options import GraphOptions, Options
from localfact.methods.uses import given_options
from localfact.models.embedder import NO_EMBEDDER
from localfact.runs.record import RunRecord

#: Options whose names are those of the settings that they decide.
_SAME = (*GraphOptions.model_fields, "theta")


def options_of_run(record: RunRecord, options: Options) -> Options:
    """The options with those of the run where the user gave none. Claims and evidence are given: no corpus is searched."""
    plain = record.plain_settings
    assessment, model = dict(plain.get("assessment") or {}), plain.get("model")
    found: dict[str, Any] = {name: assessment[name] for name in _SAME if assessment.get(name) is not None}
    for option, setting in (("relations", "relations"), ("second_opinion", "second_opinion")):
        if isinstance(said := assessment.get(setting), str) and said:
            found[option] = re.split(r"[@+(]", said)[0]
    if found.get("relations", "").startswith("lexical"):
        found["relations"] = "lexical"
    embedder = dict(plain.get("evidence") or {}).get("embedder")
    found["embedder"] = NO_EMBEDDER if embedder is None else str(embedder).partition("@")[0]
    found["seed"] = plain.get("seed", 0)
    if model is not None and not options.names_model:
        found["model"] = dict(record.content.get("sources") or {}).get("model") or dict(model).get("model")
    given = {name: getattr(options, name) for name in given_options(options)}
    return Options(**{**found, **given, "claims": "given", "corpus": None})
