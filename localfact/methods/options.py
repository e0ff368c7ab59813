"""What a user may choose, each option written once: a field here is an argument in Python and an option on the command line.

The sentence below a field is its help; `cli/options.py` makes the command line of these classes, and the settings that decide
results (`settings.py`) inherit some of them. None stands for the method's own default. Nothing is looked up or loaded here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, ValidationError, ValidationInfo, model_validator

from localfact.errors import InputError
from localfact.methods.beside_options import CitationOptions, CoherenceOptions, RecallOptions
from localfact.methods.option_group import TYPED, OptionFlag, OptionGroup, tell_misuse
from localfact.methods.option_readers import read_engine_args, read_hosts
from localfact.records import Probability

Tables = Literal["paper", "priors", "balanced"]
Confidence = Literal["token", "distribution", "none"]
Scope = Literal["query", "corpus"]
Stride = Annotated[int, Field(ge=1)] | Literal["max"]
#: The instructions about length that a generation may add, by name.
Instruction = Literal["two-paragraphs"]
#: What a user may type for doing without a reranker.
NO_RERANKER = "none"


class SeedOptions(OptionGroup):
    """The seed of random choices."""

    seed: int = 0
    """Of everything drawn by lot: sampling, the markers around evidence, the solver, bootstrap intervals."""


class ModelOptions(OptionGroup):
    """The language model, or a transcript of one."""

    panel: ClassVar[str | None] = "Language model"

    model: str | None = None
    """Language model: a card (`localfact models list`), a folder of weights, or a hub id."""
    endpoint: Annotated[str | None, OptionFlag(("--endpoint",), "URL")] = None
    """A vLLM server that runs already, in place of an engine here; it is asked which model it has, whose tokenizer is read \
here."""
    engine_args: Annotated[
        Mapping[str, str], BeforeValidator(read_engine_args), OptionFlag(("--engine-arg",), "KEY=VALUE", many=True)
    ] = Field(default_factory=dict)
    """An argument of vLLM, over the card's; repeat for several."""
    deterministic: bool = False
    """The same answers on a GPU however requests are batched (vLLM's batch-invariant mode): slower, newer GPUs only."""
    guided: Annotated[bool | None, OptionFlag(("--guided/--free-format",))] = None
    """Hold the model's answers to the asked format by a grammar, or not. Default: as its card says; large models need none."""
    min_mass: Probability | None = None
    """The least probability of the labels of a choice together; below, the choice fails. Default: the card's, or 0.05."""
    prompts: Annotated[Path | None, OptionFlag(("--prompts",), "DIR")] = None
    """A folder of prompts of your own, the papers' for example; what it lacks is ours (`localfact prompts export DIR`)."""
    transcript: Path | None = None
    """Keep every call of the model in this file (SQLite); calls in it are free."""
    replay: Path | None = None
    """Answer from such a file alone: no model, no tokenizer, the same results. sample: the one that comes with the sample."""


class ClaimOptions(OptionGroup):
    """Whose claims are judged."""

    claims: Literal["given", "extract"] | None = None
    """given: use claims that come with the data, extract where none come; extract: ignore them. Default: given, but for the \
sample."""
    revise: Literal["given"] | None = None
    """given: the model revises the claims that come with the data, too, so that each stands alone (FactReasoner's reviser)."""
    extractor: str | None = None
    """Who takes claims from a text: rules; small-lm, a small model on the CPU; with a --model atomizer, chunked, \
decomposer, windows, one-call or safe. Default: the method's."""
    merge_duplicates: Annotated[bool | None, OptionFlag(("--merge-duplicates/--keep-duplicates",))] = None
    """Make equal claims of a response one, or keep each. Default: merged in our own methods, as its own code does in others."""


class AnswerOptions(OptionGroup):
    """The options of every extractor that uses a language model."""

    panel: ClassVar[str | None] = "FastFact"

    extraction_tokens: Annotated[int, Field(ge=1)] = 2048
    """Longest answer about a chunk, in tokens; beyond, it is split."""
    context_sentences: Annotated[
        str, Field(pattern=r"^[0-9]{1,3},[0-9]{1,3}$"), OptionFlag(("--context-sentences",), "N,N")
    ] = "3,1"
    """Sentences before and after a chunk that are shown with it; 0,0: none, as in the papers but for veriscore."""


