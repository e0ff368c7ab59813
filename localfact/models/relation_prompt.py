"""The prompt of a language model that was fine-tuned to judge pairs of texts: its chat turns, and what its answers mean."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, field_validator

from localfact.records import Record
from localfact.runtime.path_names import PlainText
from localfact.vocabulary import ChatRole, RelationLabel

_PLACE = re.compile(r"\{(premise|hypothesis)\}")


class Turn(Record):
    """One turn: who has it, and its text, with {premise} and {hypothesis} where those stand."""

    role: ChatRole
    text: PlainText


class RelationPrompt(Record):
    """The turns that such a model was trained on, and what its words mean.

    Attributes:
        turns: the chat, before the model's chat template writes it.
        answers: word -> relation. Most such models tell support from everything else: what they do not support is neutral, for
            it need not be contradicted.
    """

    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    answers: Annotated[Mapping[PlainText, RelationLabel], Field(min_length=2)]

    @field_validator("turns")
    @classmethod
    def _holds_both(cls, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        found = sorted(place for turn in turns for place in _PLACE.findall(turn.text))
        if found != ["hypothesis", "premise"]:
            raise ValueError("{premise} and {hypothesis} must each stand in the turns once")
        return turns

    def fill(self, premise: str, hypothesis: str) -> list[tuple[ChatRole, str]]:
        """The turns with the two texts in their places; neither is searched for places itself."""
        texts = {"premise": premise, "hypothesis": hypothesis}
        return [(turn.role, _PLACE.sub(lambda place: texts[place[1]], turn.text)) for turn in self.turns]
