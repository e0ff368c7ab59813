"""A vLLM server that runs already, as an engine: token ids go there over its OpenAI-compatible interface.

Chats are written here, by the tokenizer of the same model, so that prompts are those of the engine in this process to the
token, and so are label probabilities. An older server, which does not report the tokens it is asked about, gives its most
probable ones alone; labels that are not among them count as impossible, so that their mass is what was seen.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from localfact.errors import InputError
from localfact.llm.cores.server import MOST_REPORTED, TOKEN, ServerCore
from localfact.llm.engine import EngineIdentity
from localfact.llm.placing.settings import EngineSettings, card_tells, thought_tokens
from localfact.llm.tokens.chat import ChatLayout, template_hash
from localfact.llm.tokens.token_engine import TokenEngine
from localfact.models.cards import card_of_hub, list_cards, resolve_card
from localfact.models.model_card import ModelCard
from localfact.models.tokenizers import is_hub_id, tokenizer_folder

#: What is noted of a server that reports whatever it is asked about.
EXACT = "exact"


class EndpointEngine(TokenEngine):
    """An `Engine` over a server. `settings` are from `endpoint_settings`.

    Raises:
        MissingError: the folder has no tokenizer. EngineError: the server does not answer.
        InputError: the model there has another tokenizer.
    """

    def __init__(self, settings: EngineSettings) -> None:
        from localfact.llm.cores.vllm import thoughts_reader

        layout = ChatLayout(settings.folder, settings.template_arguments)
        thoughts = thoughts_reader(settings, layout)
        at, served = str(settings.machine["endpoint"]), str(settings.machine["served as"])
        core = ServerCore(at, served, settings.identity.window, exact=settings.machine["labels"] == EXACT)
        try:
            core.compare_tokens(layout)
        except BaseException:
            core.end()
            raise
        super().__init__(settings.identity, layout, core, thought_tokens=settings.thought_tokens, thoughts=thoughts)


def endpoint_settings(card: ModelCard | None, address: str, engine_args: Mapping[str, Any] | None = None) -> EngineSettings:
    """How the model of `card` is asked at a server. Asks the server what it serves.

    Args:
        card: of a language model whose tokenizer is on this machine; None for that of the only model that the server has.
        address: of the server, with or without /v1.
        engine_args: must be none: the server decides them.

    Raises:
        InputError: an address that is none, engine arguments, or a server that serves several models and none of that name.
        MissingError: the tokenizer is not here. EngineError: the server does not answer.
    """
    if engine_args:
        raise InputError(
            f"--endpoint starts no engine, so --engine-arg ({', '.join(engine_args)}) would change nothing; leave it out."
        )
    base = base_of(address)
    if card is not None:
        card, folder, revision = with_tokenizer(card)  # what is missing here is told before the server is waited for
    core = ServerCore(base, "", 0)
    try:
        served, window, exact = core.facts(None if card is None else card.name)
    finally:
        core.end()
    if card is None:
        card, folder, revision = with_tokenizer(card_served(served, base))
    identity = EngineIdentity(
        model=card.name,
        # Whatever the server calls what it serves: no tokenizer tells a model from its fine-tune.
        revision=f"{revision}+endpoint" + f"({served})" * (served != card.name) + f"+top{MOST_REPORTED}" * (not exact),
        dtype="as served",
        template=template_hash(folder) + card_tells(card),
        window=window,
    )
    return EngineSettings(
        folder=folder,
        identity=identity,
        template_arguments=card.template_arguments,
        thought_tokens=thought_tokens(card),
        arguments={"reasoning_parser": card.reasoning_parser} if card.reasoning_parser else {},
        machine={
            "endpoint": base,
            "served as": served,
            "labels": EXACT if exact else f"among the {MOST_REPORTED} most probable",
        },
    )


def with_tokenizer(card: ModelCard) -> tuple[ModelCard, Path, str]:
    """The card, the folder of its tokenizer, and its revision.

    Raises:
        InputError: it is no language model's. MissingError: the tokenizer is not on this machine.
    """
    card.require_role("llm", "language model")
    card = resolve_card(card)
    return card, *tokenizer_folder(card)


def card_served(served: str, base: str) -> ModelCard:
    """The card of what a server serves, by its name there: a card's, a hub id, or a path that ends in a card's name.

    No such path is read: it is the server's.

    Raises:
        InputError: it is none of them.
    """
    for card in list_cards():
        if "llm" in card.roles and served.rstrip("/") and card.name == PurePosixPath(served).name:
            return card
    if is_hub_id(served):
        return card_of_hub(served)
    raise InputError(
        f"{base} calls its model '{served}', which is neither a card nor a hub id: say with --model which it is, as its "
        "tokenizer is read here."
    )


def base_of(address: str) -> str:
    """The address up to its interface, /v1 and a slash at the end left out.

    Raises:
        InputError: it is no address of a server, or carries a password.
    """
    base = address.rstrip("/").removesuffix("/v1").rstrip("/")
    try:
        parts = urlsplit(base)
        fine = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment or parts.port == 0)
        secret = parts.username is not None or parts.password is not None
    except ValueError:
        fine = secret = False
    if secret:
        raise InputError(f"A password has no place in --endpoint. Put the server's token into the environment as {TOKEN}.")
    if not fine:
        raise InputError(f"--endpoint takes the address of a server such as http://127.0.0.1:8000, not {address[:100]!r}.")
    return base
