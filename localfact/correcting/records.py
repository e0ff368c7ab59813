"""What a correction is: edits of a text, each with its source, what was left as it is and why, precision before and after."""

from collections.abc import Mapping
from difflib import unified_diff
from typing import Annotated, Literal

from pydantic import Field

from localfact.records import Assessment, Count, Probability, Record, Span
from localfact.scoring.tally import tally


class EditSource(Record):
    """What an edit goes by.

    Attributes:
        passage: the id of the passage; title, url, host: of its page, as far as they are known.
        quote: the sentence that decides, and its place in the passage's text.
    """

    passage: str
    title: str = ""
    url: str | None = None
    quote: str = ""
    place: Span | None = None


class TextEdit(Record):
    """One replacement in a text.

    Attributes:
        claims: the ids of the claims whose words it changes, that for which it was made first.
        place: characters of the original text.
        old, new: the words there, and what replaces them.
        by: "value" by a rule, as another value stands in the claim's place; "model" by a language model.
        before, after: the posterior of the first claim; None where the method computes none.
    """

    claims: tuple[str, ...]
    place: Span
    old: str
    new: str
    by: Literal["value", "model"]
    source: EditSource
    before: Probability | None = None
    after: Probability | None = None


class Left(Record):
    """A contradicted claim that was left as it is, and why."""

    claim: str
    text: str
    reason: str


class Correction(Record):
    """A text, corrected.

    Attributes:
        original, text: before and after; the same where no edit was made.
        edits: in the order of the text.
        left: the contradicted claims that were left.
        assessed, reassessed: what was decided before, and of the corrected text by the same evidence. Where there is no edit
            both are the same.
        usage: stage -> calls and tokens of the language model for correcting and for assessing again.
    """

    original: str
    text: str
    edits: tuple[TextEdit, ...] = ()
    left: tuple[Left, ...] = ()
    assessed: Assessment
    reassessed: Assessment
    usage: Mapping[str, Mapping[str, Count | Annotated[float, Field(ge=0)]]] = Field(default_factory=dict)

    @property
    def precision(self) -> tuple[float | None, float | None]:
        """The share of judged claims that are supported, before and after; None where none is judged."""
        before, after = (tally(one) for one in (self.assessed, self.reassessed))
        return before.precision if before.judged else None, after.precision if after.judged else None

    @property
    def diff(self) -> str:
        """A unified diff of the two texts, by lines; "" where they are the same."""
        before, after = self.original.splitlines(), self.text.splitlines()
        return "\n".join(unified_diff(before, after, "before", "after", n=0, lineterm=""))
