"""Prompts of the forms that the papers print, laid into templates: what the model is shown, and that its answers are read.

The sentences are made up here; the slots, their order and the forms of the answers are those of the papers.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from localfact.api.evaluate import execute, prepare
from localfact.assess.fastfact import FastFact
from localfact.assess.judges.assessor import PromptedJudge
from localfact.assess.judges.styles import STYLES
from localfact.claims.atomizer import Atomizer
from localfact.claims.chunked import ChunkedExtractor
from localfact.claims.failures import FailureJudge
from localfact.claims.reviser import RevisedClaims
from localfact.errors import InputError, LocalFactError, RunFolderError
from localfact.llm.engine import Chat
from localfact.llm.layers.policy import AskingPolicy, PolicyLayer
from localfact.llm.scripted import ScriptedEngine
from localfact.methods import wiring
from localfact.methods.engine import EngineFacts, engine_facts
from localfact.methods.options import Options
from localfact.methods.relation_maps import calibrated_model
from localfact.prompts import Judge, read_own_prompts
from localfact.records import Claim, Evidence, Hit, Passage, Response, passage_id
from localfact.relations.calibration import RelationMap
from localfact.runs.assessments import ASSESSMENTS_FILE, read_assessments
from localfact.runs.record import read_record

RESPONSE = Response(id="r", text="The mill at Torsk is tall. It opened in 1911.", prompt="Tell me about the mill.")
CLAIM = Claim(id="c", text="It opened in 1911.")
PASSAGES = (
    Passage(id=passage_id("One."), text="One.", title="Mills", host="a.example", links=("https://a.example/m",)),
    Passage(id=passage_id("Two."), text="Two.", title="Torsk"),
)
EVIDENCE = Evidence(
    passages=PASSAGES,
    hits={"c": tuple(Hit(passage_id=one.id, rank=rank, score=1.0) for rank, one in enumerate(PASSAGES, start=1))},
)
LOOP = "{% for one in evidence %}\nPoint {{ one.number }}: {{ one.title }}, {{ one.text }} <{{ one.link }}>\n{% endfor %}"
LOOPED = "Point 1: Mills, One. <https://a.example/m>\nPoint 2: Torsk, Two. <>\n"
FORMS: Mapping[str, str] = {
    "atomization": "Make a list of what it says.\n\nThe paragraph to take apart: {{ text }}",
    "revision": "Context: {{ text }}\nStatement: {{ claim }}\nStandalone:",
    "relation": "Premise: {{ premise }}\n\nHypothesis: {{ hypothesis }}\n\nContext: {{ context }}\n\nOutput:",
    "factscore": f"Go by this.\n\n{LOOP}\nInput: {{{{ claim }}}} True or False?\n\nOutput:",
    "factverify": f"Weigh it.\n\nKNOWLEDGE:\n{LOOP}\nSTATEMENT:\n{{{{ claim }}}}",
    "veriscore": f"Decide.\nClaim: {{{{ claim }}}}\n{LOOP}\nYour decision:",
    "deepseek": f"Reason.\nEVIDENCE:\n{LOOP}\nSTATEMENT: {{{{ claim }}}}",
    "extraction": "Question: {{ question }}\nResponse: {{ before }}<SOS>{{ text }}<EOS>{{ after }}\nClaims:",
    "verification": f"Claim: {{{{ claim }}}}\n\nSearched Results:\n{LOOP}\nReasoning:",
    "failure": "Text: {{ text }}\n{% for one in claims %}{{ loop.index }}. {{ one }}\n{% endfor %}Which is {{ number }}?",
    "failures": (
        "Look at each.\n### Given text\n{{ text }}\n### Decomposition\n"
        "{% for one in claims %}{{ loop.index }}. {{ one }}\n{% endfor %}"
    ),
    "missing": "Text: {{ text }}\n{% for one in claims %}{{ loop.index }}. {{ one }}\n{% endfor %}What is missing?",
}
BLOCKS = """```
Sub-claim 1
### Reasoning
Sub-claim 2 says as much, but later.
### Judgment
Acceptable
Sub-claim 2
### Reasoning
It has the year of sub-claim 1.
### Judgment
Problematic: Redundant Claims - Inter-sentence redundancy
Sub-claim 3
### Reasoning
A matter of taste, not of redundancy.
### Judgment
Problematic: Unverifiable Claims - Subjective
```
### Given text
Another mill.
Sub-claim 1
### Reasoning
None.
### Judgment
Problematic: Unverifiable Claims - Tautology
"""
MISSING_BLOCKS = """Missing Sub-claim 1
### Reasoning
One sentence states it.
### Content of Missing Claim
The mill at Torsk is tall.
### Judgment
Missing Claims - Removed by relevance checks
Missing Sub-claim 2
### Reasoning
It takes both.
### Content of Missing Claim
The tall mill opened in 1911.
### Judgment
Missing Claims - Missed by the extractor
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "prompts"
    made.mkdir()
    for name, text in FORMS.items():
        (made / f"{name}.jinja").write_text(text, encoding="utf-8")
    return made


