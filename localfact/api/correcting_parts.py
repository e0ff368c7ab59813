"""What corrects: the pipeline that judges, and the language model that proposes edits where rules have none."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from localfact.correcting.asking import ModelWriter
from localfact.correcting.corrector import Corrector
from localfact.llm.cores.sharing import EngineOwner
from localfact.methods.beside_options import CitationOptions, CoherenceOptions, RecallOptions
from localfact.methods.engine import EngineFacts, engine_facts, open_engine
from localfact.methods.options import ModelOptions, Options
from localfact.methods.registry import METHODS, relation_names
from localfact.methods.relations import LLM
from localfact.methods.uses import leave_out, without
from localfact.methods.wiring import Configuration, configure, wire
from localfact.pipeline import Pipeline
from localfact.runs.progress import Progress
from localfact.runtime.interrupts import interruptible

#: Options of what stands beside verdicts.
BESIDE_VERDICTS = frozenset({*CitationOptions.model_fields, *RecallOptions.model_fields, *CoherenceOptions.model_fields})


@dataclass(frozen=True)
class Correcting:
    """A judge and a writer, not loaded yet. `writer` and `facts` are None where rules alone propose."""

    judge: Configuration
    writer: Options | None = None
    facts: EngineFacts | None = None


def plan_correcting(method: str | None, options: Options) -> Correcting:
    """Who judges and who writes by these options: a --model writes, and judges too where the method asks one.

    Raises:
        InputError, MissingError: as `configure`; an option asks for what stands beside verdicts, which nothing here would show.
    """
    options = leave_out(options, BESIDE_VERDICTS, "correcting, which is about verdicts")
    if not options.names_model:
        return Correcting(configure(method, options))
    named = METHODS.get(method or "")
    asks = named is None or named.model != "none" or LLM in relation_names(named, options)
    judge = configure(method, options if asks else without(options, ModelOptions.model_fields))
    return Correcting(judge, options, judge.facts or engine_facts(options))


def open_corrector(chosen: Correcting, opened: AsyncExitStack, progress: Progress) -> tuple[Pipeline, Corrector]:
    """Loads judge and writer, which share one engine; returns the judge's whole pipeline, too."""
    owner = EngineOwner()
    opened.push_async_callback(owner.keep_only, None)
    with interruptible():
        pipeline, _ = wire(chosen.judge, opened, observe=progress.count, start=owner.share)
        if chosen.writer is None:
            return pipeline, Corrector(pipeline)
        engine = open_engine(chosen.writer, opened, chosen.facts, owner.share)
    return pipeline, Corrector(pipeline, ModelWriter(engine, seed=chosen.writer.seed))