class ChunkOptions(AnswerOptions):
    """FastFact's extraction (sections 4.1 and 4.2)."""

    stride: Annotated[Stride, OptionFlag(("--stride",), "N|max")] = "max"
    """Sentences a chunk has; max is the whole response (the paper's choice)."""
    confidence: Confidence | None = None
    """Of a claim's label: token reads its own probability; distribution (the default of localfact) also asks for all six \
labels; none asks for no label, so that nothing is settled before evidence (localfact where the model's card trusts none)."""


class GateOptions(OptionGroup):
    """FastFact's gate (section 4.1)."""

    panel: ClassVar[str | None] = "FastFact"

    theta: Probability | None = None
    """The confidence above which a definite label needs no evidence; 1 settles nothing. Default: 0.995, FastFact's; for \
localfact 1 where the model's card trusts no opinion of it."""


class VerifierOptions(OptionGroup):
    """FastFact's verifier (section 4.4)."""

    panel: ClassVar[str | None] = "FastFact"

    verification_tokens: Annotated[int, Field(ge=1)] = 1024
    """Longest answer about a claim, in tokens."""


class EvidenceOptions(OptionGroup):
    """Where passages come from and which of them are used."""

    panel: ClassVar[str | None] = "Evidence"

    corpus: Path | None = None
    """Cached corpus, for responses that bring no passages; with --provider, where what the web gives is kept."""
    scope: Scope | None = None
    """query: pages that the claim's own search found; corpus: all pages. Default: query if searches are recorded."""
    results: Annotated[int | None, Field(ge=1, le=100)] = None
    """Results of a search that are used. Default: 5, or --k."""
    evidence: Literal["page", "snippet"] = "page"
    """page: whole pages; snippet: what search results show of them."""
    block_hosts: tuple[str, ...] = ()
    """Use no pages of this host, or of those below it; repeat."""
    only_hosts: tuple[str, ...] = ()
    """Use pages of this host, or of those below it, alone; repeat."""
    before: str | None = None
    """Leave out pages of this date (2023-09-30, 2023) and later."""
    queries: Literal["claim", "llm"] | None = None
    """What is searched with: claim, or llm for a query that the model writes. Default: the method's, mostly claim."""
    queries_per_claim: Annotated[int | None, Field(ge=1, le=3)] = None
    """Searches for each claim: the second is for its key words; with --queries llm the model writes up to 3. Default: 1."""
    k: Annotated[int | None, Field(ge=1, le=100)] = None
    """Passages per claim. Default: the method's."""
    reranker: Annotated[str | None, BeforeValidator(lambda name: None if name == NO_RERANKER else name)] = None
    """Card of a cross-encoder that puts a claim's passages in order. Default: none."""
    embedder: str = "minilm"
    """Model card, folder of weights, or none (BM25 alone)."""


class WebOptions(OptionGroup):
    """Searching and fetching."""

    panel: ClassVar[str | None] = "Web"

    providers: tuple[str, ...] = ()
    """Search the web: duckduckgo needs no key, docs/web.md has the others; repeat for one to ask when the first fails."""
    searxng_url: str | None = None
    """Address of your SearXNG, for --provider searxng."""
    allow_hosts: tuple[str, ...] = ()
    """A host or network (10.0.0.0/8) to fetch from although it is not public; repeat for several."""
    host_delay: Annotated[float, Field(ge=0)] = 1.0
    """Seconds between two requests to one host."""


class RelationOptions(OptionGroup):
    """Who relates claims and passages."""

    panel: ClassVar[str | None] = "FactReasoner"

    relations: str | None = None
    """Relation model: lexical (word overlap), llm (the --model), or a card like albert-vitaminc; see localfact methods."""
    second_opinion: str | None = None
    """Ask this relation model again about the two passages of each claim that are least likely to say nothing of it."""
    calibrated: Annotated[bool | None, OptionFlag(("--calibrated/--uncalibrated",))] = None
    """Take a language model's own bias out of its relations, or not. Default: not in the papers' methods; factscore and \
expertqa take it out of True and False."""
    relation_map: Path | None = None
    """The map that does it, from `calibrate --relations`. Default: the model's that ships, else one is fitted at the start."""
    probability: Literal["normalised", "raw"] = "normalised"
    """p* of a language model's relation: normalised over the three labels, or raw, as the label's tokens have it."""
    relations_cache: Annotated[Path | None, OptionFlag(("--relations-cache", "--kept-relations"))] = None
    """Keep predicted relations in this file, for several runs over the same pairs. Default: in the run folder."""


