"""Single stages by themselves, file in and file out: relations, marginals, a choice, claims, and responses to be judged."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from localfact.errors import InputError, LocalFactError
from localfact.inputs.json_rows import RowError, read_rows
from localfact.inputs.responses import MAX_WORDS
from localfact.methods.engine import EngineFacts, engine_facts, open_engine
from localfact.methods.extraction import extraction_settings
from localfact.methods.options import Options
from localfact.methods.wiring import llm_extractor, open_relation_model
from localfact.records import Distribution, Failure, Pair
from localfact.runs.pass_rows import GREEDY, GenerationOptions, PassSummary
from localfact.runs.passes import Close, Conduct, extract_file, generate_file
from localfact.runs.run import complete
from localfact.runtime.files import replace as replace_file
from localfact.runtime.files import write_errors
from localfact.runtime.versions import versions
from localfact.stages import ClaimExtractor, RelationModel
from localfact.text import readable

#: What a file of pairs holds, for messages.
PAIRS = "pairs, one JSON object a line with a 'premise' and a 'hypothesis'"
NO_PAIR = Failure(reason="The row needs two texts, 'premise' and 'hypothesis'.")


def infer(
    files: Sequence[str | Path], *, solver: str = "auto", seed: int = 0, write_uai: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Yields the marginals of each graph file, as plain values; one that cannot be used yields `file` and `error_message`.

    A file that ends in .uai is read as such, with variables x0, x1, ...; any other is a fact graph in JSON. With `write_uai`
    each graph is also written into that folder as NAME.uai, for other solvers.

    `reference` is how far they are from those that the file carries (`inference.reference`), where it carries any.

    Raises:
        InputError: there is no such solver.
    """
    from localfact.inference import marginals
    from localfact.inference.reading import read_graph
    from localfact.inference.reference import deviation_of
    from localfact.inference.solve import SOLVERS
    from localfact.inference.uai import read_uai
    from localfact.inference.uai import write_uai as as_uai

    if solver not in SOLVERS:
        raise InputError(f"There is no solver '{solver}'. Choose one of: {', '.join(SOLVERS)}.")
    for file in map(Path, files):
        is_uai = file.suffix == ".uai"
        try:
            graph = read_uai(text_of(file)) if is_uai else read_graph(file)
            if write_uai is not None:
                write_text(write_uai / f"{file.stem}.uai", as_uai(graph))
            begun = time.perf_counter()
            result = marginals(graph, solver=solver, seed=seed)
            seconds = time.perf_counter() - begun
        except LocalFactError as error:
            yield {"file": str(file), "error_message": str(error)}
            continue
        deviation = None if is_uai else deviation_of(file, result)
        yield {
            "file": str(file),
            "variables": len(graph.ids),
            "factors": len(graph.edges),
            "marginals": dict(result.marginals) if result.marginals is not None else None,
            "solver": result.solver,
            "exact": result.exact,
            "error": result.error,
            "log_z": result.log_z,
            "width": result.width,
            "consistent": result.consistent,
            "seconds": seconds,
            **({"reference": asdict(deviation)} if deviation else {}),
        }


