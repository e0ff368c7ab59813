"""The named methods: which strategy for which stage, and with which defaults. The only file that names concrete strategies.

`resolve` turns a method and options into plain settings, loading nothing: they decide the results, name the run folder
and stand in run.yaml. `wire` turns settings into a pipeline, loading what they name.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError

from localfact.assess.factreasoner import FactReasoner
from localfact.claims.given import GivenClaims
from localfact.claims.rules import RuleExtractor
from localfact.embedding import NO_EMBEDDER, Embedder, named_embedder
from localfact.errors import InputError
from localfact.evidence.corpus import Corpus, corpus_identity
from localfact.evidence.given import GivenEvidence
from localfact.evidence.retriever import CorpusRetriever
from localfact.modelcards import load_card
from localfact.pipeline import Pipeline
from localfact.records import Probability, Record
from localfact.relations.lexical import LexicalRelationModel, lexical_identity
from localfact.stages import Assessor, RelationModel, Retriever

Tables = Literal["paper", "priors", "balanced"]


@dataclass(frozen=True)
class Method:
    """A named choice of strategies and defaults.

    Attributes:
        version: FactReasoner's version: 1, 2 or 3.
        relations: the relation model it uses unless told. tables, passage_prior, k: its other defaults.
        gate: a claim is related to another claim's passage only if that matches it at least this fraction as well as the worst
            of its own; None relates all.
        merge_near_duplicates: whether passages that are almost the same become one.
    """

    name: str
    description: str
    version: Literal[1, 2, 3]
    relations: str = "lexical"
    tables: Tables = "balanced"
    passage_prior: float = 0.99
    k: int = 5
    gate: float | None = 0.8
    merge_near_duplicates: bool = True


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("builtin-fr1", "no language model; each claim with its own passages", version=1),
        Method("builtin-fr2", "no language model; every claim with every passage", version=2),
        Method("builtin-fr3", "no language model; as builtin-fr2, and passages with one another", version=3),
    )
}
DEFAULT_METHOD = "builtin-fr2"

RELATION_MODELS = ("lexical",)


class Options(Record):
    """What a user may choose; None is the method's own default.

    Attributes:
        claims: "given" (the default, but for the sample) takes the claims that come with a response and extracts where none
            come; "extract" always extracts.
        corpus: the folder of a cached corpus, for responses that bring no passages.
        k: passages retrieved per claim. passage_prior: the prior of a passage to be true. hosts: lower priors of single hosts.
    """

    claims: Literal["given", "extract"] | None = None
    corpus: Path | None = None
    relations: str | None = None
    embedder: str = "minilm"
    tables: Tables | None = None
    solver: str = "auto"
    k: Annotated[int, Field(ge=1, le=100)] | None = None
    passage_prior: Probability | None = None
    hosts: Mapping[str, Probability] = Field(default_factory=dict)
    seed: int = 0


def options_of(**chosen: Any) -> Options:
    """Options from what a user typed; a value that cannot be is said in the user's words.

    Raises:
        InputError: naming the option and what it takes.
    """
    try:
        return Options(**chosen)
    except ValidationError as error:
        first = error.errors()[0]
        name = "--" + str(first["loc"][0]).replace("_", "-")
        raise InputError(f"{name} cannot be {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}.") from None


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


def known_relation_model(name: str) -> None:
    """Raises InputError when there is no relation model of that name."""
    if name not in RELATION_MODELS:
        raise InputError(f"There is no relation model '{name}'. There are: {', '.join(RELATION_MODELS)}.")


def resolve(method: Method, options: Options) -> dict[str, Any]:
    """Everything about the method that decides results, as plain values. Opens the corpus's description, loads no model.

    Raises:
        InputError: an unknown relation model or solver.
        MissingError: an unknown embedder, or no corpus where the options name one.
    """
    known_relation_model(options.relations or method.relations)
    embedder = None if options.embedder == NO_EMBEDDER else load_card(options.embedder).identity
    settings = {
        "method": method.name,
        "claims": options.claims or "given",
        "extractor": "rules",
        "corpus": corpus_identity(options.corpus) if options.corpus else None,
        "embedder": embedder,
        "passages": "pages",
        "k": options.k or method.k,
        "merge_near_duplicates": method.merge_near_duplicates,
        "gate": method.gate,
        "relations": lexical_identity(embedder),
        "tables": options.tables or method.tables,
        "passage_prior": method.passage_prior if options.passage_prior is None else options.passage_prior,
        "hosts": dict(sorted(options.hosts.items())),
        "solver": options.solver,
        "seed": options.seed,
    }
    assessor(method, settings)  # refuses what it cannot use, before anything is loaded or written
    return settings


def wire(method: Method, options: Options, settings: Mapping[str, Any]) -> Pipeline:
    """Loads what the settings name and puts the strategies together.

    Raises:
        MissingError: weights or a corpus that are not there. CorpusError: a damaged corpus, or one of another embedder.
    """
    embedder = named_embedder(options.embedder)
    return Pipeline(
        extractor=GivenClaims(RuleExtractor()) if settings["claims"] == "given" else RuleExtractor(),
        retriever=retriever(options, settings, embedder),
        relation_model=LexicalRelationModel(embedder),
        assessor=assessor(method, settings),
    )


def assessor(method: Method, settings: Mapping[str, Any]) -> Assessor:
    """The assessor alone: it loads nothing, so a plan can ask it which pairs it would need."""
    return FactReasoner(
        version=method.version,
        tables=settings["tables"],
        passage_prior=settings["passage_prior"],
        host_priors=settings["hosts"],
        gate=settings["gate"],
        solver=settings["solver"],
        seed=settings["seed"],
    )


def retriever(options: Options, settings: Mapping[str, Any], embedder: Embedder | None) -> Retriever:
    """The response's own passages where it brings some, else the corpus."""
    corpus = None
    if options.corpus is not None:
        corpus = CorpusRetriever(
            Corpus.open(options.corpus, embedder),
            kind=settings["passages"],
            k=settings["k"],
            merge_near_duplicates=settings["merge_near_duplicates"],
        )
    return GivenEvidence(corpus, embedder, k=settings["k"], merge_near_duplicates=settings["merge_near_duplicates"])


def relation_model(name: str, embedder_name: str) -> RelationModel:
    """A relation model by itself, for `localfact relate`.

    Raises:
        InputError: an unknown relation model. MissingError: an embedder that is not on this machine.
    """
    known_relation_model(name)
    return LexicalRelationModel(named_embedder(embedder_name))