class GraphOptions(OptionGroup):
    """FactReasoner's graph (section 3)."""

    panel: ClassVar[str | None] = "FactReasoner"

    tables: Tables | None = None
    """Factor tables: paper, priors or balanced (docs/internals/inference.md). Default: the method's."""
    factors: Literal["hard", "soft"] = "hard"
    """How relations count: hard by the most probable label, soft by its odds (balanced tables; docs/internals/inference.md)."""
    claim_relations: bool = False
    """Let claims of a text speak for and against one another in the graph, too (docs/coherence.md)."""
    premise_titles: Annotated[bool | None, OptionFlag(("--premise-titles/--no-premise-titles",))] = None
    """Show the relation model the title of a page above its text. Default: as in factreasoner-*, whose contexts have it."""
    passage_prior: Annotated[float | None, Field(ge=0, le=1)] = None
    """Prior of a passage. Default: 0.99."""
    undecided_within: Annotated[float | None, Field(ge=0, le=0.5)] = None
    """How near to one half a claim is undecided; 0: at one half alone, as in factreasoner-*. Default by our own rules: 0.05."""
    hosts: Annotated[Mapping[str, Probability], BeforeValidator(read_hosts), OptionFlag(("--hosts",), "FILE")] = Field(
        default_factory=dict
    )
    """YAML, host: prior; lowers single hosts."""
    solver: str = "auto"
    """How marginals are computed: auto, exact, bp, wmb or pgmpy."""


class LabelledOptions(OptionGroup):
    """What `calibrate` made of labelled claims."""

    panel: ClassVar[str | None] = "FactReasoner"

    prior_map: Path | None = None
    """Calibrates what the model thinks of its claims, for localfact; from `calibrate --prior-map`."""
    verdict_thresholds: Path | None = None
    """Let only verdicts stand that are sure enough for a known risk; a file from `calibrate --verdicts`."""


class Options(
    SeedOptions,
    LabelledOptions,
    GraphOptions,
    CoherenceOptions,
    RelationOptions,
    WebOptions,
    EvidenceOptions,
    VerifierOptions,
    GateOptions,
    ChunkOptions,
    ModelOptions,
    RecallOptions,
    CitationOptions,
    ClaimOptions,
):
    """Everything a user may choose about a method. A command or a function takes those that it uses."""

    @model_validator(mode="wrap")
    @classmethod
    def _tell_misuse(cls, given: Any, make: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """Raises InputError for an option that cannot be used, where it was written in Python."""
        if info.context == TYPED:
            return make(given)
        for name in ("method", "topic", "prompt", "data", "out", "limit"):
            if isinstance(given, dict) and name in given:
                raise InputError(
                    f"{name} is no option: it is an argument of the function that takes options={cls.__name__}(...)."
                )
        empty = [name for name, value in given.items() if value == ""] if isinstance(given, dict) else []
        if empty:
            raise InputError(f"{empty[0]} is an empty text: leave it out for the default, which docs/api.md says.")
        try:
            return make(given)
        except ValidationError as error:
            raise InputError(tell_misuse(error, known=cls.model_fields)) from None

    @property
    def live(self) -> bool:
        """Whether the web is searched."""
        return bool(self.providers)

    @property
    def names_model(self) -> bool:
        """Whether a language model, or a transcript of one, was named."""
        return any(named is not None for named in (self.model, self.endpoint, self.replay))

    @property
    def model_said(self) -> str:
        """The name of the language model in tables: as the user gave it, or the server or transcript that answers."""
        return self.model or self.endpoint or f"replayed from {self.replay}"


class GenerationOptions(OptionGroup):
    """What decides a response besides the prompt and the model."""

    temperature: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    """0 always takes the most probable token."""
    max_tokens: Annotated[int, Field(ge=1)] = 1024
    """A response is cut there, marked, and counted."""
    seed: int = 0
    """Of sampling."""
    instruction: Instruction | None = None
    """two-paragraphs asks for at most two paragraphs (FactReasoner, section 4); None adds nothing."""


GREEDY = GenerationOptions()