def asked(folder: Path, **script: Any) -> tuple[ScriptedEngine, PolicyLayer]:
    engine = ScriptedEngine(**script)
    return engine, PolicyLayer(engine, AskingPolicy(), read_own_prompts(folder))


def prompt(engine: ScriptedEngine, place: int = 0) -> str:
    return engine.calls[place][0].content


async def test_an_atomizer_and_a_reviser_are_shown_their_slots_and_lists_and_signs_are_read(folder: Path) -> None:
    def answer(chat: Chat) -> str:
        stated = chat[0].content.partition("Statement: ")[2].partition("\n")[0]
        revised = stated.replace("It opened", "The mill at Torsk opened")
        return f"#####{revised}#####" if stated else "- The mill at Torsk is tall.\n- It opened in 1911."

    engine, policed = asked(folder, answer=answer)
    extraction = await RevisedClaims(Atomizer(policed), policed).extract(RESPONSE)
    assert [claim.text for claim in extraction.claims] == ["The mill at Torsk is tall.", "The mill at Torsk opened in 1911."]
    assert prompt(engine) == f"Make a list of what it says.\n\nThe paragraph to take apart: {RESPONSE.text}"
    assert prompt(engine, 2) == f"Context: {RESPONSE.text}\nStatement: It opened in 1911.\nStandalone:"


async def test_fastfacts_extraction_and_verification_are_shown_their_slots_and_their_labels_are_read(folder: Path) -> None:
    engine, policed = asked(
        folder, answer=lambda chat: "- The mill opened in 1911. ###LIKELY SUPPORTED###\n- Ice. ###UNSURE###"
    )
    extraction = await ChunkedExtractor(policed).extract(RESPONSE)
    labels = [claim.preverification and claim.preverification.label.value for claim in extraction.claims]
    assert labels == ["likely supported", "unsure"]
    assert prompt(engine) == f"Question: {RESPONSE.prompt}\nResponse: <SOS>{RESPONSE.text}<EOS>\nClaims:"
    _, policed = asked(folder, answer=lambda chat: "No verifiable claim.")
    nothing = await ChunkedExtractor(policed).extract(RESPONSE)
    assert (nothing.claims, nothing.unparsed, nothing.unread) == ((), (), False)
    engine, policed = asked(folder, answer=lambda chat: "Point 1 says so.\n\nDecision: ###conflicting evidence###")
    judgement = await FastFact(policed).assess(RESPONSE, [CLAIM], EVIDENCE, {})
    assert judgement.verdicts[0].label.value == "conflicting"
    assert prompt(engine) == f"Claim: {CLAIM.text}\n\nSearched Results:\n{LOOPED}Reasoning:"


