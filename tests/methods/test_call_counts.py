"""What `localfact methods` says of a method's calls is what a metered run of it sends."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, cast

import pytest

from localfact.api.reckoning import terms_of, value_of_term
from localfact.api.rescore import run_facts
from localfact.api.sample import sample_corpus
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.engine import EngineFacts
from localfact.methods.options import Options
from localfact.methods.registry import METHODS
from localfact.methods.wiring import Configuration, run_settings, wire
from localfact.pipeline import Costs, ignore_reports
from localfact.records import Response
from localfact.report.accounting import account_for
from localfact.runs.record import RunSettings

RESPONSE = Response(
    id="r", text="Marie Curie was born in Warsaw. She died in France. She won two prizes.", prompt="Who was she?"
)
CLAIMS = ("Marie Curie was born in Warsaw.", "Marie Curie died in France.", "Marie Curie won two prizes.")
OPTIONS = Options(model="scripted", embedder="none", corpus=sample_corpus(), calibrated=False, k=2)
ANSWERS = {
    "extraction": "\n".join(f"- {claim} ###UNSURE###" for claim in CLAIMS),
    "atomization": "\n".join(f"- {claim}" for claim in CLAIMS),
    "verification": "It says so.\nDecision: ###supported###",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "trusted", "formula"),
    [
        ("fastfact", True, "N/w + pM"),
        ("localfact", True, "N/w + M + pMm"),
        ("localfact", False, "N/w + pMm"),
        ("factreasoner-fr1", True, "1 + M + kM"),
        ("factreasoner-fr2", True, "1 + M + Mm"),
        ("factreasoner-fr3", True, "1 + M + Mm + m^2"),
    ],
)
async def test_a_metered_run_sends_as_many_calls_as_its_formula_says(name: str, trusted: bool, formula: str) -> None:
    asked: Counter[str] = Counter()

    def answer(chat: Chat) -> str:
        task = chat[0].content.split()[0]
        asked[task] += 1
        return f"#####{chat[0].content.rpartition('|')[2]}#####" if task == "revision" else ANSWERS[task]

    def choose(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        asked[chat[0].content.split()[0]] += 1
        return {labels[0]: 0.9}

    own = {
        "extraction.jinja": "extraction {{ text }}",
        "atomization.jinja": "atomization {{ text }}",
        "revision.jinja": "revision {{ text }}|{{ claim }}",
        "relation.jinja": "relation {{ premise }} {{ hypothesis }}",
        "verification.jinja": "verification {{ claim }}{% for one in evidence %}{{ one.text }}{% endfor %}",
    }
    engine = ScriptedEngine(answer, choose)
    facts = EngineFacts(engine.identity, settings=cast("Any", object()), own_prompts=own, trusts_opinion=trusted)
    chosen = Configuration(METHODS[name], OPTIONS, run_settings(METHODS[name], OPTIONS, facts), facts)
    async with AsyncExitStack() as opened:
        pipeline, _ = wire(chosen, opened, observe=ignore_reports, start=lambda _: engine)
        found = await pipeline.assess(0, RESPONSE, Costs(), ignore_reports)
    passages = found.counts["retrieve"]["passages"]
    sizes = {"N": 3, "w": 3, "M": len(found.claims), "m": passages, "k": 2, "p": 1}
    said = sum(value_of_term(term, sizes) for term in terms_of(formula))
    itself = passages if name == "factreasoner-fr3" else 0  # m^2 counts each passage with itself
    left_out = itself + found.counts["assess"].get("pairs_gated", 0)
    assert (len(found.claims), passages > 1) == (3, True)
    assert sum(asked.values()) == said - left_out
    facts_told = run_facts(RunSettings.model_validate(chosen.settings.plain()))
    told = account_for([found], facts_told).lines[-1]
    assert (told.formula, told.expected, told.sent) == (formula, said, said - left_out)
