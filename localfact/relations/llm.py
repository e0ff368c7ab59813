"""Relations by a language model: a few-shot prompt (prompts/relation.jinja) and the probabilities of three words after it.

A model that was trained to judge pairs (MiniCheck, Granite Guardian) is asked in its own way instead, which its card tells.
Nothing is decoded: one prefill a pair. The pairs of a premise are sent one after another, so that instructions and premise are
computed once for all claims about it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from localfact.errors import InputError, PromptTooLongError, UnlikelyLabelsError
from localfact.llm.calls import digest, identity_fields
from localfact.llm.engine import Chat, Engine, EngineIdentity, Message
from localfact.llm.layers.policy import AskingPolicy
from localfact.prompts import Boundary, OwnFiles, boundary_of, prompt_hashes, relation_chat
from localfact.records import Distribution, Failure, Pair
from localfact.relations.windows import READING_VERSION, join_windows, measure_cutting_async, windows
from localfact.runtime.tasks import for_each, together
from localfact.stages import PairInContext, Relations, context_of
from localfact.text import readable
from localfact.vocabulary import RelationLabel

#: The stage that calls are counted under.
STAGE = "relate"
LABELS = (RelationLabel.ENTAILMENT.value, RelationLabel.CONTRADICTION.value, RelationLabel.NEUTRAL.value)

#: Pairs of one call that wait for the engine at once: as many as vLLM runs at once by default. Fewer would leave it
#: idle where every premise has one claim (FR1). More would only wait. They are sent premise by premise, and vLLM takes them in
#: that order: even when they all come at once it computes a premise with its first pair and finds it cached for the others.
PAIRS_AT_ONCE = 256
#: Tokens that a prompt may have more than its parts, as texts are tokenised differently beside the markers around them.
SEAM_TOKENS = 8
#: Lengths of claims are rounded up to a multiple of this, so that claims share the windows of a long premise and its prefix.
HYPOTHESIS_STEP = 64


#: Which p* of a relation is used (FactReasoner, section 3.1, takes it from the label's tokens): normalised over the three
#: labels, or "raw", as the tokens have it. Of 0.4, 0.1 and 0.1 the first makes 0.667.
PStar = Literal["normalised", "raw"]

#: The file of a prompt of the user's own.
TEMPLATE = "relation.jinja"
#: The beginning of an answer after which a label must come, for a model that gives the bare labels too little.
OPENED = "Relation: "


class LLMRelationModel:
    """A RelationModel over a language model (FactReasoner, section 3.1; the prompt is ours, or the model's own).

    Attributes:
        identity: a text that differs where answers may differ, by which relations are kept: the engine, the prompt, the least
            probability that the three labels must have together, the seed and the way long pairs are read. How many tokens
            the model reads at once is no part of it: only pairs that are longer are split, and their `windows` say so.
    """

    def __init__(
        self, engine: Engine, *, policy: AskingPolicy | None = None, seed: int = 0, p_star: PStar = "normalised"
    ) -> None:
        """`seed` keys the markers around the texts (`prompts.boundary`); give the run's. `policy`: the engine's.

        With `p_star` "raw" the three probabilities of a prediction sum to the mass of the labels, not to one.
        """
        policy = policy or AskingPolicy()
        self.identity = llm_identity(engine.identity, seed, policy, p_star, engine.own_prompts)
        self._raw = p_star == "raw"
        self._engine = engine
        self._boundary = boundary_of(engine, seed)
        self._own = policy.relation_prompt
        self._answers = self._own.answers if self._own else answers_of(engine.own_prompts)

    @property
    def machine_window(self) -> int:
        """Tokens of the window by which longer pairs are split; the memory of the machine decides it."""
        return self._engine.identity.window

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """One prediction a pair, in order: the labels' probabilities given that it is one of them, exact for any tokenizer.

        Pairs are asked premise by premise, equal ones once. A pair longer than the window is read in windows, joined by the
        most decided one. A pair that cannot be asked is a Failure alone.

        Raises:
            LocalFactError: an error that concerns every pair: a dead engine, a call that a replay lacks.
        """
        predictions: dict[Pair, Distribution | Failure] = {}
        await self.relate_reporting(pairs, predictions.update)
        return [predictions[pair] for pair in pairs]

    async def relate_reporting(self, pairs: Sequence[Pair], report: Callable[[Relations], None]) -> None:
        """As `relate`, but calls `report` with each prediction as soon as it is made."""

        async def predict(pair: Pair) -> None:
            report({pair: await self._predict(pair)})

        await for_each(by_premise(pairs), predict, PAIRS_AT_ONCE)

    async def fits(self, pair: Pair) -> bool:
        """Whether the whole pair fits the model's window."""
        return await self._windows(pair) == [pair]

    async def _predict(self, pair: Pair) -> Distribution | Failure:
        try:
            return await self._ask(pair)
        except PromptTooLongError:
            pass
        except InputError as error:
            return Failure(reason=str(error))
        try:
            several = await self._windows(pair)
            read = await together(self._ask(window) for window in several)
        except InputError as error:
            return Failure(reason=str(error))
        return join_windows(pair.premise, several, read)

    async def _ask(self, pair: Pair) -> Distribution:
        chat = self._chat(pair)
        try:
            choice = await self._engine.choose(chat, tuple(self._answers), stage=STAGE)
        except UnlikelyLabelsError:  # a model that would begin with a sentence
            if self._own:
                raise
            choice = await self._engine.choose(chat, tuple(self._answers), prefix=OPENED, stage=STAGE)
        probabilities = dict.fromkeys(LABELS, 0.0)
        said = {label: math.exp(value) for label, value in choice.log_probs.items()} if self._raw else choice.distribution
        for answer, probability in said.items():
            probabilities[self._answers[answer]] += probability
        return Distribution.model_validate({label: min(1.0, one) for label, one in probabilities.items()})

    async def _windows(self, pair: Pair) -> list[Pair]:
        bare = PairInContext("", "", context_of(pair))
        around = await self._engine.count(self._chat(bare))
        labelled = await self._engine.count(self._chat(bare), prefix=max(self._answers, key=len))

        async def tokens(text: str) -> int:
            return await self._engine.count(self._chat(PairInContext(text, "", bare.context))) - around

        room = self._engine.identity.window - labelled - SEAM_TOKENS
        several = await measure_cutting_async(windows(pair, room, step=HYPOTHESIS_STEP), tokens)
        return [PairInContext(*one, bare.context) for one in several] if bare.context else several

    def _chat(self, pair: Pair) -> Chat:
        if self._own:
            turns = self._own.fill(readable(pair.premise), readable(pair.hypothesis))
            return tuple(Message(role, text, pair.premise) for role, text in turns)
        return relation_chat(pair.premise, pair.hypothesis, context_of(pair), boundary=self._boundary)


def by_premise(pairs: Iterable[Pair]) -> list[Pair]:
    """Each pair once, those of a premise together; premises, and the pairs of each, in the order in which they first come."""
    grouped: dict[str, dict[Pair, None]] = {}
    for pair in pairs:
        grouped.setdefault(pair.premise, {})[pair] = None
    return [pair for group in grouped.values() for pair in group]


def answers_of(own: OwnFiles) -> dict[str, RelationLabel]:
    """The answers that the model chooses among, and their labels: with the user's own prompt, capitalised labels too."""
    plain = {label: RelationLabel(label) for label in LABELS}
    return plain if TEMPLATE not in own else plain | {label.capitalize(): meant for label, meant in plain.items()}


def reads_context(own: OwnFiles) -> bool:
    """Whether a prompt of the user's own shows what a hypothesis was taken from."""
    shown = [relation_chat("p", "h", context, boundary=Boundary(own=own)) for context in ("", "c")] if TEMPLATE in own else []
    return len(set(shown)) > 1


def llm_identity(
    engine: EngineIdentity,
    seed: int = 0,
    policy: AskingPolicy | None = None,
    p_star: PStar = "normalised",
    own: OwnFiles | None = None,
) -> str:
    """The identity of the relation model over an engine of that identity, with a user's own prompts, without starting it."""
    policy = policy or AskingPolicy()
    trained = policy.relation_prompt
    prompt = digest(trained.model_dump(mode="json")) if trained else prompt_hashes("relation", own=own or {})["relation"]
    decides = {
        **identity_fields(engine),
        "prompt": prompt,
        "reading": READING_VERSION,
        "min_mass": policy.min_mass,
        "seed": seed,
    }
    if p_star != "normalised":
        decides["p_star"] = p_star
    return f"llm({', '.join(f'{name}={value}' for name, value in decides.items())})"
