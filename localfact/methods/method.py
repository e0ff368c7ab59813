"""What every named method says of itself, and what it must be able to do: settle its options, and wire who decides.

A method is a file beside this one and a line in `registry.py`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

from localfact.corpus.passages import PassageKind
from localfact.llm.engine import Engine
from localfact.methods.options import Confidence, Options
from localfact.methods.settings import AssessmentSettings, Settings
from localfact.prompts import Task
from localfact.stages import Assessor


@dataclass(frozen=True)
class Method(ABC):
    """A named choice of extractor, retriever, relation model and assessor.

    Attributes:
        passages: the kind of passages it reads. k: how many are retrieved per claim.
        merge_near_duplicates: whether passages that are almost the same become one.
        model: whether it asks a language model: never, where one is named, or always.
        extractor: who takes claims from a response that brings none, where a language model is named; rules where none is.
        confidence: how the extractor's own opinion of a claim is read, unless told.
        relations: the relation model that it uses unless told; None where nothing is related.
        uses_theta: whether FastFact's gate settles claims before any evidence.
        prompts: the prompts that its assessor sends. calls: how many that are, in words.
    """

    name: str
    description: str
    passages: PassageKind
    k: int
    merge_near_duplicates: bool
    model: Literal["none", "optional", "required"]
    extractor: str
    confidence: Confidence = "token"
    relations: str | None = None
    uses_theta: bool = False
    prompts: tuple[Task, ...] = ()
    calls: tuple[str, ...] = ()

    @abstractmethod
    def assessment(self, options: Options, relations: str | None) -> AssessmentSettings:
        """What decides the verdicts.

        Args:
            relations: the identity of the relation model.

        Raises:
            InputError: an option that it cannot use.
        """

    @abstractmethod
    def assessor(self, settings: Settings, engine: Engine | None) -> Assessor:
        """Who decides. `engine` is None where no language model is named, and in a plan."""
