"""From a method's name and a user's options to a pipeline: `configure` makes the settings, `wire` loads everything."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from localfact.assess.flags import Flags
from localfact.assess.thresholds import explain_thresholds
from localfact.assess.withholding import Withholding
from localfact.errors import InputError
from localfact.evidence.queries import ClaimQueries, LLMQueries, QueryWriter
from localfact.evidence.stepwise import StepwiseRetriever
from localfact.llm.cores.sharing import Start, start_engine
from localfact.llm.engine import Engine
from localfact.methods.citations import citation_settings, open_checker, open_citing_model
from localfact.methods.comparing import claim_relator
from localfact.methods.engine import EngineFacts, engine_facts, open_engine
from localfact.methods.evidence import evidence_settings
from localfact.methods.extraction import EXTRACTORS, RULES, extraction_settings, open_extractor, prompts_to_extract
from localfact.methods.key_facts import open_recall, recall_settings
from localfact.methods.localfact import decides_by_opinion, without_opinion
from localfact.methods.method import Method
from localfact.methods.options import Options
from localfact.methods.registry import method_for, method_named, relation_names
from localfact.methods.relation_maps import relation_map_of
from localfact.methods.relations import LLM, open_cached, relation_kind
from localfact.methods.retrieval import is_replayed, open_search, replaying_retriever, retriever_of
from localfact.methods.settings import EvidenceSettings, ExtractionSettings, FactReasonerSettings, LocalFactSettings, Settings
from localfact.methods.thresholds import apply_thresholds, with_thresholds
from localfact.methods.uses import keep_used, parts_of
from localfact.methods.web import Notes
from localfact.pipeline import Observer, Pipeline
from localfact.prompts import Task, prompt_hashes
from localfact.relations.calibrated import CalibratedRelations
from localfact.relations.calibration import RelationMap
from localfact.relations.label_shift import label_shift_of
from localfact.relations.llm import reads_context
from localfact.relations.reasons import Reasons
from localfact.relations.second_opinion import SecondOpinion
from localfact.stages import RelationModel

NO_OPINION = (
    "The model's card trusts no opinion of a claim that the model has without evidence: theta is {theta:g}, and priors are one "
    "half unless --prior-map says otherwise."
)


@dataclass(frozen=True)
class Configuration:
    """A method with its options and settings: all that decides the results is known, and nothing is loaded.

    Attributes:
        facts: of the language model, where one is named.
    """

    method: Method
    options: Options
    settings: Settings
    facts: EngineFacts | None = None


def configure(method: str | None, options: Options, *, planning: bool = False) -> Configuration:
    """Makes the settings of a method. Reads the corpus's description and looks for weights; loads no model.

    Args:
        method: a name of registry.METHODS; None: localfact where the options name a language model, else builtin-fr2.
        options: what departs from its defaults.
        planning: nothing is to be run: a language model need not be here, nor fit this machine (`engine_settings`).

    Raises:
        InputError: an option that the method cannot use, or an unknown relation model.
        MissingError: an unknown embedder, no corpus where the options name one, a language model that is not on this machine.
    """
    named = method_named(method, options)
    options = keep_used(options, parts_of(named, options), f"the method {named.name}")
    chosen = method_for(method, options)
    facts = engine_facts(options, planning=planning) if options.names_model else None
    return Configuration(chosen, options, run_settings(chosen, options, facts), facts)


def run_settings(method: Method, options: Options, facts: EngineFacts | None = None) -> Settings:
    """The settings of a method: everything about it that decides results.

    Raises:
        InputError: an option that the method cannot use, or an unknown relation model.
        MissingError: an unknown embedder, or no corpus where the options name one.
    """
    check_probability(options)
    identities = [relation_kind(name).identity(options) for name in relation_names(method, options)]
    only_judges = facts is not None and facts.policy.relation_prompt is not None
    extraction = extraction_settings(
        method.extractor if options.names_model and not only_judges else RULES,
        options,
        confidence=method.confidence if facts is None or decides_by_opinion(method, options, facts) else "none",
        merging=method.merging,
    )
    evidence = evidence_settings(method, options)
    assessment = method.assessment(options, identities)
    if isinstance(assessment, FactReasonerSettings):
        assessment = assessment.model_copy(update={"relation_map": relation_map_of(method, options, facts)})
    if isinstance(assessment, LocalFactSettings) and facts is not None and not facts.trusts_opinion:
        assessment = without_opinion(assessment, options)
    asked = prompts_of(method, options, extraction, evidence)
    if facts is not None and only_judges and asked != ["relation"]:
        raise InputError(
            f"{facts.identity.model} only judges pairs of texts: use it with --relations llm, in a method that asks a language "
            "model for nothing else (factreasoner-fr1, -fr2, -fr3), without --queries llm."
        )
    settings = Settings(
        method=method.name,
        seed=options.seed,
        extraction=extraction,
        evidence=evidence,
        assessment=assessment,
        coherence=options.coherence,
        model=facts.identity if facts else None,
        prompts=prompt_hashes(*asked, own=facts.own_prompts) if facts else None,
        asking=facts.policy if facts else None,
        citations=citation_settings(options, relates=bool(identities)),
        recall=recall_settings(options, relates=bool(identities)),
    )
    return settings if options.verdict_thresholds is None else with_thresholds(settings, options.verdict_thresholds)


def check_probability(options: Options) -> None:
    """Raises InputError for raw probabilities where something needs them to sum to one."""
    if options.probability == "raw" and options.factors == "soft":
        raise InputError("Soft factors share what is neutral out, which raw probabilities leave unknown: take one of the two.")


def prompts_of(method: Method, options: Options, extraction: ExtractionSettings, evidence: EvidenceSettings) -> list[Task]:
    """The prompts that a method with these settings sends."""
    related = [prompt for name in relation_names(method, options) for prompt in relation_kind(name).prompts]
    return [
        *prompts_to_extract(extraction),
        *(("query",) if evidence.queries == LLM else ()),
        *(("next_query",) if evidence.steps > 1 else ()),
        *dict.fromkeys(related),
        *method.prompts,
    ]


def wire(
    chosen: Configuration,
    opened: AsyncExitStack,
    *,
    observe: Observer,
    start: Start = start_engine,
    secret: bytes | None = None,
) -> tuple[Pipeline, Notes]:
    """Loads what the settings name and builds the pipeline; a language model last, as it takes longest.

    Args:
        chosen: from `configure`.
        opened: closes all that is opened here.
        observe: gets reports on what is done while it closes.
        start: loads the language model.
        secret: as for `open_engine`.

    Returns:
        The pipeline, and a function that returns, at the end of the run, notes about the run as a whole.

    Raises:
        MissingError: weights or a corpus are missing. CorpusError: a damaged corpus, or one of another embedder.
        EngineError: the language model cannot start.
    """
    method, options, settings = chosen.method, chosen.options, chosen.settings
    replayed = is_replayed(options, settings.evidence)
    device = chosen.facts.embedder_device if chosen.facts else None
    search = None if replayed else open_search(options, settings.evidence, opened, observe, device)
    kinds = [relation_kind(name) for name in relation_names(method, options)]
    quick = {place: kind.open(options, None, opened) for place, kind in enumerate(kinds) if not kind.prompts}
    engine = open_engine(options, opened, chosen.facts, start, secret) if options.names_model else None
    models = [quick.get(place) or kind.open(options, engine, opened) for place, kind in enumerate(kinds)]
    calibrated = settings.assessment.relation_map if isinstance(settings.assessment, FactReasonerSettings) else None
    if calibrated is not None:
        fitted = calibrated if isinstance(calibrated, RelationMap) else None
        models = [CalibratedRelations(one, fitted) if kind.prompts else one for one, kind in zip(models, kinds, strict=True)]
    related, kind = (models[0], kinds[0]) if models else (None, None)
    queries = query_writer(settings, engine)
    if search is None:
        searched = replaying_retriever(options, settings, queries, opened, observe)
    else:
        searched = retriever_of(search, options, settings, queries, opened)
    if engine is not None and settings.evidence.steps > 1:
        searched = StepwiseRetriever(engine, searched, steps=settings.evidence.steps, seed=settings.seed)
    in_context = engine is not None and any(one.prompts for one in kinds) and reads_context(engine.own_prompts)
    languages, assessor = kind.languages if kind is not None else None, method.assessor(settings, engine)
    own = isinstance(settings.assessment, FactReasonerSettings) and settings.assessment.rules == "own"
    pipeline = Pipeline(
        open_extractor(settings.extraction, engine, settings.seed),
        searched,
        related or open_citing_model(settings, options, opened),
        apply_thresholds(Withholding(assessor, languages) if own else assessor, settings),
        Reasons(by_loss=not kind.prompts) if kind is not None else None,
        Flags(EXTRACTORS[settings.extraction.extractor].languages, languages),
        SecondOpinion(models[1]) if len(models) > 1 else None,
        in_context,
        isinstance(settings.assessment, FactReasonerSettings) and settings.assessment.premise_titles,
        claim_relator(settings, kind),
        settings.coherence,
        has_source=options.corpus is not None,
        citations=open_checker(
            settings, options, search.source if search is not None else None, asks_model=kind is not None and bool(kind.prompts)
        ),
        recall=open_recall(settings, options, search, opened, observe),
        recalibrator=label_shift_of(calibrated),
    )
    return pipeline, lambda: (*notes_on(chosen), *(search.source.notes() if search is not None else ()))


def notes_on(chosen: Configuration) -> tuple[str, ...]:
    """What a reader of a run must know of its configuration."""
    assessment = chosen.settings.assessment
    notes = []
    if isinstance(assessment, LocalFactSettings) and chosen.facts is not None and not chosen.facts.trusts_opinion:
        notes.append(NO_OPINION.format(theta=assessment.theta))
    if isinstance(assessment, FactReasonerSettings) and assessment.thresholds is not None:
        notes.append(explain_thresholds(assessment.thresholds))
    return tuple(notes)


def query_writer(settings: Settings, engine: Engine | None) -> QueryWriter | None:
    """The writer of search queries; None where the claim is the query.

    Raises:
        InputError: more queries a claim than there are without a language model.
    """
    count = settings.evidence.queries_per_claim
    if settings.evidence.queries == LLM and engine is not None:
        return LLMQueries(engine, count=count, seed=settings.seed)
    return ClaimQueries(count) if count > 1 else None


def explaining_what_is_shown(pipeline: Pipeline) -> Pipeline:
    """The pipeline for a reader in a terminal, who waits: of other passages the closest sentence is taken."""
    if not isinstance(pipeline.explainer, Reasons):
        return pipeline
    return replace(pipeline, explainer=replace(pipeline.explainer, shown_only=True))


def with_cache(pipeline: Pipeline, chosen: Configuration, file: Path, opened: AsyncExitStack) -> Pipeline:
    """The pipeline with its relation models' predictions cached in a file: that of the options, or the given one.

    Those of a second opinion are in a file beside it. Predictions that are as quick as reading a file are only cached where the
    options name a file.
    """
    file = chosen.options.relations_cache or file
    names = relation_names(chosen.method, chosen.options)
    kept = [relation_kind(name).cached or chosen.options.relations_cache is not None for name in names]
    if pipeline.relation_model is not None and kept and kept[0]:
        pipeline = replace(pipeline, relation_model=_put_cache(pipeline.relation_model, file, opened))
    if isinstance(pipeline.reviewer, SecondOpinion) and kept[1]:
        model = _put_cache(pipeline.reviewer.model, file.with_name(f"second-{file.name}"), opened)
        pipeline = replace(pipeline, reviewer=SecondOpinion(model))
    return pipeline


def _put_cache(model: RelationModel, file: Path, opened: AsyncExitStack) -> RelationModel:
    """The model with a cache; of a calibrated one what lies below the map is cached."""
    if isinstance(model, CalibratedRelations):
        return model.over(open_cached(model.model, file, opened))
    return open_cached(model, file, opened)
