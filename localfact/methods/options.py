"""What a user may choose about a method, as typed: checked for its range, nothing looked up or loaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError

from localfact.errors import InputError
from localfact.records import Probability, Record

Tables = Literal["paper", "priors", "balanced"]
Confidence = Literal["token", "distribution"]
#: What a user may type for doing without a reranker.
NO_RERANKER = "none"

Scope = Literal["query", "corpus"]
Stride = Annotated[int, Field(ge=1)] | Literal["max"]
OutputTokens = Annotated[int, Field(ge=1)]


class Options(Record):
    """What a user may choose; None is the method's own default.

    Attributes:
        model: the language model: a card's name, a folder of weights or a hub id. engine_args: the engine's, as typed.
        transcript: a file that keeps every call of the model. replay: such a file, answering instead of the model.
        claims: "given" (the default, but for the sample) takes the claims that come with a response and extracts where none
            come; "extract" always extracts.
        corpus: the folder of a cached corpus, for responses that bring no passages.
        queries: what a corpus is searched with: the claim, or a query that the language model writes for it.
        providers: who searches the web, the next where one fails; then what is found is added to the corpus. searxng_url: of
            the user's own SearXNG. allow_hosts: hosts and networks that may be fetched from although they are not public.
            host_delay: seconds between two requests to one host.
        scope: "query" takes the pages that a claim's own search found, "corpus" searches all; None: "query" where searches are
            recorded. results: of a search so many are used. evidence: whole pages, or the snippets of search results.
        block_hosts, only_hosts, before: which pages may be used (see evidence/admission.py).
        reranker: the card of a cross-encoder that puts the passages of a claim in order.
        relations: builtin-nli, lexical, llm, or the card of another relation model. kept_relations: a file that keeps what
            they predict, in place of the run folder's own, for several runs over the same pairs.
        k: passages retrieved per claim. passage_prior: the prior of a passage to be true. hosts: lower priors of single hosts.
        prior_map: a file that calibrates the priors of claims, from `localfact calibrate --prior-map`.
        stride: sentences a chunk; theta: the confidence that settles a claim; confidence: how it is read; keep_duplicates: of
            claims in several chunks; extraction_tokens, verification_tokens: the longest answers (FastFact, section 4).
    """

    model: str | None = None
    engine_args: Mapping[str, str] = Field(default_factory=dict)
    transcript: Path | None = None
    replay: Path | None = None
    claims: Literal["given", "extract"] | None = None
    corpus: Path | None = None
    queries: Literal["claim", "llm"] = "claim"
    providers: tuple[str, ...] = ()
    searxng_url: str | None = None
    allow_hosts: tuple[str, ...] = ()
    host_delay: Annotated[float, Field(ge=0)] = 1.0
    scope: Scope | None = None
    results: Annotated[int, Field(ge=1, le=100)] | None = None
    evidence: Literal["page", "snippet"] = "page"
    block_hosts: tuple[str, ...] = ()
    only_hosts: tuple[str, ...] = ()
    before: str | None = None
    reranker: str | None = None
    relations: str | None = None
    kept_relations: Path | None = None
    embedder: str = "minilm"
    tables: Tables | None = None
    solver: str = "auto"
    k: Annotated[int, Field(ge=1, le=100)] | None = None
    passage_prior: Probability | None = None
    hosts: Mapping[str, Probability] = Field(default_factory=dict)
    prior_map: Path | None = None
    stride: Stride = "max"
    theta: Probability = 0.995
    confidence: Confidence | None = None
    keep_duplicates: bool = False
    extraction_tokens: OutputTokens = 2048
    verification_tokens: OutputTokens = 1024
    seed: int = 0

    @property
    def live(self) -> bool:
        """Whether the web is searched."""
        return bool(self.providers)

    @property
    def names_model(self) -> bool:
        """Whether a language model, or a transcript of one, was named."""
        return self.model is not None or self.replay is not None


def options_of(*, stride: str = "max", engine_arg: list[str] | None = None, **chosen: Any) -> Options:
    """Options from what a user typed; a value that cannot be is said in the user's words.

    Args:
        stride: a whole number of sentences, or "max". engine_arg: "key=value" texts. chosen: the other fields of Options.

    Raises:
        InputError: naming the option and what it takes.
    """
    chosen["reranker"] = None if chosen.get("reranker") == NO_RERANKER else chosen.get("reranker")
    chosen["stride"] = int(stride) if stride.isdecimal() else stride
    chosen["engine_args"] = read_engine_args(engine_arg or [])
    try:
        return Options(**chosen)
    except ValidationError as error:
        first = error.errors()[0]
        name = "--" + str(first["loc"][0]).replace("_", "-")
        raise InputError(f"{name} cannot be {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}.") from None


def read_engine_args(typed: list[str]) -> dict[str, str]:
    """Arguments of the engine from "key=value" texts; a dash in a key is an underscore.

    Raises:
        InputError: one has no "=", or a key stands twice.
    """
    arguments: dict[str, str] = {}
    for text in typed:
        key, separator, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not separator or not key:
            raise InputError(f"--engine-arg {text!r} is not key=value; for example --engine-arg max_model_len=8192.")
        if key in arguments:
            raise InputError(f"--engine-arg {key} is given twice.")
        arguments[key] = value.strip()
    return arguments


def read_hosts(file: Path | None) -> dict[str, float]:
    """The table of host priors in a YAML file, hosts in lower case; nothing without a file.

    Raises:
        InputError: it is not such a table; the message names the host.
    """
    if file is None:
        return {}
    try:
        hosts = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(hosts, dict):
        raise InputError(f"{file} should hold one 'host: prior' a line.")
    for host, prior in hosts.items():
        if isinstance(prior, bool) or not isinstance(prior, int | float) or not 0 <= prior <= 1:
            raise InputError(f"{file}: the prior of {host} must be a number from 0 to 1, not {prior!r}.")
    return {str(host).lower(): float(prior) for host, prior in hosts.items()}