@pytest.mark.parametrize(
    ("judge", "said", "label"),
    [
        ("factscore", "", "supported"),
        ("factverify", "4. Final Answer: [Contradicted]", "contradicted"),
        ("veriscore", "###Undecided###", "not_enough_evidence"),
        ("deepseek", "I know it.\n[Supported]", "supported"),
    ],
)
async def test_each_judge_is_shown_its_slots_and_its_answer_is_read(folder: Path, judge: Judge, said: str, label: str) -> None:
    engine, policed = asked(folder, answer=lambda chat: said, choose=lambda chat, labels: {"True": 0.8, "False": 0.1})
    judgement = await PromptedJudge(policed, STYLES[judge]).assess(RESPONSE, [CLAIM], EVIDENCE, {})
    assert judgement.verdicts[0].label.value == label
    assert LOOPED in prompt(engine)
    assert CLAIM.text in prompt(engine)


async def test_the_judge_of_failures_is_shown_its_slots_and_its_answers_are_read(folder: Path) -> None:
    engine, policed = asked(
        folder,
        answer=lambda chat: "- The mill is at Torsk. ###removed###",
        choose=lambda chat, labels: {"ambiguous": 0.9},
    )
    found = await FailureJudge(policed).inspect(RESPONSE.text, [CLAIM])
    assert [one and one.value for one in found.failures] == ["ambiguous"]
    assert found.missing is not None
    assert [one[0] for one in found.missing] == ["The mill is at Torsk."]
    assert prompt(engine) == f"Text: {RESPONSE.text}\n1. {CLAIM.text}\nWhich is 1?"


async def test_the_judge_of_failures_is_shown_the_papers_slots_and_its_blocks_are_read(folder: Path) -> None:
    engine, policed = asked(folder, answer=lambda chat: BLOCKS if "Look at each" in chat[0].content else MISSING_BLOCKS)
    claims = [CLAIM, Claim(id="d", text="The mill opened in 1911."), Claim(id="e", text="It is lovely.")]
    found = await FailureJudge(policed, judging="whole").inspect(RESPONSE.text, claims)
    assert [one and one.value for one in found.failures] == ["acceptable", "inter-sentence redundancy", "subjective"]
    statements = [("The mill at Torsk is tall.", "removed"), ("The tall mill opened in 1911.", "missed")]
    assert [(said, kind.value) for said, kind in found.missing or ()] == statements
    listed = "1. It opened in 1911.\n2. The mill opened in 1911.\n3. It is lovely.\n"
    assert prompt(engine) == f"Look at each.\n### Given text\n{RESPONSE.text}\n### Decomposition\n{listed}".rstrip()
    assert prompt(engine, 1) == f"Text: {RESPONSE.text}\n{listed}What is missing?"


