"""Opens the language model that the options name: vLLM in this process, recorded if wanted, or the replay of a transcript."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localfact.errors import InputError, LocalFactError
from localfact.llm.calls import identity_fields
from localfact.llm.client import CallingEngine
from localfact.llm.cores.sharing import Start, start_engine
from localfact.llm.engine import Engine, EngineIdentity
from localfact.llm.layers.policy import MIN_MASS, WARN_MASS, AskingPolicy
from localfact.llm.layers.recording import ReplayEngine, choose_identity, describe_identity, identities, prepare
from localfact.llm.layers.sealing import machine_secret
from localfact.llm.layers.stack import put_before_answers, put_before_model
from localfact.llm.placing.placement import UNKNOWN_TEMPLATE
from localfact.methods.options import Options
from localfact.models.cards import CARD_SUFFIXES, find_card, load_card
from localfact.models.embedder import NO_EMBEDDER
from localfact.models.model_card import ModelCard
from localfact.models.tokenizers import find_tokenizer_card
from localfact.prompts import OwnFiles, read_own_prompts

if TYPE_CHECKING:
    from localfact.llm.placing.settings import EngineSettings


#: Rows under way at once on a CPU: enough to keep it busy. With more, a killed run loses more unfinished work.
CPU_ROWS = 32


@dataclass(frozen=True)
class EngineFacts:
    """What is known of an engine before it is opened.

    Attributes:
        identity: what decides its answers.
        machine: the hardware and the placement on it; empty for a replay.
        settings: what vLLM is started from; None for a replay.
        policy: how it is asked.
        trusts_opinion: whether what it says of claims without evidence counts, by its card.
        own_prompts: the user's own templates by file name; a task without one has ours.
    """

    identity: EngineIdentity
    machine: Mapping[str, Any] = field(default_factory=dict)
    settings: "EngineSettings | None" = None
    policy: AskingPolicy = field(default_factory=AskingPolicy)
    trusts_opinion: bool = True
    own_prompts: OwnFiles = field(default_factory=dict)

    def at_once(self, each: int) -> int:
        """How many rows keep the model busy; `each`: how many do for one copy of it on a GPU, or for a server."""
        return (min(each, CPU_ROWS) if self.machine.get("device") == "cpu" else each) * self.replicas

    @property
    def is_here(self) -> bool:
        """Whether all is known that decides its answers: not in a plan without its weights."""
        return not self.identity.template.startswith(UNKNOWN_TEMPLATE)

    @property
    def embedder_device(self) -> str | None:
        """Where the embedder goes: "cpu" where the model leaves it no room on the GPU; None for the usual place."""
        return self.machine.get("embedder")

    @property
    def replicas(self) -> int:
        """How many copies of the model share the work."""
        return int(self.machine.get("replicas", 1))


def engine_facts(options: Options, *, planning: bool = False) -> EngineFacts:
    """Finds weights and hardware, or the recorded engine in the transcript; loads no model. `planning`: see `engine_settings`.

    Raises:
        InputError: contradictory options, or a transcript of other models. MissingError: no weights, or too little memory.
    """
    own = read_own_prompts(options.prompts) if options.prompts is not None else {}
    if options.replay is not None:
        if options.transcript is not None:
            raise InputError("--replay answers from a transcript and --transcript makes one; name only one of them.")
        if options.deterministic:
            raise InputError("--replay starts no engine, so --deterministic would change nothing; leave it out.")
        if options.endpoint is not None:
            raise InputError("--replay answers from a transcript and --endpoint asks a server; name only one of them.")
        if options.engine_args:
            named = ", ".join(options.engine_args)
            raise InputError(f"--replay starts no engine, so --engine-arg ({named}) would change nothing; leave it out.")
        recorded = read_recorded_identity(options.replay, options.model)
        card = card_of(recorded.model)
        return EngineFacts(recorded, policy=asking_policy(options, card), trusts_opinion=card.trusts_opinion, own_prompts=own)
    settings = start_settings(options, planning=planning)
    card = card_of(options.model or settings.identity.model)
    policy = asking_policy(options, card)
    return EngineFacts(settings.identity, settings.machine, settings, policy, card.trusts_opinion, own)


def card_of(model: str | None) -> ModelCard:
    """The card of a model that may not be on this machine any more; then one without a word of how it is asked."""
    try:
        return find_card(model or "")
    except (LocalFactError, OSError):
        return ModelCard(name="unknown", revision="unknown", roles=("llm",))


def asking_policy(options: Options, card: ModelCard) -> AskingPolicy:
    """How the model is asked: as the options say, else as its card."""
    return AskingPolicy(
        guided=card.guided if options.guided is None else options.guided,
        answer_tokens=card.answer_tokens,
        min_mass=next(mass for mass in (options.min_mass, card.min_mass, MIN_MASS) if mass is not None),
        warn_mass=WARN_MASS if card.warn_mass is None else card.warn_mass,
        relation_prompt=card.relation_prompt,
    )


def open_engine(
    options: Options,
    opened: AsyncExitStack,
    facts: EngineFacts | None = None,
    start: Start = start_engine,
    secret: bytes | None = None,
) -> Engine:
    """Starts the engine (minutes, for a large model) or opens the transcript; every call's usage is counted.

    Args:
        options: name the model, or a transcript.
        opened: closes the engine.
        facts: `engine_facts` of these options, where they are known already.
        start: loads the model, where one is loaded.
        secret: keys the markers around texts in what the model is sent; None: this machine's.

    Raises:
        EngineError: it cannot start. MissingError: no weights, or vLLM is not installed. InputError: as `engine_facts`.
    """
    facts = facts or engine_facts(options)
    answers: CallingEngine
    if facts.settings is not None:
        if options.transcript is not None:
            prepare(options.transcript)  # an unusable file is reported before the model is loaded
        answers = put_before_model(start(facts.settings), secret=secret or machine_secret(), transcript=options.transcript)
    elif options.replay is not None:
        answers = ReplayEngine(options.replay, describe_identity(facts.identity))
    else:
        raise AssertionError("the facts are those of a replay and the options name none")
    opened.push_async_callback(answers.aclose)
    return put_before_answers(answers, facts.policy, facts.own_prompts)


def start_settings(options: Options, *, planning: bool = False) -> "EngineSettings":
    """The settings from which vLLM would be started. `planning`: see `engine_settings`."""
    from localfact.llm.placing.settings import engine_settings, memory_to_reserve

    if options.endpoint is not None:
        from localfact.llm.cores.endpoint import endpoint_settings

        if options.deterministic:
            raise InputError("--endpoint starts no engine, so --deterministic would change nothing; leave it out.")
        card = None if options.model is None else find_tokenizer_card(options.model)
        return endpoint_settings(card, options.endpoint, options.engine_args)
    if options.model is None:
        raise InputError("Name a language model with --model: a card (`localfact models list`), a folder or a hub id.")
    named = (options.reranker, options.relations, options.second_opinion)
    beside = [load_card(name) for name in named if name not in (None, "llm", "lexical")]
    embedder = [] if options.embedder == NO_EMBEDDER else [load_card(options.embedder)]
    return engine_settings(
        load_card(options.model),
        engine_args=options.engine_args,
        deterministic=options.deterministic,
        reserved_gib=memory_to_reserve(beside),
        embedder_gib=memory_to_reserve(embedder),
        planning=planning,
    )


def read_recorded_identity(file: Path, model: str | None) -> EngineIdentity:
    """The engine recorded in the transcript that `model` names; the model itself need not be on this machine any more.

    Raises:
        MissingError: there is no such file. InputError: it is no transcript, or `model` matches none or several of its engines.
    """
    known = identities(file)
    found = known if model is None else next(filter(None, identities_meant(model, known)), [])
    return choose_identity(file, distinct(found or known), None if found else model)


def distinct(known: Sequence[EngineIdentity]) -> list[EngineIdentity]:
    """Each model once: the same files recorded under two names are one model, listed under the first of them."""
    ones: dict[str, EngineIdentity] = {}
    for one in known:
        ones.setdefault(f"{identity_fields(one)} {one.window}", one)
    return list(ones.values())


def identities_meant(model: str, known: Sequence[EngineIdentity]) -> Iterator[list[EngineIdentity]]:
    """Yields the recorded identities that a user's `model` may mean, the likeliest reading first; a reading may find none.

    The readings: as error messages list them; by name and weights; by weights alone; by name alone.
    """
    yield [one for one in known if model in (f"{one.model}@{one.revision}", describe_identity(one))]
    names, revision = {model}, None
    try:
        card = find_card(model)
    except (LocalFactError, OSError):  # no model on this machine and no hub id, but the recording machine may have had it
        path = Path(model)
        names |= {path.resolve().name, *([path.stem] if path.suffix in CARD_SUFFIXES else [])}
    else:
        names.add(card.name)
        revision = card.revision
    of_files = [one for one in known if one.revision.split("+")[0] == revision]
    named = [one for one in known if one.model in names]
    yield [one for one in of_files if one in named]
    yield of_files
    yield named


def same_model(one: EngineIdentity, other: EngineIdentity) -> bool:
    """Whether two identities give the same answers.

    Names do not count where the revision identifies the files. Windows never do: each assessment records whether the window
    changed anything, so machines with more and less memory can continue each other's runs.
    """
    return identity_fields(one) == identity_fields(other)
