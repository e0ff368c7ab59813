"""What an evaluation would do, before anything is run: `localfact eval --plan`."""

from typing import Any

from localfact.api.evaluate import Job
from localfact.methods.wiring import plan_of
from localfact.text import word_count


def plan(job: Job) -> dict[str, Any]:
    """What a job would do, as plain values; nothing is run and no model is loaded.

    `pairs_given` counts the relations of the responses that bring both claims and passages; those of the others follow
    from what will be extracted and retrieved (at most kn, nm and nm + m^2 for FR1, FR2 and FR3).
    `language_model_calls` has what is known before any answer: FastFact's N/w extractions, and one call a claim at most.
    """
    usable = [response for response in job.responses if response.problem is None]
    given = [response for response in usable if response.claims is not None and job.settings["claims"] == "given"]
    return {
        "method": job.method.name,
        "responses": len(job.responses),
        "responses_unusable": len(job.responses) - len(usable),
        "words": sum(word_count(response.text) for response in usable),
        "claims_given": sum(len(response.claims or ()) for response in given),
        "responses_to_extract": len(usable) - len(given),
        "passages_given": sum(len(response.evidence.passages) for response in usable if response.evidence),
        **plan_of(job.method, job.settings, usable),
        "machine": dict(job.machine),
        "run": str(job.out),
        "settings": dict(job.settings),
    }