class Model:
    """Says of every pair what its script says, and counts what it is asked; runs FR1 over two responses with given claims."""

    def __init__(self, tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
        self.data, self.patch, self.shown = tmp_path / "rows.jsonl", patch, list[str]()
        row = {"claims": [{"text": "It is old.", "passages": ["p"]}], "passages": [{"id": "p", "text": "The mill is old."}]}
        rows = [{**row, "id": f"r{number}", "response": f"Mill {number}. It is old."} for number in (1, 2)]
        self.data.write_text("".join(json.dumps(one) + "\n" for one in rows))

    def choose(self, chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        self.shown.append(chat[0].content)
        return {"Entailment": 0.6, "entailment": 0.2, "neutral": 0.1} if "Entailment" in labels else {"neutral": 0.9}

    def run(self, out: Path, **options: Any) -> list[str]:
        engine = ScriptedEngine(choose=self.choose)
        settings = cast("Any", engine)

        def facts(options: Options, **_: object) -> EngineFacts:
            own = read_own_prompts(options.prompts) if options.prompts else {}
            return engine_facts(options) if options.replay else EngineFacts(engine.identity, settings=settings, own_prompts=own)

        self.patch.setattr(wiring, "engine_facts", facts)
        chosen = Options(**{"model": "scripted", "relations": "llm", "embedder": "none", **options})
        execute(
            prepare(self.data, method="factreasoner-fr1", options=chosen, out=out),
            start=lambda engine: cast("Any", engine),
            concurrency=1,
        )
        return [one.verdicts[0].label.value for one in read_assessments(out)]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    return Model(tmp_path, monkeypatch)


@pytest.mark.slow
def test_relations_are_shown_the_response_as_context_and_labels_with_a_capital_count(
    model: Model, folder: Path, tmp_path: Path
) -> None:
    assert model.run(tmp_path / "run", prompts=folder) == ["supported", "supported"]
    pair = "Premise: The mill is old.\n\nHypothesis: It is old.\n\nContext: {}\n\nOutput:"
    assert model.shown == [pair.format(f"Mill {number}. It is old.") for number in (1, 2)]  # the same pair, in two contexts
    assert read_assessments(tmp_path / "run")[0].verdicts[0].passages[0].probability == pytest.approx(0.6 + 0.2)
    model.shown.clear()
    (folder / "relation.jinja").write_text("{{ premise }} / {{ hypothesis }}", encoding="utf-8")
    model.run(tmp_path / "without", prompts=folder)
    assert model.shown == ["The mill is old. / It is old."]  # once for both responses


@pytest.mark.slow
def test_other_prompts_are_another_run_and_a_replay_knows_what_was_asked(model: Model, folder: Path, tmp_path: Path) -> None:
    model.run(tmp_path / "run", prompts=folder, transcript=tmp_path / "calls.sqlite")
    recorded = read_record(tmp_path / "run").plain_settings["prompts"]
    model.run(tmp_path / "ours")
    assert read_record(tmp_path / "ours").plain_settings["prompts"] != recorded
    replay = {"model": None, "replay": tmp_path / "calls.sqlite"}
    model.run(tmp_path / "again", prompts=folder, **replay)
    one, other = ((tmp_path / name / ASSESSMENTS_FILE).read_bytes() for name in ("run", "again"))
    assert one == other
    (folder / "relation.jinja").write_text("{{ premise }} / {{ hypothesis }}", encoding="utf-8")
    with pytest.raises(RunFolderError, match=r"prompts\.relation"):
        model.run(tmp_path / "run", prompts=folder)
    with pytest.raises(LocalFactError, match="transcript"):
        model.run(tmp_path / "third", prompts=folder, **replay)


@pytest.mark.slow
def test_a_map_fitted_under_one_prompt_is_refused_under_another(model: Model, folder: Path, tmp_path: Path) -> None:
    ours = RelationMap(biases=(1.0, 1.0, -2.0), pairs="x", model=calibrated_model(EngineFacts(ScriptedEngine().identity)))
    file = tmp_path / "map.json"
    file.write_text(ours.model_dump_json())
    model.run(tmp_path / "ours", relation_map=file)
    with pytest.raises(InputError, match="of another prompt"):
        model.run(tmp_path / "other", relation_map=file, prompts=folder)


def test_what_the_folder_lacks_is_ours(folder: Path) -> None:
    (folder / "atomization.jinja").unlink()
    engine, policed = asked(folder, answer=lambda chat: "[1] The mill is tall.")
    asyncio.run(Atomizer(policed).extract(RESPONSE))
    assert "<<text " in prompt(engine)


def test_premises_have_titles_in_factreasoner_and_where_asked_for_alone(model: Model, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in model.data.read_text().splitlines()][:1]
    rows[0]["passages"][0]["title"] = "Mills of Torsk"
    model.data.write_text(json.dumps(rows[0]) + "\n")
    model.run(tmp_path / "with")
    model.run(tmp_path / "without", premise_titles=False)
    with_title, without = (shown.rpartition("<<premise")[2] for shown in model.shown)
    assert "\nMills of Torsk\nThe mill is old.\n" in with_title
    assert "Torsk" not in without
