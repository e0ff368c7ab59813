"""localfact measures how factual long LLM text is, on your own machines.

    import localfact

    summary = localfact.evaluate("answers.jsonl", options=localfact.Options(corpus="index/mine"))
    assessment = localfact.check("Marie Curie was born in Paris.")
    for claim in assessment.contradicted:
        print(claim.text, claim.probability, claim.sentence, claim.source)
    rows = localfact.claim_rows(summary.run)  # a dictionary a claim, for pandas.DataFrame(rows)

Names are loaded when they are first used, so that `import localfact` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localfact.api.check import check
    from localfact.api.correct import correct
    from localfact.api.correct_run import correct_run
    from localfact.api.evaluate import evaluate
    from localfact.api.infer import infer
    from localfact.api.relate import relate
    from localfact.api.runs import citation_rows, claim_rows
    from localfact.correcting.records import Correction
    from localfact.errors import LocalFactError
    from localfact.methods.options import Options
    from localfact.records import Assessment, JudgedClaim
    from localfact.report.summary import Summary

__all__ = [
    "Assessment",
    "Correction",
    "JudgedClaim",
    "LocalFactError",
    "Options",
    "Summary",
    "check",
    "citation_rows",
    "claim_rows",
    "correct",
    "correct_run",
    "evaluate",
    "infer",
    "relate",
]

_HOMES = {
    "Assessment": "localfact.records",
    "Correction": "localfact.correcting.records",
    "JudgedClaim": "localfact.records",
    "LocalFactError": "localfact.errors",
    "Options": "localfact.methods.options",
    "Summary": "localfact.report.summary",
    "check": "localfact.api.check",
    "citation_rows": "localfact.api.runs",
    "claim_rows": "localfact.api.runs",
    "correct": "localfact.api.correct",
    "correct_run": "localfact.api.correct_run",
    "evaluate": "localfact.api.evaluate",
    "infer": "localfact.api.infer",
    "relate": "localfact.api.relate",
}


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("localfact")
    if name not in _HOMES:
        raise AttributeError(f"module 'localfact' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted([*__all__, "__version__"])
