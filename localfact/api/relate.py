"""Relates pairs of texts by a relation model: takes rows with a premise and a hypothesis, returns them with probabilities."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from localfact.api.arguments import kind_of, read_options, require_text
from localfact.errors import InputError
from localfact.inputs.json_rows import RowError
from localfact.inputs.row_files import read_rows
from localfact.methods.options import Options
from localfact.methods.relations import DEFAULT_RELATIONS, FoundRelationModel, find_relation_model
from localfact.methods.uses import keep_used, relation_parts
from localfact.records import Distribution, Failure, Pair
from localfact.runtime.interrupts import interruptible
from localfact.runtime.tasks import complete
from localfact.text import readable

#: What a file of pairs holds, for messages.
PAIRS = "pairs, one JSON object a line with a 'premise' and a 'hypothesis'"
#: What `relate` takes, for messages.
ROWS = 'a list of mappings, each {"premise": ..., "hypothesis": ...}'
NO_PAIR = Failure(reason="The row needs two texts, 'premise' and 'hypothesis'.")


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
        relations, embedder: override those of the options.
        options: name the relation model (by default word overlap) and what it needs, for example a
            language model.

    Raises:
        InputError: no such rows, or an unknown relation model. MissingError: weights that are not on this machine.
    """
    if isinstance(rows, str | Mapping) or not isinstance(rows, Iterable):
        raise InputError(f"relate takes {ROWS}, not {kind_of(rows)}.")
    rows = list(rows)
    if wrong := next((row for row in rows if not isinstance(row, Mapping)), None):
        raise InputError(f"relate takes {ROWS}; one of these is {kind_of(wrong)}.")
    require_text("relations", relations)
    require_text("embedder", embedder)
    pairs = [pair_of(row) for row in rows]
    named = {name: value for name, value in (("relations", relations), ("embedder", embedder)) if value is not None}
    options = read_options(options).model_copy(update=named)
    name = options.relations or DEFAULT_RELATIONS
    found = find_relation_model(keep_used(options, relation_parts([name]), f"relate with {name}"))
    predictions = iter(complete(relate_all(found, [pair for pair in pairs if pair is not None])))
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


async def relate_all(found: FoundRelationModel, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
    """Loads the model, relates the pairs, and closes it."""
    async with AsyncExitStack() as opened:
        with interruptible():
            model = found.open(opened)
        return await model.relate(pairs)


def pair_of(row: Mapping[str, Any]) -> Pair | None:
    """The pair of a row; None where it has none."""
    premise, hypothesis = row.get("premise"), row.get("hypothesis")
    return Pair(readable(premise), readable(hypothesis)) if isinstance(premise, str) and isinstance(hypothesis, str) else None


def prediction_fields(prediction: Distribution | Failure) -> dict[str, Any]:
    """The fields that are added to a row."""
    if isinstance(prediction, Failure):
        return {"error_message": prediction.reason}
    return {
        "entailment": prediction.entailment,
        "contradiction": prediction.contradiction,
        "neutral": prediction.neutral,
    }
