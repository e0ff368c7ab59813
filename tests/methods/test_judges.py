"""The whole methods that the papers compare with, over a scripted model: their calls are those of the papers' tables."""

from collections import Counter
from contextlib import AsyncExitStack
from typing import Any, cast

import pytest
from asked_models import all_shown, shown

from localfact.api.sample import sample_corpus
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.engine import EngineFacts
from localfact.methods.options import Options
from localfact.methods.registry import METHODS
from localfact.methods.wiring import Configuration, run_settings, wire
from localfact.pipeline import Costs, ignore_reports
from localfact.records import Assessment, Response
from localfact.report.accounting import CALL_FORMULAS, account_for
from localfact.report.run_figures import RunFacts
from localfact.vocabulary import VerdictLabel

#: Of N = 3 sentences, each with two facts.
SENTENCES = (
    "Marie Curie was born in Warsaw and won two prizes.",
    "She died in 1934 in France.",
    "The mill has two wheels.",
)
RESPONSE = Response(id="r", text=" ".join(SENTENCES), prompt="Who was Marie Curie?")
OPTIONS = Options(model="scripted", embedder="none", corpus=sample_corpus())


class Script:
    """Answers each task by what its prompt asks; counts the tasks.

    `queries`: so many different ones a claim. `facts`: so many a sentence.
    """

    def __init__(self, queries: int = 9, facts: int = 2) -> None:
        self.asked: Counter[str] = Counter()
        self.queries = queries
        self.facts = facts

    def answer(self, chat: Chat) -> str:
        prompt = chat[0].content
        if "sentence apart into independent facts" in prompt or "text apart into claims" in prompt:
            self.asked["extract"] += 1
            text = shown(chat, "text")
            whole = [sentence for sentence in SENTENCES if sentence in text]
            facts = [f"{sentence} Part {part}." for sentence in whole for part in range(self.facts)]
            return "\n".join(f"[{number}] {fact}" for number, fact in enumerate(facts, start=1))
        if "Query" in prompt or "quer" in prompt.split("\n", 1)[0]:
            self.asked["query"] += 1
            claim = all_shown(chat, "claim")[0]
            done = len(all_shown(chat, "claim")) - 1
            words = claim.rstrip(".")
            if "different queries" in prompt:
                return f"{shown(chat, 'claim').rstrip('.')}\n{shown(chat, 'claim').rstrip('.')} history"
            return f"{words} {min(done, self.queries - 1)}"
        if "needs no context" in prompt or ("Statement:" not in prompt and "Text:" in prompt and "###" in prompt):
            self.asked["revise"] += 1
            return shown(chat, "claim")
        self.asked["verify"] += 1
        return '[Supported] ###Supported### {"factuality": true}'

    def choose(self, chat: Chat, labels: Any) -> dict[str, float]:
        if "yes" in labels:
            self.asked["relevance"] += 1
            return {"yes": 0.1, "no": 0.85} if "mill" in all_shown(chat, "claim")[0] else {"yes": 0.9, "no": 0.05}
        self.asked["verify"] += 1
        return {"True": 0.9, "False": 0.05}


async def assessed(name: str, script: Script, sentences: int = 3) -> Assessment:
    engine = ScriptedEngine(script.answer, script.choose)
    facts = EngineFacts(engine.identity, settings=cast("Any", object()))
    chosen = Configuration(METHODS[name], OPTIONS, run_settings(METHODS[name], OPTIONS, facts), facts)
    async with AsyncExitStack() as opened:
        pipeline, _ = wire(chosen, opened, observe=ignore_reports, start=lambda _: engine)
        response = RESPONSE.model_copy(update={"text": " ".join(SENTENCES[:sentences])})
        return await pipeline.assess(0, response, Costs(), ignore_reports)


@pytest.mark.slow
@pytest.mark.parametrize(("sentences", "facts"), [(1, 1), (2, 3), (3, 2)])
@pytest.mark.parametrize("name", ["factscore", "veriscore", "expertqa"])
async def test_methods_by_sentence_call_once_a_sentence_and_once_a_claim(name: str, sentences: int, facts: int) -> None:
    script = Script(facts=facts)
    assessment = await assessed(name, script, sentences)
    claims = sentences * facts
    assert script.asked == {"extract": sentences, "verify": claims}
    assert [verdict.label for verdict in assessment.verdicts] == [VerdictLabel.SUPPORTED] * claims
    total = account_for([assessment], RunFacts(method=name, cost=METHODS[name].cost)).lines[-1]
    assert (total.formula, total.expected, total.sent) == ("N + M", sentences + claims, sentences + claims)
    assert METHODS[name].cost == "N + M"


@pytest.mark.slow
async def test_factool_takes_claims_in_one_call_and_writes_two_queries_each() -> None:
    script = Script()
    assessment = await assessed("factool", script)
    assert script.asked == {"extract": 1, "query": 6, "verify": 6}
    assert assessment.counts["retrieve"]["passages"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("queries", [1, 2, 9])
async def test_safe_searches_up_to_five_times_a_relevant_claim_and_judges_no_other(queries: int) -> None:
    script = Script(queries)
    assessment = await assessed("safe", script)
    # Four relevant claims; a query that repeats ends the searches.
    steps = min(queries + 1, 5) if queries < 5 else 5
    assert script.asked == {"extract": 3, "revise": 6, "relevance": 6, "query": 4 * steps, "verify": 4}
    labels = [verdict.label for verdict in assessment.verdicts]
    assert labels == [VerdictLabel.SUPPORTED] * 4 + [VerdictLabel.IRRELEVANT] * 2
    assert assessment.counts["extract"]["claims_irrelevant"] == 2
    assert assessment.counts["retrieve"]["steps"] == 4 * min(queries, 5)
    sent = account_for([assessment], RunFacts(method="safe", steps=5, cost=METHODS["safe"].cost)).lines[-1]
    assert (sent.formula, sent.expected) == ("N + (3 + q)M", 3 + 8 * 6)
    assert sent.sent == sum(script.asked.values())
    if queries == 9:  # less than the formula by what two irrelevant claims save
        assert sent.expected - sent.sent == 2 * 6


@pytest.mark.slow
@pytest.mark.parametrize("name", ["factverify", "deepseek"])
async def test_the_reasoning_judges_take_claims_as_factreasoner_does(name: str) -> None:
    script = Script()
    await assessed(name, script)
    assert script.asked == {"extract": 1, "revise": 6, "verify": 6}
    assert CALL_FORMULAS[METHODS[name].cost] is CALL_FORMULAS["1 + 2M"]


def test_every_method_tells_its_cost_and_where_it_is_from() -> None:
    for method in METHODS.values():
        assert method.cost
        assert method.source or method.name.startswith(("builtin", "localfact"))
