"""The named methods: what each is made of, which defaults it has, and whether it asks a language model.

`wiring.py` turns a method and the user's options into settings, and these into a pipeline.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from localfact.corpus.passages import PassageKind
from localfact.errors import InputError, MissingError
from localfact.methods.options import Confidence, Options, Tables
from localfact.models.cards import ModelCard, list_cards, load_card

Extractor = Literal["rules", "atomizer", "chunked"]

#: The relation models that have no card: the language model itself, and word overlap.
LLM, LEXICAL = "llm", "lexical"
#: The relation model that comes with localfact.
BUILTIN_NLI = "builtin-nli"


@dataclass(frozen=True)
class Method:
    """What every named method says of itself.

    Attributes:
        passages: the kind of passages it reads. k: how many are retrieved per claim.
        merge_near_duplicates: whether passages that are almost the same become one.
        model: whether it asks a language model: never, where one is named, or always.
        extractor: who takes claims from a response that brings none, where a language model is named; rules where none is.
    """

    name: str
    description: str
    passages: PassageKind
    k: int
    merge_near_duplicates: bool
    model: Literal["none", "optional", "required"]
    extractor: Extractor


@dataclass(frozen=True)
class FastFactMethod(Method):
    """FastFact (sections 4.1-4.4): its options are the user's, with the paper's values as defaults (see Options)."""


@dataclass(frozen=True)
class FactReasonerMethod(Method):
    """A version of FactReasoner.

    Attributes:
        version: 1, 2 or 3. relations: the relation model it uses unless told. tables, passage_prior: its other defaults.
        gate: a claim is related to another claim's passage only if that matches it at least this fraction as well as the worst
            of its own; None relates all.
    """

    version: Literal[1, 2, 3] = 2
    relations: str = BUILTIN_NLI
    tables: Tables = "balanced"
    passage_prior: float = 0.99
    gate: float | None = 0.8


@dataclass(frozen=True)
class LocalFactMethod(FactReasonerMethod):
    """FastFact's claims and gate before FactReasoner's graph: what the model knows for sure needs no evidence."""

    confidence: Confidence = "distribution"


def builtin(name: str, description: str, version: Literal[1, 2, 3]) -> FactReasonerMethod:
    """A version of FactReasoner that needs no language model, with our own defaults."""
    return FactReasonerMethod(
        name,
        f"no language model; {description}",
        passages="pages",
        k=5,
        merge_near_duplicates=True,
        model="none",
        extractor="rules",
        version=version,
    )


def factreasoner_as_published(version: Literal[1, 2, 3], description: str) -> FactReasonerMethod:
    """A version of FactReasoner with the paper's defaults: its tables and priors, k of Table 10, all pairs (section 4)."""
    return FactReasonerMethod(
        f"factreasoner-fr{version}",
        f"FactReasoner as published; {description}",
        passages="pages",
        k=3,
        merge_near_duplicates=False,
        model="optional",
        extractor="atomizer",
        version=version,
        relations=LLM,
        tables="paper",
        gate=None,
    )


VERSIONS: Mapping[Literal[1, 2, 3], str] = {
    1: "each claim with its own passages",
    2: "every claim with every passage",
    3: "every claim with every passage, and passages with one another",
}
METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        *(builtin(f"builtin-fr{version}", what, version) for version, what in VERSIONS.items()),
        *(factreasoner_as_published(version, what) for version, what in VERSIONS.items()),
        FastFactMethod(
            "fastfact",
            "FastFact: claims and pre-verification in one call, evidence and a verifier for what that leaves open",
            passages="chunks",
            k=10,
            merge_near_duplicates=False,
            model="required",
            extractor="chunked",
        ),
        LocalFactMethod(
            "localfact",
            "FastFact's claims and gate, then FactReasoner's graph over what that leaves open",
            passages="pages",
            k=5,
            merge_near_duplicates=True,
            model="required",
            extractor="chunked",
            relations=LLM,
        ),
    )
}
DEFAULT_METHOD = "builtin-fr2"
DEFAULT_METHOD_WITH_MODEL = "localfact"


def find_method(name: str) -> Method:
    """The method of that name.

    Raises:
        InputError: there is none; the nearest name is suggested.
    """
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(name, METHODS, n=1)
    hint = f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(METHODS)}."
    raise InputError(f"There is no method '{name}'. {hint} `localfact methods` describes them.")


def method_for(name: str | None, options: Options) -> Method:
    """The named method, or the default: localfact where a language model is named, else builtin-fr2.

    Raises:
        InputError: no such method, one that needs a model without one, or one that uses none with one.
    """
    method = find_method(name or (DEFAULT_METHOD_WITH_MODEL if options.names_model else DEFAULT_METHOD))
    if options.names_model:
        if method.model == "none":
            raise InputError(
                f"The method {method.name} uses no language model; leave --model out, or take --method "
                f"{DEFAULT_METHOD_WITH_MODEL}."
            )
        return method
    if method.model == "required":
        raise InputError(f"The method {method.name} asks a language model: name one with --model (`localfact models list`).")
    if isinstance(method, FactReasonerMethod) and relations_of(method, options) == LLM:
        raise InputError(
            f"The method {method.name} asks a language model for relations: name one with --model (`localfact models list`), "
            f"or take another relation model, --relations {BUILTIN_NLI} say."
        )
    if options.queries == LLM:
        raise InputError("--queries llm asks a language model: name one with --model (`localfact models list`).")
    return method


def relations_of(method: FactReasonerMethod, options: Options) -> str:
    """The name of the relation model."""
    return options.relations or method.relations


def relation_card(name: str) -> ModelCard | None:
    """The card of a relation model that has one; None for the language model and word overlap.

    Raises:
        InputError: there is no such card, or it is of a model for something else.
    """
    if name in (LLM, LEXICAL):
        return None
    try:
        card = load_card(name)
    except MissingError:
        known = ", ".join(card.name for card in list_cards() if "relations" in card.roles)
        raise InputError(
            f"There is no relation model '{name}'. Take {LEXICAL}, {LLM} with a --model, {known}, a hub id (owner/name) or the "
            "path of a card."
        ) from None
    if "relations" not in card.roles:
        raise InputError(
            f"{name} is no relation model: its card has the roles {', '.join(card.roles)}. Take {LEXICAL}, {LLM} with a "
            "--model, or a card with the role relations (`localfact models list`)."
        )
    return card