def text_of(file: Path) -> str:
    """A text file's content.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from None


def write_text(file: Path, text: str) -> None:
    """Writes a text file, its folder made if missing.

    Raises:
        WriteError: it cannot be written.
    """
    with write_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, text.encode())


def relate(
    rows: Sequence[Mapping[str, Any]],
    *,
    relations: str | None = None,
    embedder: str | None = None,
    options: Options | None = None,
) -> list[dict[str, Any]]:
    """Relates rows of `premise` and `hypothesis`; returns each row with `entailment`, `contradiction` and `neutral` added.

    A row without the two texts, or one that the model cannot relate, comes back with `error_message` instead.

    Args:
        rows: with the two texts.
        relations, embedder: before those of the options.
        options: name the relation model, the one that ships unless told, and what it needs, a language model say.

    Raises:
        InputError: an unknown relation model. MissingError: weights that are not on this machine.
    """
    pairs = [pair_of(row) for row in rows]
    told = {name: value for name, value in (("relations", relations), ("embedder", embedder)) if value is not None}
    model, close = open_relation_model((options or Options()).model_copy(update=told))
    predictions = iter(complete(relate_all(model, [pair for pair in pairs if pair is not None], close)))
    return [{**row, **prediction_fields(next(predictions) if pair else NO_PAIR)} for row, pair in zip(rows, pairs, strict=True)]


def relate_file(path: str | Path, *, options: Options | None = None) -> list[dict[str, Any]]:
    """Relates the rows of a file, as `relate`; a line that is no JSON object comes back as its number and `error_message`.

    Raises:
        InputError: the file cannot be read, or as `relate`.
    """
    read = list(read_rows(Path(path), PAIRS))
    related = iter(relate([row for row in read if not isinstance(row, RowError)], options=options))
    return [
        {"row": number, "error_message": str(row)} if isinstance(row, RowError) else next(related)
        for number, row in enumerate(read, start=1)
    ]


async def relate_all(model: RelationModel, pairs: Sequence[Pair], close: Close) -> Sequence[Distribution | Failure]:
    """One call of the model, which is closed behind it."""
    try:
        return await model.relate(pairs)
    finally:
        await close()


def pair_of(row: Mapping[str, Any]) -> Pair | None:
    """The pair of a row; None when it has none."""
    premise, hypothesis = row.get("premise"), row.get("hypothesis")
    return Pair(readable(premise), readable(hypothesis)) if isinstance(premise, str) and isinstance(hypothesis, str) else None


def prediction_fields(prediction: Distribution | Failure) -> dict[str, Any]:
    """What is added to a row."""
    if isinstance(prediction, Failure):
        return {"error_message": prediction.reason}
    return {
        "entailment": prediction.entailment,
        "contradiction": prediction.contradiction,
        "neutral": prediction.neutral,
    }


def choose(text: str, labels: Sequence[str], *, options: Options, prefix: str = "") -> dict[str, Any]:
    """Asks a language model how probable each label is as what it says next; decodes nothing.

    Args:
        text: one message of the user. labels: the closed set. prefix: a begun answer that the labels follow.
        options: names the model, or a transcript.

    Returns:
        `distribution` (normalised over the labels), `log_probs` (natural, of the full vocabulary), `mass` (the probability of
        all of them together), `usage`, `model`.

    Raises:
        InputError: no labels, an empty one, one twice; a prompt beyond the window. As `engines.open_engine` besides.
    """
    from localfact.llm.engine import Message

    engine = open_engine(options)

    async def ask() -> dict[str, Any]:
        try:
            choice = await engine.choose((Message("user", text),), labels, prefix=prefix, stage="choose")
        finally:
            await engine.aclose()
        return {
            "distribution": choice.distribution,
            "log_probs": dict(choice.log_probs),
            "mass": choice.mass,
            "usage": choice.usage.model_dump(),
            "model": engine.identity.model_dump(mode="json"),
        }

    return complete(ask())


def extract_claims(
    data: str | Path,
    out: str | Path,
    *,
    options: Options,
    limit: int | None = None,
    max_words: int = MAX_WORDS,
    conduct: Conduct | None = None,
) -> PassSummary:
    """Extracts claims with their pre-verification into a file that `evaluate` reads; see `passes.extract_file`.

    Raises:
        LocalFactError: what stops the whole pass. The rows made before are kept.
    """
    options = options.model_copy(update={"claims": "extract"})
    facts = engine_facts(options)
    settings = extraction_settings(options, facts.identity)

    def opened() -> tuple[ClaimExtractor, Close]:
        engine = open_engine(options, facts)
        return llm_extractor(engine, settings), engine.aclose

    return complete(
        extract_file(
            Path(data),
            Path(out),
            opened,
            extractor=settings,
            limit=limit,
            max_words=max_words,
            conduct=noted(conduct, facts),
        )
    )


def generate_responses(
    data: str | Path,
    out: str | Path,
    *,
    options: Options,
    generation: GenerationOptions = GREEDY,
    entities: bool = False,
    limit: int | None = None,
    conduct: Conduct | None = None,
) -> PassSummary:
    """Has a language model answer the prompts of a file; see `passes.generate_file`.

    Raises:
        LocalFactError: what stops the whole pass. The rows made before are kept.
    """
    facts = engine_facts(options)
    return complete(
        generate_file(
            Path(data),
            Path(out),
            lambda: open_engine(options, facts),
            identity=facts.identity,
            options=generation,
            entities=entities,
            limit=limit,
            conduct=noted(conduct, facts),
        )
    )


def noted(conduct: Conduct | None, facts: EngineFacts) -> Conduct:
    """The same conduct, with the versions and the hardware of this machine to be written down."""
    return replace(conduct or Conduct(), versions=versions(), machine=facts.machine)
