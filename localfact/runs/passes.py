"""The passes before the road: prompts into responses (`generate_file`), responses into claims (`extract_file`), file to file.

Each pass has a model of its own, so that one model may write, another extract and a third judge. Both write rows of the schema
that `inputs.py` reads, go on where they were stopped, and carry along what could not be used.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from localfact.errors import InputError, LocalFactError
from localfact.runtime.files import file_digest
from localfact.inputs.responses import MAX_WORDS, read_responses
from localfact.llm.engine import Engine, EngineIdentity
from localfact.llm.loop_thread import interruptible
from localfact.runs.row_file import ERROR, OutputFile
from localfact.runs.pass_rows import (
    GENERATE,
    GREEDY,
    GenerationOptions,
    PassSummary,
    Row,
    claims_row,
    extract_summary,
    generate_summary,
    generation_row,
    prompt_row,
    response_row,
)
from localfact.pipeline import observe_usage
from localfact.inputs.prompts import Prompt, read_prompts
from localfact.prompts.chats import generation_chat
from localfact.records import Response
from localfact.runs.run import CONCERN_ALL, CONCURRENCY
from localfact.stages import ClaimExtractor
from localfact.runtime.tasks import for_each
from localfact.runtime.usage import Ledger, kept_in

Close = Callable[[], Awaitable[None]]
Item = TypeVar("Item", Prompt, Response)
Make = Callable[[Item], Awaitable[Row]]


class PassProgress(Protocol):
    """Who is told how far a pass is."""

    def begin(self, responses: int, done: int) -> None:
        """There are so many rows, of which so many were done before."""
        ...

    def count(self, stage: str, number: int) -> None:
        """So many more of something: "claims", "prompt_tokens", "cached_tokens", "output_tokens"."""
        ...

    def row_done(self) -> None:
        """One more row is on the disk."""
        ...


class SilentPass:
    """Progress that nobody watches."""

    def begin(self, responses: int, done: int) -> None:
        """Nothing is shown."""

    def count(self, stage: str, number: int) -> None:
        """Nothing is shown."""

    def row_done(self) -> None:
        """Nothing is shown."""


SILENT_PASS = SilentPass()


@dataclass(frozen=True)
class Conduct:
    """How a pass is carried out; nothing here decides a row.

    Attributes:
        concurrency: how many rows are at work at once.
        versions, machine: of the software and the hardware, for `OUT.run.yaml`; another version only warns.
        force: forget what an earlier call made and begin again.
        progress: is told how far the pass is.
    """

    concurrency: int = CONCURRENCY
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    force: bool = False
    progress: PassProgress = SILENT_PASS


async def extract_file(
    data: Path,
    out: Path,
    open_extractor: Callable[[], tuple[ClaimExtractor, Close]],
    *,
    extractor: Mapping[str, Any],
    limit: int | None = None,
    max_words: int = MAX_WORDS,
    conduct: Conduct = Conduct(),
) -> PassSummary:
    """Takes the claims from every response of a file and writes them beside the response.

    Claims are always extracted anew: an annotator's that came with a response are kept as its `annotation`, and so are its
    passages. What an earlier, interrupted call made is not made again; rows that failed are.

    Args:
        data: responses in any schema of inputs.py. limit, max_words: as `read_responses`.
        out: the claims file, to be read by `localfact eval --data`.
        open_extractor: returns the extractor and what closes it; called only when something is left to extract.
        extractor: what decides its claims, as plain values; written into every row, and held against an earlier call's.
        conduct: concurrency, progress and the like.

    Raises:
        LocalFactError: what stops the whole pass. The rows made before are kept.
    """
    responses = read_responses(data, max_words=max_words, limit=limit)
    settings = {"pass": "extract", "data": {"sha256": file_digest(data), "limit": limit}, "extractor": extractor}

    def opened() -> tuple[Make[Response], Close]:
        strategy, close = open_extractor()
        return partial(extracted_row, extractor=strategy, settings=extractor, progress=conduct.progress), close

    rows, warnings = await make_file(data, responses, out, settings, opened, response_row, conduct)
    return extract_summary(out, rows, warnings)


async def generate_file(
    data: Path,
    out: Path,
    open_engine: Callable[[], Engine],
    *,
    identity: EngineIdentity,
    options: GenerationOptions = GREEDY,
    entities: bool = False,
    limit: int | None = None,
    conduct: Conduct = Conduct(),
) -> PassSummary:
    """Has a language model answer every prompt of a file and writes the responses, to be judged by `localfact eval --data`.

    Args:
        data: prompts in any schema of prompt_inputs.py. entities, limit: as `read_prompts`.
        out: the file of responses.
        open_engine: returns the engine; called only when something is left to answer. It is closed at the end.
        identity: of that engine, known before it is opened.
        options: temperature, length, seed and instruction.
        conduct: concurrency, progress and the like.

    Raises:
        LocalFactError: what stops the whole pass. The rows made before are kept.
    """
    prompts, repeated = read_prompts(data, entities=entities, limit=limit)
    settings = {
        "pass": "generate",
        "data": {"sha256": file_digest(data), "entities": entities, "limit": limit},
        # Not the window: it decides no answer, and the next machine may have room for another.
        "model": identity.model_dump(mode="json", exclude={"window"}),
        "message": generation_chat("{prompt}", two_paragraphs=options.instruction is not None)[0].content,
        **options.model_dump(),
    }

    def opened() -> tuple[Make[Prompt], Close]:
        engine = open_engine()
        make = partial(generated_row, engine=engine, identity=identity, options=options, progress=conduct.progress)
        return make, engine.aclose

    rows, warnings = await make_file(data, prompts, out, settings, opened, partial(prompt_row, identity=identity), conduct)
    return generate_summary(out, rows, repeated, options, warnings)


async def make_file(
    data: Path,
    items: Sequence[Item],
    out: Path,
    settings: Mapping[str, Any],
    opened: Callable[[], tuple[Make[Item], Close]],
    row_of: Callable[[Item], Row],
    conduct: Conduct,
) -> tuple[list[Row], list[str]]:
    """Makes the rows that the output has not yet, and completes it.

    Args:
        data, items: the input and what was read from it. out, settings: as `OutputFile`.
        opened: returns what makes one row, and what closes it. row_of: the row of an item that cannot be made.
        conduct: as the callers'.

    Returns:
        All rows in the order of the input, and the warnings of the output file.
    """
    refuse_own_input(data, out)
    notes = {"sources": {"data": str(data)}, "machine": conduct.machine}
    with OutputFile(out, settings, versions=conduct.versions, notes=notes, force=conduct.force) as file:
        usable = carry_unusable(file, items, row_of, conduct.progress)
        if usable:
            with interruptible():
                make, close = opened()
            try:
                await fill(file, usable, make, row_of, conduct)
            finally:
                await close()
        return file.complete([item.id for item in items]), file.warnings


def refuse_own_input(data: Path, out: Path) -> None:
    """Raises InputError when the output would take the input's place."""
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError(f"{out} is the input itself. Name another file with --out.")


