"""What the doctor's findings come to, in sentences: what is ready, what this machine could run, what is missing for that."""

from collections.abc import Sequence

from localfact.api.doctor import Finding
from localfact.api.list_models import ListedModel

#: The most models that are named.
NAMED = 6


def tell_readiness(findings: Sequence[Finding], models: Sequence[ListedModel]) -> list[str]:
    """The sentences, each a line.

    Args:
        findings: of `doctor.examine`.
        models: of `list_models`.
    """
    found = {finding.name: finding for finding in findings}
    lacking = [finding for finding in findings if finding.needed and not finding.found]
    engine = found["vLLM"]
    large = [model for model in models if "llm" in model.roles]
    here = [model.name for model in large if model.weights is not None and model.fits is not False]
    ready = ["the built-in methods"] if not lacking else []
    ready += [f"methods with a language model, by {', '.join(here)}"] if here and engine.found and not lacking else []
    could = sorted((one for one in large if one.fits and one.name not in here), key=lambda one: -(one.weights_gib or 0))
    more = f" and {len(could) - NAMED} smaller ones" if len(could) > NAMED else ""
    slowly = "" if found["GPU"].found else ", slowly, as it has no GPU"
    missing = [*lacking, *([] if engine.found else [engine])]
    told = [f"{one.name} ({one.cure})" for one in missing]
    told += ["weights (localfact models pull NAME)"] if could else []
    return [
        f"Ready: {' and '.join(ready) or 'nothing yet'}.",
        *([f"This machine could run: {', '.join(one.name for one in could[:NAMED])}{more}{slowly}."] if could else []),
        f"Missing for {'the rest' if ready else 'that'}: {', '.join(told)}." if told else "Nothing is missing.",
    ]
