"""What browsers ask the annotators' server: who asks for which response, the fields of a form, the step that it describes."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from pydantic import ValidationError
from starlette.requests import Request

from localfact.annotation.steps import Step
from localfact.annotation.store import MisfitError
from localfact.annotation.tasks import AnnotationTask
from localfact.records import Span
from localfact.text import readable

#: Fields of a form, at most.
MOST_FIELDS = 60


class RefusedError(Exception):
    """What cannot be shown or done, with the status of the answer."""

    def __init__(self, said: str, status: int = 403) -> None:
        super().__init__(said)
        self.status = status


@dataclass(frozen=True)
class Asked:
    """A request of somebody who signed in. `form`: field -> value."""

    request: Request
    name: str
    form: Mapping[str, str]

    @property
    def fragment(self) -> bool:
        """Whether the request asks for the main part of the page alone (`asks_in_part`)."""
        return asks_in_part(self.request)

    @property
    def position(self) -> int:
        """The number of the response that is asked for."""
        return int(self.request.path_params["position"])


def asks_in_part(request: Request) -> bool:
    """Whether htmx asks, which takes the main part of a page alone."""
    return "hx-request" in request.headers


def step_of(form: Mapping[str, str], task: AnnotationTask) -> Step:
    """The step that a form describes.

    Raises:
        MisfitError: it describes none.
    """
    places: tuple[Span, ...] = ()
    if form.get("quote", "").strip() or form.get("start", ""):
        places = (_place(form, task),)
    text = readable(form.get("text", "").replace("\r\n", "\n")).strip()
    try:
        return Step.model_validate(
            {
                "kind": form.get("kind", ""),
                "claim": form.get("claim", ""),
                "text": text,
                "spans": places,
                "removal": form.get("removal") or None,
                "label": form.get("label") or None,
                "agreed": form.get("agreed") == "yes",
                "of": form.get("of", ""),
            }
        )
    except ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise MisfitError(f"{said[0].lower()}{said[1:]}.") from None


def _place(form: Mapping[str, str], task: AnnotationTask) -> Span:
    """Where a claim stands: the marked characters, else the words that were typed, where the text has them."""
    start, end = form.get("start", ""), form.get("end", "")
    if start.isdecimal() and end.isdecimal() and len(start) < 10 and len(end) < 10 and int(start) < int(end) <= len(task.text):
        return Span(start=int(start), end=int(end))
    quote = form.get("quote", "").strip()
    found = task.text.find(quote)
    if not quote or found < 0:
        raise MisfitError("the response does not have these words. Copy them as they stand there.")
    return Span(start=found, end=found + len(quote))


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a form, the last of each name."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        return {}