def carry_unusable(
    file: OutputFile, items: Sequence[Item], row_of: Callable[[Item], Row], progress: PassProgress
) -> list[Item]:
    """Begins the pass: writes the rows of the input that cannot be used, with the reason, and returns what is left to do."""
    done = file.done
    left = [item for item in items if item.id not in done]
    progress.begin(len(items), len(items) - len(left))
    for item in left:
        if item.problem is not None:
            file.append(row_of(item) | {ERROR: item.problem})
            progress.row_done()
    return [item for item in left if item.problem is None]


async def fill(
    file: OutputFile,
    items: Iterable[Item],
    make: Make[Item],
    row_of: Callable[[Item], Row],
    conduct: Conduct,
) -> None:
    """Makes the row of every item, some at a time, and appends each as it is made.

    Raises:
        LocalFactError: what no other item would escape. Anything else fails its own row.
    """

    async def one(item: Item) -> None:
        try:
            row = await make(item)
        except CONCERN_ALL:
            raise
        except LocalFactError as error:
            row = row_of(item) | {ERROR: str(error)}
        except Exception as error:  # one bad row must never stop the rest
            row = row_of(item) | {ERROR: f"{type(error).__name__}: {error}"}
        file.append(row)
        conduct.progress.row_done()

    await for_each(items, one, conduct.concurrency)


async def extracted_row(
    response: Response, *, extractor: ClaimExtractor, settings: Mapping[str, Any], progress: PassProgress
) -> Row:
    """The response with its claims."""
    ledger = Ledger(watch=partial(observe_usage, progress.count))
    with kept_in(ledger):
        extraction = await extractor.extract(response)
    progress.count("claims", len(extraction.claims))
    return claims_row(response, extraction, settings, ledger.repeatable())


async def generated_row(
    prompt: Prompt, *, engine: Engine, identity: EngineIdentity, options: GenerationOptions, progress: PassProgress
) -> Row:
    """The prompt with the model's answer."""
    generation = await engine.generate(
        generation_chat(prompt.text, two_paragraphs=options.instruction is not None),
        max_tokens=options.max_tokens,
        temperature=options.temperature,
        seed=options.seed,
        stage=GENERATE,
    )
    observe_usage(progress.count, generation.usage)
    return generation_row(prompt, generation, identity, options)
