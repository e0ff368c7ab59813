"""The judges with a scripted model: one call a claim, a label or a probability, and a verdict for every claim."""

import re
from collections.abc import Mapping, Sequence
from typing import get_args

import pytest

from localfact.assess.judges.assessor import ASKED_AGAIN, PromptedJudge
from localfact.assess.judges.styles import DEEPSEEK, FACTOOL, FACTSCORE, FACTVERIFY, SAFE, STYLES, VERISCORE, JudgeStyle
from localfact.errors import EngineError, InputError
from localfact.llm.engine import Chat
from localfact.llm.layers.policy import AskingPolicy, PolicyLayer
from localfact.llm.scripted import ScriptedAnswer, ScriptedEngine
from localfact.prompts import Judge
from localfact.records import Claim, Evidence, Hit, Judgement, Passage, PreVerification, Response, passage_id
from localfact.vocabulary import Flag, PreVerificationLabel, VerdictLabel

RESPONSE = Response(id="r", text="A text.")
CLAIMS = [Claim(id=name, text=f"statement {name}") for name in ("a", "b", "c")]
ANSWERS: Mapping[str, tuple[str, str, str]] = {
    "factverify": ("Step 4: [Supported]", "It says no. [Contradicted]", "[Undecided]"),
    "veriscore": ("###Supported### So.", "###Contradicted###", "###Undecided### Nothing."),
    "deepseek": ("[Supported]", "[Contradicted]", "[Undecided]"),
    "factool": ('{"factuality": true}', '{"factuality": false}', '{"factuality": false}'),
}


def evidence(*names: str, text: str = "what is said of") -> Evidence:
    """A passage for each of the claims."""
    found = {name: f"{text} {name}" for name in names}
    return Evidence(
        passages=tuple(Passage(id=passage_id(said), text=said) for said in found.values()),
        hits={name: (Hit(passage_id=passage_id(said), rank=1, score=1.0),) for name, said in found.items()},
    )


def asked_about(chat: Chat) -> str:
    return re.findall(r"statement (\w+)", "\n".join(message.content for message in chat))[-1]


def scripted(answers: Sequence[ScriptedAnswer], chosen: Mapping[str, float] | None = None, **options: int) -> ScriptedEngine:
    by_claim = dict(zip("abc", answers, strict=False))
    return ScriptedEngine(lambda chat: by_claim[asked_about(chat)], lambda chat, labels: chosen or {}, **options)


async def judged(engine: ScriptedEngine, style: JudgeStyle, found: Evidence, **options: int) -> Judgement:
    policed = PolicyLayer(engine, AskingPolicy())
    return await PromptedJudge(policed, style, **options).assess(RESPONSE, CLAIMS, found, {})


def labels(judgement: Judgement) -> list[VerdictLabel]:
    return [verdict.label for verdict in judgement.verdicts]


@pytest.mark.parametrize("style", [FACTVERIFY, VERISCORE, DEEPSEEK, FACTOOL], ids=lambda style: style.prompt)
async def test_the_label_of_each_answer_decides_with_one_call_a_claim(style: JudgeStyle) -> None:
    engine = scripted(ANSWERS[style.prompt])
    judgement = await judged(engine, style, evidence("a", "b", "c"))
    third = VerdictLabel.CONTRADICTED if style is FACTOOL else VerdictLabel.NOT_ENOUGH_EVIDENCE
    assert labels(judgement) == [VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED, third]
    assert len(engine.calls) == 3
    assert judgement.counts["judged"] == 3
    assert [len(verdict.passages) for verdict in judgement.verdicts] == [1, 1, 1]
    assert judgement.verdicts[1].rationale == ANSWERS[style.prompt][1]


