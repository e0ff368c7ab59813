"""The claim extractors by name: their settings, and how each is opened. A new one is a file and a line in EXTRACTORS."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from localfact.claims.answer_only import AnswerOnly
from localfact.claims.atomizer import Atomizer, WindowedAtomizer
from localfact.claims.chunked import ChunkedExtractor
from localfact.claims.chunks import Stride
from localfact.claims.decomposer import Decomposer
from localfact.claims.given import GivenClaims
from localfact.claims.merging import Merging
from localfact.claims.preverified import PreVerifiedClaims
from localfact.claims.relevance import RelevantClaims
from localfact.claims.reviser import RevisedClaims, RevisedGivenClaims
from localfact.claims.rules.extractor import RuleExtractor
from localfact.claims.small_lm.extractor import SmallLanguageModelExtractor
from localfact.errors import InputError
from localfact.llm.engine import Engine
from localfact.methods.engine import EngineFacts
from localfact.methods.option_group import UnusedSetting
from localfact.methods.options import Confidence, Options
from localfact.methods.settings import ChunkSettings, ExtractionSettings, PromptedSettings, SmallLanguageModelSettings
from localfact.models.cards import load_card
from localfact.models.text_writer import TextWriter, writer_identity
from localfact.prompts import Task, prompt_hashes
from localfact.relations.lexical.model import LexicalRelationModel, lexical_identity
from localfact.runtime.suggesting import suggest
from localfact.stages import ClaimExtractor

Claims = Literal["given", "extract"]


def _plain_settings(name: str, claims: Claims, options: Options, confidence: Confidence) -> ExtractionSettings:
    return ExtractionSettings(extractor=name, claims=claims)


@dataclass(frozen=True)
class ExtractorKind:
    """A claim extractor by name.

    Attributes:
        open: makes it from its settings, the engine (None without a language model) and the seed.
        settings: returns the settings that decide its claims, given its name, whether given claims are used, the options, and
            the method's default for confidence.
        pre_verifies: whether it asks the language model for an opinion of claims that come with a response, as of its own.
        prompts: the prompts that it sends.
        cost: its calls for one response, in the letters of `Method.cost`.
        calls: its calls besides one for each chunk, in words.
        languages: those it knows, as two-letter codes; None where that is not stated.
        stride: sentences of a chunk that it asks about; None where the option says.
    """

    open: Callable[[ExtractionSettings, Engine | None, int], ClaimExtractor]
    settings: Callable[[str, Claims, Options, Confidence], ExtractionSettings] = _plain_settings
    pre_verifies: bool = False
    prompts: tuple[Task, ...] = ()
    cost: str = "0"
    calls: tuple[str, ...] = ()
    languages: tuple[str, ...] | None = None
    stride: Stride | None = None

    @property
    def asks_model(self) -> bool:
        """Whether it needs a language model."""
        return bool(self.prompts)


def _kind_that_asks(asker: type[Atomizer], prompts: tuple[Task, ...], cost: str, calls: tuple[str, ...] = ()) -> ExtractorKind:
    """An extractor that asks a language model for claims; then, with these prompts, to revise them and which are relevant."""

    def open_prompted(settings: ExtractionSettings, engine: Engine | None, seed: int) -> ClaimExtractor:
        if engine is None or not isinstance(settings, PromptedSettings):
            raise AssertionError("it is opened with a language model and with settings of its own")
        longest, merging = settings.extraction_tokens, settings.merging
        found: ClaimExtractor = asker(engine, max_tokens=longest, seed=seed, merging=merging, around=settings.around)
        if "revision" in prompts:
            found = RevisedClaims(found, engine, max_tokens=longest, seed=seed, merging=merging)
        return RelevantClaims(found, engine, seed=seed) if "relevance" in prompts else found

    return ExtractorKind(open_prompted, _atomizer_settings, prompts=prompts, cost=cost, calls=calls, stride=asker.stride)


def _atomizer_settings(name: str, claims: Claims, options: Options, confidence: Confidence) -> ExtractionSettings:
    return PromptedSettings(
        extractor=name, claims=claims, extraction_tokens=options.extraction_tokens, context_sentences=options.context_sentences
    )


def _chunk_settings(name: str, claims: Claims, options: Options, confidence: Confidence) -> ExtractionSettings:
    return ChunkSettings(
        extractor=name,
        claims=claims,
        extraction_tokens=options.extraction_tokens,
        stride=options.stride,
        context_sentences=options.context_sentences,
        confidence=options.confidence or confidence,
    )


def _open_chunked(settings: ExtractionSettings, engine: Engine | None, seed: int) -> ClaimExtractor:
    if engine is None or not isinstance(settings, ChunkSettings):
        raise AssertionError("FastFact's extraction is opened with a language model and with settings of its own")
    return ChunkedExtractor(
        engine,
        stride=settings.stride,
        max_tokens=settings.extraction_tokens,
        confidence=settings.confidence,
        merging=settings.merging,
        around=settings.around,
        seed=seed,
    )


def _small_language_model_settings(name: str, claims: Claims, options: Options, confidence: Confidence) -> ExtractionSettings:
    return SmallLanguageModelSettings(
        extractor=name,
        claims=claims,
        writer=writer_identity(load_card(SMALL_LM)),
        checked_by=lexical_identity(None),
    )


def _small_language_model(settings: ExtractionSettings, engine: Engine | None, seed: int) -> ClaimExtractor:
    return SmallLanguageModelExtractor(lambda: TextWriter(load_card(SMALL_LM)), LexicalRelationModel, settings.merging)


RULES, CHUNKED = "rules", "chunked"
#: Also the name of its card.
SMALL_LM = "small-lm"
EXTRACTORS: Mapping[str, ExtractorKind] = {
    RULES: ExtractorKind(lambda settings, engine, seed: RuleExtractor(settings.merging), languages=("en",)),
    SMALL_LM: ExtractorKind(_small_language_model, _small_language_model_settings, languages=("en",)),
    "atomizer": _kind_that_asks(Atomizer, ("atomization", "revision"), "1 + M", calls=("one a claim extracted to revise it",)),
    "decomposer": _kind_that_asks(Decomposer, ("decomposition",), "N"),
    "windows": _kind_that_asks(WindowedAtomizer, ("atomization",), "N"),
    "one-call": _kind_that_asks(Atomizer, ("atomization",), "1"),
    "safe": _kind_that_asks(
        Decomposer,
        ("decomposition", "revision", "relevance"),
        "N + 2M",
        calls=("two a claim extracted, to revise it and to see whether it is relevant",),
    ),
    CHUNKED: ExtractorKind(_open_chunked, _chunk_settings, pre_verifies=True, prompts=("extraction",), cost="N/w"),
}


def extraction_settings(
    extractor: str, options: Options, *, confidence: Confidence = "token", merging: Merging = "response"
) -> ExtractionSettings:
    """The settings that decide which claims are extracted.

    Args:
        extractor: the name of the method's default extractor, used where the options name none.
        options: the user's options.
        confidence: how the extractor's labels are read, merging: which equal claims become one, where the options do not say.

    Raises:
        InputError: there is no extractor of that name, or it needs a language model and the options name none.
    """
    name = options.extractor or extractor
    if name not in EXTRACTORS:
        raise InputError(
            f"There is no claim extractor '{name}'. {suggest(name, EXTRACTORS)}There are: {', '.join(EXTRACTORS)}."
        )
    if EXTRACTORS[name].asks_model and not options.names_model:
        raise InputError(f"The claim extractor {name} asks a language model: name one with --model (`localfact models list`).")
    _tell_whole(name, options)
    settings = EXTRACTORS[name].settings(name, options.claims or "given", options, confidence)
    if options.merge_duplicates is not None:
        merging = "response" if options.merge_duplicates else "none"
    if options.revise and (settings.claims == "extract" or not options.names_model):
        raise InputError(
            "--revise given has a language model revise the claims that come with the data: name one with --model, and leave "
            "--claims extract out."
        )
    return settings.model_copy(update={"merging": merging, "revise": options.revise})


def _tell_whole(name: str, options: Options) -> None:
    """Warns where the sentences around a chunk were set, and a chunk is the whole response, around which there are none."""
    if (EXTRACTORS[name].stride or options.stride) != "max":
        return
    if options.context_sentences != Options.model_fields["context_sentences"].default:
        cure = "--stride N makes smaller ones" if name == CHUNKED else "windows, decomposer and safe ask by the sentence"
        warnings.warn(
            f"--context-sentences {options.context_sentences} changes nothing where a response is asked about as a whole, but "
            f"in one that is too long for a call and is split: {cure}.",
            UnusedSetting,
            stacklevel=2,
        )


def prompts_to_extract(settings: ExtractionSettings) -> tuple[Task, ...]:
    """The prompts that an extraction with these settings sends."""
    own = EXTRACTORS[settings.extractor].prompts
    return (*own, "revision") if settings.revise and "revision" not in own else own


def open_extractor(settings: ExtractionSettings, engine: Engine | None, seed: int) -> ClaimExtractor:
    """The extractor of these settings; claims that come with a response are used first, where that is chosen.

    No extractor sees the thoughts in a response.
    """
    kind = EXTRACTORS[settings.extractor]
    found = AnswerOnly(kind.open(settings, engine, seed))
    if settings.claims == "extract":
        return found
    labelled = engine if asks_given_labels(settings) else None
    given: ClaimExtractor = PreVerifiedClaims(labelled, found, seed=seed) if labelled is not None else GivenClaims(found)
    return RevisedGivenClaims(given, engine, seed=seed) if settings.revise and engine is not None else given


def asks_extracted_labels(confidence: str | None, *, guided: bool) -> bool:
    """Whether each extracted claim is asked about once more for its label: for a distribution, or as a grammar hides it.

    Args:
        confidence: as in `ChunkSettings`; None for an extractor without labels.
        guided: whether a grammar shapes answers, whose probabilities are then not the model's own.
    """
    return confidence == "distribution" or (confidence == "token" and guided)


def asks_given_labels(settings: ExtractionSettings) -> bool:
    """Whether a language model is asked for its opinion of each claim that comes with a response."""
    kind = EXTRACTORS[settings.extractor]
    return kind.pre_verifies and not (isinstance(settings, ChunkSettings) and settings.confidence == "none")


def pass_settings(settings: ExtractionSettings, options: Options, facts: EngineFacts | None) -> dict[str, Any]:
    """What decides the claims of an extraction pass, as plain values: stored beside its file and in each of its rows.

    `facts`: of the language model; None where the extractor asks none.
    """
    chosen = settings.model_dump(mode="json", exclude={"claims"})
    if facts is None:
        return {**chosen, "claims": settings.claims}
    return {
        **chosen,
        "model": facts.identity.model_dump(mode="json"),
        "prompts": prompt_hashes(*prompts_to_extract(settings), own=facts.own_prompts),
        "claims": settings.claims,  # in this place, so that rows stay equal, byte for byte, to those of earlier versions
        "seed": options.seed,
        "asking": facts.policy.model_dump(mode="json"),
    }
