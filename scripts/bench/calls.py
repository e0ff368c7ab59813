"""LLM calls that FastFact's extractor, gate and verifier really send, beside other pipelines' formulas for the same text.

A scripted engine answers, since a random model extracts no claim: the claims are those that the sample gives. How many of them
the extractor is sure of, and so p, is set here; only a real model can tell.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from rich.table import Table

from localfact.assess.fastfact import FastFact
from localfact.claims.chunked import ChunkedExtractor
from localfact.claims.chunks import Stride, chunks_of
from localfact.corpus.corpus import Corpus
from localfact.evidence.corpus_retriever import CorpusRetriever, Selection
from localfact.inputs.responses import read_responses
from localfact.llm.engine import Chat
from localfact.llm.layers.metering import MeteringLayer
from localfact.llm.scripted import ScriptedEngine
from localfact.pipeline import Costs, Pipeline
from localfact.prompts import Boundary
from localfact.records import Assessment, Response
from localfact.report.accounting import TOTAL, Accounting, accounting
from localfact.report.run_figures import RunFacts
from localfact.runtime.locations import data_folder
from localfact.vocabulary import PreVerificationLabel
from scripts.bench.measure import table_of

#: Responses of the sample at --size 1; it has 20.
RESPONSES = 10
#: The strides compared: the default, and a sentence a call as other pipelines extract.
STRIDES: tuple[Stride, ...] = ("max", 1)
#: Every so-maniest claim is settled by the extractor: none, or every second.
SETTLED = (None, 2)

SURE, UNSURE = PreVerificationLabel.SUPPORTED.value.upper(), PreVerificationLabel.UNSURE.value.upper()
VERIFIED = "Evidence 1 states it.\nDecision: ###supported###"
NOTHING = "No verifiable claim."


def script(response: Response, stride: Stride, settled: int | None) -> Callable[[Chat], str]:
    """What a perfect extractor answers about each chunk of a response, in the asked format, and a verifier about any claim."""
    answers: dict[str, list[str]] = {}
    claims = [(claim, claim.spans[0].start if claim.spans else 0) for claim in response.claims or ()]
    labels = [SURE if settled and number % settled == 0 else UNSURE for number in range(len(claims))]
    begin = 0
    for chunk in chunks_of(response.text, stride):
        end = chunk.spans[-1].end
        answers[Boundary().enclose("text", chunk.text)] = [
            f"- {claim.text} ###{label}###"
            for (claim, start), label in zip(claims, labels, strict=True)
            if begin <= start < end
        ]
        begin = end

    def answer(chat: Chat) -> str:
        asked = next((lines for chunk, lines in answers.items() if chunk in chat[-1].content), None)
        return VERIFIED if asked is None else "\n".join(asked) or NOTHING

    return answer


async def assessed(
    responses: Sequence[Response], retriever: CorpusRetriever, stride: Stride, settled: int | None
) -> list[Assessment]:
    """Takes the responses down the road, each with the engine that knows its claims."""
    assessments = []
    for index, response in enumerate(responses):
        engine = MeteringLayer(ScriptedEngine(script(response, stride, settled)))
        pipeline = Pipeline(ChunkedExtractor(engine, stride=stride), retriever, None, FastFact(engine))
        assessments.append(await pipeline.assess(index, response, Costs(), lambda what, more: None))
    return assessments


def accounts(responses: Sequence[Response]) -> Iterator[Accounting]:
    """What was sent for each stride and share of settled claims."""
    corpus = Corpus.open(data_folder("index") / "sample", None)
    retriever = CorpusRetriever(corpus, Selection("chunks", k=10, merge_near_duplicates=False))
    for stride in STRIDES:
        for settled in SETTLED:
            assessments = asyncio.run(assessed(responses, retriever, stride, settled))
            yield accounting(assessments, RunFacts(method="fastfact", stride=stride, has_corpus=True))


def tables(size: float) -> Iterator[tuple[str, Table]]:
    responses = read_responses(data_folder("index") / "sample-responses.jsonl", limit=max(2, int(RESPONSES * size)))
    counted = list(accounts(responses))
    first, count = counted[0], len(responses)
    others = {each.pipeline: (each.formula, each.expected) for each in first.others if each.what == "LLM calls"}
    yardstick = others["FActScore"][1]
    caption = "a scripted engine answers with the sample's claims; p is set, not measured"
    table = table_of("pipeline", "formula", "by formula", "sent", "a response", "ratio", names=2, caption=caption)
    for name, (formula, expected) in others.items():
        table.add_row(name, formula, f"{expected:,.0f}", "", f"{expected / count:.1f}", f"{expected / yardstick:.3f}")
    for each in counted:
        line = next(line for line in each.lines if line.stage == TOTAL)
        name = f"fastfact w={each.stride} p={each.searched_share:.2f}"
        by_formula = f"{line.expected:,.0f}" if line.expected is not None else ""
        table.add_row(
            name, line.formula, by_formula, f"{line.sent:,}", f"{line.sent / count:.1f}", f"{line.sent / yardstick:.3f}"
        )
    figures = f"N = {first.sentences} sentences, M = {first.claims} claims, q = {first.queries_per_claim}"
    yield f"LLM calls for {count} responses of the sample, {figures}; ratio to: FActScore", table
