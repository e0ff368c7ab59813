"""What a service is sent: read within bounds, parsed, checked; and the answers that say what is wrong with it."""

import json
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request

#: The longest body of a check and of an evaluation, in bytes; the most rows of one, and the most passages of a text.
LONGEST_CHECK, LONGEST_EVALUATION = 2_000_000, 32_000_000
MOST_ROWS, MOST_PASSAGES = 10_000, 200

Body = TypeVar("Body", bound=BaseModel)


class RequestRefusedError(Exception):
    """A request that is answered by a status and a sentence."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class CheckBody(BaseModel):
    """A text to be checked."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, description="The text.")]
    prompt: Annotated[str | None, Field(description="What it answers.")] = None
    topic: Annotated[str | None, Field(description="What it is about; resolves a leading she, he or it.")] = None
    passages: Annotated[
        list[str | dict[str, Any]] | None,
        Field(
            max_length=MOST_PASSAGES,
            description="What it is checked with, in place of the corpus: texts, or objects with text, title and link.",
        ),
    ] = None

    def row(self) -> dict[str, Any]:
        """The same as a row of a file of responses."""
        return {"response": self.text, **self.model_dump(exclude={"text"}, exclude_none=True)}


class EvaluateBody(BaseModel):
    """Responses to be evaluated."""

    model_config = ConfigDict(extra="forbid")

    rows: Annotated[
        list[str | dict[str, Any]],
        Field(
            min_length=1,
            max_length=MOST_ROWS,
            description="Responses: texts, or objects as in a file (docs/inputs.md): response, prompt, claims, passages.",
        ),
    ]


async def read_body(request: Request, kind: type[Body], longest: int) -> Body:
    """The body of a request.

    Raises:
        RequestRefusedError: it is too long, is not JSON, or is not of that kind.
    """
    # A page of somebody else's cannot send this kind without asking us first.
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestRefusedError(415, "Send JSON, and say so: Content-Type: application/json.")
    too_long = RequestRefusedError(413, f"That is too long: {longest:,} bytes at most.")
    content = bytearray()
    try:
        async for part in request.stream():
            content += part
            if len(content) > longest:
                raise too_long
    except ClientDisconnect:  # so a body ends that is too long for every route; who has gone reads no answer
        raise too_long from None
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RequestRefusedError(400, f"The body is no JSON: {error}.") from None
    try:
        return kind.model_validate(parsed)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"][:2])) or "the body"
        raise RequestRefusedError(422, f"{place}: {first['msg']}.") from None


def read_number(request: Request, name: str, default: int, most: int) -> int:
    """A whole number of a query, from 1.

    Raises:
        RequestRefusedError: it is none, or too large.
    """
    given = request.query_params.get(name)
    if given is None:
        return default
    if not (given.isascii() and given.isdecimal() and len(given) < 10 and 1 <= int(given) <= most):
        raise RequestRefusedError(422, f"{name} is a whole number from 1 to {most:,}.")
    return int(given)
