"""Generates responses to prompts, file to file, to be judged by `localfact eval --data`."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from localfact.api.extract import note_versions
from localfact.inputs.prompts import Prompt, read_prompts
from localfact.llm.engine import Engine, EngineIdentity
from localfact.methods.engine import engine_facts, open_engine
from localfact.methods.options import GREEDY, GenerationOptions, Options
from localfact.models.embedder import NO_EMBEDDER
from localfact.pipeline import observe_usage
from localfact.prompts.chats import generation_chat
from localfact.runs.passes import DEFAULT_PASS_OPTIONS, Make, PassOptions, PassSummary, failure_warnings, make_file, present
from localfact.runs.progress import Progress
from localfact.runs.row_file import ERROR, Row
from localfact.runtime.files import file_digest
from localfact.runtime.tasks import complete
from localfact.text import readable

#: The stage that calls are counted under.
GENERATE = "generate"


def generate_responses(
    data: str | Path,
    out: str | Path,
    *,
    options: Options,
    generation: GenerationOptions = GREEDY,
    entities: bool = False,
    limit: int | None = None,
    pass_options: PassOptions = DEFAULT_PASS_OPTIONS,
) -> PassSummary:
    """Has a language model answer the prompts of a file; see `generate_file`.

    Raises:
        LocalFactError: one that stops the whole pass. The rows made before are kept.
    """
    options = options.model_copy(update={"embedder": NO_EMBEDDER})
    facts = engine_facts(options)
    return complete(
        generate_file(
            Path(data),
            Path(out),
            partial(open_engine, options, facts=facts),
            identity=facts.identity,
            options=generation,
            entities=entities,
            limit=limit,
            pass_options=note_versions(pass_options, facts),
        )
    )


async def generate_file(
    data: Path,
    out: Path,
    open_engine: Callable[[AsyncExitStack], Engine],
    *,
    identity: EngineIdentity,
    options: GenerationOptions = GREEDY,
    entities: bool = False,
    limit: int | None = None,
    pass_options: PassOptions = DEFAULT_PASS_OPTIONS,
) -> PassSummary:
    """Has a language model answer every prompt of a file and writes the responses, to be judged by `localfact eval --data`.

    Args:
        data: prompts in any schema of inputs/prompts.py. entities, limit: as `read_prompts`.
        out: the file of responses.
        open_engine: returns the engine; only called when rows are missing.
        identity: of that engine, known before it is opened.
        options: temperature, length, seed and instruction.
        pass_options: concurrency, progress and so on.

    Raises:
        LocalFactError: one that stops the whole pass. The rows made before are kept.
    """
    prompts, repeated = read_prompts(data, entities=entities, limit=limit)
    settings = {
        "pass": "generate",
        "data": {"sha256": file_digest(data), "entities": entities, "limit": limit},
        # Without the window, which decides no answer and may be another on the next machine.
        "model": identity.model_dump(mode="json", exclude={"window"}),
        "message": generation_chat("{prompt}", two_paragraphs=options.instruction is not None)[0].content,
        **options.model_dump(),
    }

    def open_maker(opened: AsyncExitStack) -> Make[Prompt]:
        engine = open_engine(opened)
        return partial(generate_row, engine=engine, identity=identity, options=options, progress=pass_options.progress)

    rows, warnings = await make_file(
        data, prompts, out, settings, open_maker, partial(prompt_row, identity=identity), pass_options
    )
    return generate_summary(out, rows, repeated, options, warnings)


async def generate_row(
    prompt: Prompt, *, engine: Engine, identity: EngineIdentity, options: GenerationOptions, progress: Progress
) -> Row:
    """Generates the answer to a prompt; returns its row, which says how it was generated."""
    generation = await engine.generate(
        generation_chat(prompt.text, two_paragraphs=options.instruction is not None),
        max_tokens=options.max_tokens,
        temperature=options.temperature,
        seed=options.seed,
        stage=GENERATE,
    )
    observe_usage(progress.count, generation.usage)
    facts = {
        "revision": identity.revision,
        "quantisation": identity.quantisation,
        **options.model_dump(),
        "finish": generation.finish,
        "prompt_tokens": generation.usage.prompt_tokens,
        "output_tokens": generation.usage.output_tokens,
    }
    return prompt_row(prompt, identity) | {"response": readable(generation.text), "generation": facts}


def prompt_row(prompt: Prompt, identity: EngineIdentity) -> Row:
    """The row of a prompt with the name of the model."""
    named = present(id=prompt.id, prompt=prompt.text or None, topic=prompt.topic, source=prompt.source, canary=prompt.canary)
    return named | {"model": identity.model}


def generate_summary(
    out: Path, rows: Sequence[Row], repeated: int, options: GenerationOptions, warnings: Sequence[str]
) -> PassSummary:
    """The summary of a file of responses."""
    made = [row for row in rows if ERROR not in row]
    facts = [row["generation"] for row in made]
    cut = sum(fact["finish"] == "length" for fact in facts)
    empty = sum(not row["response"].strip() for row in made)
    notes = []
    if cut:
        notes.append(f"{cut} responses were cut at {options.max_tokens} tokens (--max-tokens), or at the end of the window.")
    if empty:
        notes.append(f"{empty} responses are empty.")
    if repeated:
        notes.append(f"{repeated} rows repeat the id and the text of an earlier prompt and were answered once.")
    tokens = {name: sum(fact[name] for fact in facts) for name in ("prompt_tokens", "output_tokens")}
    return PassSummary(
        out=out,
        rows=len(rows),
        failed=len(rows) - len(made),
        counts={"cut": cut, "empty": empty, "repeated": repeated},
        usage={GENERATE: {"calls": len(made), "requests": len(made), **tokens}} if made else {},
        warnings=(*warnings, *failure_warnings(rows), *notes),
    )
