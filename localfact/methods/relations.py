"""The relation models by name, and how each is opened. A new kind is a file in `relations/` and a line in KINDS."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from localfact.errors import InputError, MissingError
from localfact.llm.engine import Engine
from localfact.llm.layers.policy import PolicyLayer
from localfact.methods.engine import engine_facts, open_engine
from localfact.methods.options import Options
from localfact.models.cards import list_cards, load_card, weights_folder
from localfact.models.embedder import NO_EMBEDDER, open_embedder
from localfact.models.model_card import ModelCard
from localfact.prompts import Task
from localfact.records import Distribution, Pair
from localfact.relations.cache import CachedRelations
from localfact.relations.crossencoder import CrossEncoderRelationModel, cross_encoder_identity
from localfact.relations.lexical.model import LexicalRelationModel, lexical_identity
from localfact.relations.llm import LLMRelationModel, llm_identity
from localfact.relations.store import read_kept
from localfact.relations.windows import READING_VERSION
from localfact.runtime.suggesting import suggest
from localfact.stages import RelationModel

#: The relation models without a card: the language model itself, and word overlap, which the values of a pair correct.
LLM, LEXICAL = "llm", "lexical"
#: What the identity of a language model's relations ends with where p* is not normalised.
RAW = "+p_star=raw"
#: What relates where nobody names another.
DEFAULT_RELATIONS = LEXICAL


@dataclass(frozen=True)
class RelationKind:
    """A relation model by name, not loaded yet.

    Attributes:
        identity: of the model that the options name, without loading it. For the language model it does not include the engine,
            which the settings hold separately.
        open: loads it, given the engine if it is the language model; registers with the stack what must be closed.
        check: raises MissingError where its weights are not on this machine.
        cached: whether its predictions are worth caching: word overlap is as quick as reading a file.
        prompts, calls: what it sends to the language model.
        languages: those it knows, as two-letter codes; None where that is not stated.
    """

    identity: Callable[[Options], str]
    open: Callable[[Options, Engine | None, AsyncExitStack], RelationModel]
    check: Callable[[Options], object] = lambda options: None
    cached: bool = True
    prompts: tuple[Task, ...] = ()
    calls: tuple[str, ...] = ()
    languages: tuple[str, ...] | None = None


def _open_llm(options: Options, engine: Engine | None, opened: AsyncExitStack) -> RelationModel:
    if engine is None:
        raise AssertionError("relations by a language model are opened with its engine")
    policy = engine.policy if isinstance(engine, PolicyLayer) else None
    return LLMRelationModel(engine, policy=policy, seed=options.seed, p_star=options.probability)


def _embedder_card(options: Options) -> ModelCard | None:
    return None if options.embedder == NO_EMBEDDER else load_card(options.embedder)


def _lexical_identity(options: Options) -> str:
    card = _embedder_card(options)
    return lexical_identity(card.identity if card else None)


def _check_lexical(options: Options) -> None:
    card = _embedder_card(options)
    if card is not None:
        weights_folder(card)


def _cross_encoder(card: ModelCard) -> RelationKind:
    def open_model(options: Options, engine: Engine | None, opened: AsyncExitStack) -> RelationModel:
        model = CrossEncoderRelationModel(card)
        opened.push_async_callback(asyncio.to_thread, model.close)
        return model

    return RelationKind(
        lambda options: cross_encoder_identity(card),
        open_model,
        check=lambda options: weights_folder(card),
        languages=card.languages,
    )


#: Every kind without a card; any other name is that of a cross-encoder's card.
KINDS: Mapping[str, RelationKind] = {
    LEXICAL: RelationKind(
        _lexical_identity,
        lambda options, engine, opened: LexicalRelationModel(open_embedder(options.embedder)),
        check=_check_lexical,
        cached=False,
        languages=("en",),
    ),
    LLM: RelationKind(
        lambda options: f"{LLM}+reading={READING_VERSION}{RAW if options.probability == 'raw' else ''}",
        _open_llm,
        prompts=("relation",),
        calls=("one a pair to relate",),
    ),
}


def relation_kind(name: str) -> RelationKind:
    """The relation model of that name: one of KINDS, or a cross-encoder's card.

    Raises:
        InputError: there is no such card, or it has another role.
    """
    return KINDS[name] if name in KINDS else _cross_encoder(relation_card(name))


def relation_card(name: str) -> ModelCard:
    """The card of a cross-encoder for relations.

    Raises:
        InputError: there is no such card, or it has another role.
    """
    without_card = ", ".join(f"{kind} with a --model" if kind == LLM else kind for kind in KINDS)
    try:
        card = load_card(name)
    except MissingError:
        cards = [card.name for card in list_cards() if "relations" in card.roles]
        meant, known = suggest(name, [*KINDS, *cards]), ", ".join(cards)
        raise InputError(
            f"There is no relation model '{name}'. {meant}Take {without_card}, {known}, a hub id (owner/name) or the path of a "
            "card."
        ) from None
    if "relations" not in card.roles:
        raise InputError(
            f"{name} is no relation model: its card has the roles {', '.join(card.roles)}. Take {without_card}, or a card with "
            "the role relations (`localfact models list`)."
        )
    return card


def open_cached(model: RelationModel, file: Path, opened: AsyncExitStack) -> CachedRelations:
    """The relation model with a cache of its predictions in a file.

    Raises:
        InputError: the file is damaged, or something else's. WriteError: it cannot be written.
    """
    cache = CachedRelations(model, file)
    opened.push_async_callback(asyncio.to_thread, cache.close)
    return cache


@dataclass(frozen=True)
class FoundRelationModel:
    """A relation model whose weights are on this machine. `open` loads it, without a pipeline, and the stack closes it."""

    identity: str
    open: Callable[[AsyncExitStack], RelationModel]


def find_relation_model(options: Options) -> FoundRelationModel:
    """The relation model that the options name, for use by itself; by default word overlap.

    Raises:
        InputError: an unknown relation model, or the language model without a --model. MissingError: its weights are missing.
    """
    name = options.relations or DEFAULT_RELATIONS
    kind = relation_kind(name)
    if name != LLM:
        kind.check(options)
        return FoundRelationModel(kind.identity(options), partial(kind.open, options, None))
    facts = engine_facts(options)

    def open_over_engine(opened: AsyncExitStack) -> RelationModel:
        return kind.open(options, open_engine(options, opened, facts), opened)

    identity = llm_identity(facts.identity, options.seed, facts.policy, options.probability, facts.own_prompts)
    return FoundRelationModel(identity, open_over_engine)


def read_kept_relations(file: Path, pairs: Iterable[Pair], *, of: str = "") -> dict[Pair, list[Distribution]]:
    """What models predicted of these pairs, any or that of a name, from a file of relations; see `relations.store`."""
    return read_kept(file, pairs, of=of)
