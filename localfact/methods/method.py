"""The base class of named methods: their properties, their settings, and how their assessor is made.

A method is a file beside this one and a line in `registry.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from localfact.claims.merging import Merging
from localfact.corpus.passages import PassageKind
from localfact.llm.engine import Engine
from localfact.methods.options import Confidence, Options
from localfact.methods.parts import RunPart
from localfact.methods.settings import AssessmentSettings, Settings
from localfact.prompts import Task
from localfact.stages import Assessor


@dataclass(frozen=True)
class Method(ABC):
    """A named choice of extractor, retriever, relation model and assessor.

    Attributes:
        passages: the kind of passages it reads.
        k: how many are retrieved per claim.
        k_searched: how many where a search of the web found them, if that is another number (of Wikipedia it is k).
        merge_near_duplicates: whether near-duplicate passages are merged.
        model: whether it asks a language model: never, where one is named, or always.
        extractor: extracts the claims of responses that bring none, where a language model is named; without one, rules do.
        confidence: the default way of reading the extractor's pre-verification.
        relations: the default relation model; None where nothing is related.
        queries, queries_per_claim: the defaults of these options.
        search_steps: the most searches for a claim one after the other, each after the model saw what the earlier ones found.
        cost: the calls of the language model as a formula, in FastFact's letters: N sentences, w of them a chunk; M claims, the
            share p of them still open after pre-verification; q searches a claim; and k passages a claim, m in all.
        source: the paper, and where it describes it.
        merging: which equal claims become one, unless the options say.
        uses_theta: whether FastFact's gate settles claims before any evidence.
        prompts: the prompts that its assessor sends.
        calls: their number, in words.
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
    k_searched: int | None = None
    queries: Literal["claim", "llm"] = "claim"
    queries_per_claim: int = 1
    search_steps: int = 1
    cost: str = ""
    source: str = ""
    merging: Merging = "response"
    uses_theta: bool = False
    prompts: tuple[Task, ...] = ()
    calls: tuple[str, ...] = ()

    @property
    def parts(self) -> frozenset[RunPart]:
        """The parts that its assessor has, besides those that every method may have by its options (`uses.py`)."""
        return frozenset()

    @abstractmethod
    def assessment(self, options: Options, relations: Sequence[str]) -> AssessmentSettings:
        """The settings that decide the verdicts.

        Args:
            relations: the identities of the relation models, the second opinion last; none where nothing is related.

        Raises:
            InputError: an option that the method cannot use.
        """

    @abstractmethod
    def assessor(self, settings: Settings, engine: Engine | None) -> Assessor:
        """The assessor. `engine` is None where no language model is named, and in a plan."""