async def test_factscore_decides_by_probability_and_decodes_nothing() -> None:
    probable = {"a": 0.9, "b": 0.2, "c": 0.4}

    def choose(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        true = probable[asked_about(chat)]
        return {"True": true, "False": 0.8 - true if true < 0.8 else 0.05}

    engine = ScriptedEngine(choose=choose)
    judgement = await judged(engine, FACTSCORE, evidence("a", "b", "c"))
    assert labels(judgement) == [VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED, VerdictLabel.UNDECIDED]
    assert [verdict.posterior for verdict in judgement.verdicts] == pytest.approx([0.9 / 0.95, 0.25, 0.5])
    assert len(engine.calls) == 3


async def test_a_claim_without_a_passage_is_not_asked_about_but_where_the_model_may_know() -> None:
    engine = scripted(ANSWERS["factverify"])
    judgement = await judged(engine, FACTVERIFY, evidence("b"))
    nothing = VerdictLabel.NOT_ENOUGH_EVIDENCE
    assert labels(judgement) == [nothing, VerdictLabel.CONTRADICTED, nothing]
    assert (len(engine.calls), judgement.counts["claims_without_evidence"]) == (1, 2)
    knowing = scripted(ANSWERS["deepseek"])
    assert labels(await judged(knowing, DEEPSEEK, Evidence()))[0] is VerdictLabel.SUPPORTED
    assert len(knowing.calls) == 3


async def test_an_answer_without_a_label_is_asked_for_it_once_at_its_place() -> None:
    engine = scripted(["I cannot say."] * 3, {"Contradicted": 0.6, "Supported": 0.1, "Undecided": 0.1})
    judgement = await judged(engine, FACTVERIFY, evidence("a"))
    assert labels(judgement)[0] is VerdictLabel.CONTRADICTED
    assert (len(engine.calls), judgement.counts["labels_chosen"], judgement.warnings) == (2, 1, (ASKED_AGAIN,))
    assert engine.calls[1][-1].content == "I cannot say.\nFinal answer: ["


async def test_where_the_model_would_write_no_label_the_claim_is_failed() -> None:
    engine = scripted(["I cannot say."] * 3, {"Supported": 0.01, "Contradicted": 0.01, "Undecided": 0.01})
    judgement = await judged(engine, VERISCORE, evidence("a", "b", "c"))
    assert labels(judgement) == [VerdictLabel.FAILED] * 3
    assert "min-mass" in (judgement.verdicts[0].rationale or "")
    assert judgement.counts["failed"] == 3


async def test_a_cut_answer_has_no_label_whatever_it_says() -> None:
    engine = scripted(["[Supported] " * 30] * 3, {"Undecided": 0.7, "Supported": 0.1, "Contradicted": 0.1})
    judgement = await judged(engine, FACTVERIFY, evidence("a"), max_tokens=20)
    assert labels(judgement)[0] is VerdictLabel.NOT_ENOUGH_EVIDENCE
    assert judgement.verdicts[0].flags == (Flag.CUT_ANSWER,)


async def test_a_claim_whose_prompt_does_not_fit_fails_alone() -> None:
    long = evidence("a", text="word " * 5_000)
    short = evidence("b", "c")
    found = Evidence(passages=long.passages + short.passages, hits={**long.hits, **short.hits})
    judgement = await judged(scripted(ANSWERS["factverify"], window=3_000), FACTVERIFY, found)
    assert labels(judgement)[0] is VerdictLabel.FAILED
    assert labels(judgement)[1] is VerdictLabel.CONTRADICTED


async def test_what_concerns_every_claim_stops_the_run() -> None:
    def dead(chat: Chat) -> str:
        raise EngineError("The engine has died.")

    with pytest.raises(EngineError):
        await judged(ScriptedEngine(dead), FACTVERIFY, evidence("a"))


def test_options_out_of_range_are_refused_and_nothing_is_related() -> None:
    with pytest.raises(InputError, match="at least 1"):
        PromptedJudge(ScriptedEngine(), FACTVERIFY, max_tokens=0)
    judge = PromptedJudge(ScriptedEngine(), FACTVERIFY)
    assert judge.pairs(CLAIMS, evidence("a")) == ()
    assert judge.needs_evidence(CLAIMS) == CLAIMS
    assert set(STYLES) == set(get_args(Judge))


async def test_safe_rates_two_ways_and_leaves_irrelevant_claims() -> None:
    opinion = PreVerification(label=PreVerificationLabel.IRRELEVANT, confidence=0.8)
    claims = [*CLAIMS[:2], CLAIMS[2].model_copy(update={"preverification": opinion})]
    engine = scripted(["It does. [Supported]", "It does not. [Not Supported]", "[Supported]"])
    judge = PromptedJudge(engine, SAFE)
    assert judge.needs_evidence(claims) == claims[:2]
    judgement = await judge.assess(RESPONSE, claims, evidence("a", "b", "c"), {})
    assert labels(judgement) == [VerdictLabel.SUPPORTED, VerdictLabel.NOT_ENOUGH_EVIDENCE, VerdictLabel.IRRELEVANT]
    assert (len(engine.calls), judgement.counts["irrelevant"]) == (2, 1)
