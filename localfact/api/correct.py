"""Corrects one text: its contradicted claims, by what contradicts them."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace

from localfact.api.check import read_check
from localfact.api.correcting_parts import Correcting, open_corrector, plan_correcting
from localfact.correcting.reassessing import passages_by_claim
from localfact.correcting.records import Correction
from localfact.errors import InputError
from localfact.inputs.claims import claim_row
from localfact.inputs.json_rows import Row
from localfact.inputs.responses import MAX_WORDS
from localfact.methods.options import Options
from localfact.methods.wiring import explaining_what_is_shown, with_cache
from localfact.pipeline import Costs
from localfact.records import Response
from localfact.runs.progress import SILENT, Progress
from localfact.runtime.tasks import complete


def correct(
    text: str | Row,
    *,
    topic: str | None = None,
    prompt: str | None = None,
    method: str | None = None,
    options: Options | None = None,
    max_words: int = MAX_WORDS,
    progress: Progress = SILENT,
) -> Correction:
    """Corrects the contradicted claims of one text, and assesses it again; writes nothing.

    Args:
        text, topic, prompt, method, options, max_words, progress: as of `check`. A model in the options also proposes edits
            where no value, name or role of the source stands in the place of the claim's.

    Raises:
        InputError: there is no text, it is longer than `max_words`, or an option cannot be used.
    """
    response, options = read_check(text, topic, prompt, options, max_words, progress)
    return complete(correct_async(response, plan_correcting(method, options), progress))


async def correct_async(response: Response, chosen: Correcting, progress: Progress) -> Correction:
    """The coroutine behind `correct`."""
    async with AsyncExitStack() as opened:
        pipeline, corrector = open_corrector(chosen, opened, progress)
        progress.begin(1, 0)
        if chosen.judge.options.relations_cache is not None:
            pipeline = with_cache(pipeline, chosen.judge, chosen.judge.options.relations_cache, opened)
            corrector = replace(corrector, pipeline=pipeline)
        assessed = await explaining_what_is_shown(pipeline).assess(0, response, Costs(), progress.count)
        if assessed.error is not None:
            raise InputError(f"The text could not be assessed, so nothing of it was corrected: {assessed.error}")
        return await corrector.correct(assessed, Costs(), progress.count)


def correction_row(done: Correction) -> Row:
    """A correction as plain values: a row that `localfact eval --data` reads, the corrected text being its response.

    The claims are those of the text as it is now, each with the passages that spoke to it.
    """
    assessed, after = done.assessed, done.reassessed
    passages = [{"id": one.id, "title": one.title, "links": list(one.links), "text": one.text} for one in assessed.passages]
    named = {"prompt": assessed.prompt, "topic": assessed.topic, "model": assessed.model, "source": assessed.source}
    before, now = done.precision
    spoke: Mapping[str, list[str]] = passages_by_claim(assessed)
    return {
        "id": assessed.response_id,
        **{name: value for name, value in named.items() if value is not None},
        "response": done.text,
        "original": done.original,
        "edits": [edit.model_dump(mode="json") for edit in done.edits],
        "left": [one.model_dump(mode="json") for one in done.left],
        "precision": {"before": before, "after": now},
        "usage": {stage: dict(figures) for stage, figures in done.usage.items()},
        "claims": [{**claim_row(claim), "passages": spoke[claim.id]} for claim in after.claims],
        "passages": passages,
    }
