"""Checks one text: a verdict for each of its claims, and no run folder."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from localfact.api.arguments import is_there, kind_of, read_options, require_count, require_progress, require_text
from localfact.api.sample import sample_corpus
from localfact.errors import InputError
from localfact.inputs.json_rows import Row
from localfact.inputs.responses import MAX_WORDS, response_of
from localfact.methods.options import Options
from localfact.methods.relations import LEXICAL
from localfact.methods.web import with_corpus
from localfact.methods.wiring import Configuration, configure, explaining_what_is_shown, wire, with_cache
from localfact.models.embedder import NO_EMBEDDER
from localfact.pipeline import Costs
from localfact.records import Assessment, Response
from localfact.runs.progress import SILENT, Progress
from localfact.runtime.interrupts import interruptible
from localfact.runtime.tasks import complete

NO_TEXT = "There is no text to judge: it is empty."


def check(
    text: str | Row,
    *,
    topic: str | None = None,
    prompt: str | None = None,
    sources: object = None,
    method: str | None = None,
    options: Options | None = None,
    max_words: int = MAX_WORDS,
    progress: Progress = SILENT,
) -> Assessment:
    """Assesses one text and returns a verdict for each of its claims; writes nothing but what the options name.

    Args:
        text: any text; or a mapping as in a file of responses, which may bring claims and passages.
        topic: what it is about, to resolve a leading "she" or "it".
        prompt: what it answers.
        sources: what it cites: a list of texts or of {"title", "url", "text"}, or a mapping from its marks to such; then
            citations are checked, as with Options(citations=True).
        method, options, max_words: as of `evaluate`; without a corpus, the sample's is searched, but for options with
            `coherence`: then a text that brings no passages is compared with itself alone, and its claims are unverifiable.
        progress: gets what is counted on the way.

    Raises:
        InputError: there is no text, it is longer than `max_words`, or an option cannot be used.
    """
    response, options = read_check(text, topic, prompt, options, max_words, progress, sources)
    return complete(check_async(response, configure(method, options), progress))


def read_check(
    text: str | Row,
    topic: str | None,
    prompt: str | None,
    options: Options | None,
    max_words: int,
    progress: Progress,
    sources: object = None,
) -> tuple[Response, Options]:
    """The response that the arguments of `check` are of, and the options with their corpus.

    Raises:
        InputError: as `check`.
    """
    row, chosen = row_of(text), read_options(options)
    require_count("max_words", max_words)
    require_progress(progress)
    require_text("topic", topic)
    require_text("prompt", prompt)
    given = (("topic", topic), ("prompt", prompt), ("sources", sources))
    said = {name: value for name, value in given if value is not None}
    chosen = chosen if sources is None else chosen.model_copy(update={"citations": True})
    response = response_of({"id": "text", **row, **said}, 1, max_words)
    problem = response.problem or (response.sources.problem if chosen.citations and response.sources is not None else None)
    if problem is not None:
        raise InputError(problem)
    if not response.text.strip() and not response.claims:
        raise InputError(NO_TEXT)
    claims = "extract" if response.claims is None else "given"
    chosen = with_corpus(chosen.model_copy(update={"claims": claims}))
    if not chosen.coherence:
        chosen = chosen.model_copy(update={"corpus": chosen.corpus or sample_corpus()})
    elif chosen.corpus is None and response.evidence is None and chosen.relations != LEXICAL:
        chosen = chosen.model_copy(update={"embedder": NO_EMBEDDER})  # nothing is searched, and its loading takes seconds
    return response, chosen


def row_of(text: Any) -> Row:
    """The row of a text or of a mapping.

    Raises:
        InputError: it is neither; or a path, of which no text was read.
    """
    if isinstance(text, Path) or (isinstance(text, str) and len(text.split()) == 1 and is_there(text)):
        raise InputError(
            f"check takes a text, and {text} is a file: give it what stands there, Path({str(text)!r}).read_text()."
        )
    if isinstance(text, str):
        return {"response": text.removeprefix("\ufeff")}
    if not isinstance(text, Mapping):
        many = "; localfact.evaluate takes many" if isinstance(text, list | tuple) else ""
        raise InputError(f"check takes one text, or a mapping with a 'response', not {kind_of(text)}{many}.")
    return dict(text)


async def check_async(response: Response, chosen: Configuration, progress: Progress) -> Assessment:
    """The coroutine behind `check`."""
    async with AsyncExitStack() as opened:
        with interruptible():
            pipeline, _ = wire(chosen, opened, observe=progress.count)
        progress.begin(1, 0)
        if chosen.options.relations_cache is not None:
            pipeline = with_cache(pipeline, chosen, chosen.options.relations_cache, opened)
        return await explaining_what_is_shown(pipeline).assess(0, response, Costs(), progress.count)
